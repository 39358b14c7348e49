/** The outline of an area, for drawing it. */
import { MAX_AREA_ORDER, MAX_ORDER, pixelEdges } from '@nearsky/sky-index';
import type { Area } from '@nearsky/sky-index/areas';

export interface Outline {
  /** The order of the pixels whose edges these are. */
  readonly order: number;
  /** Four numbers for each edge: right ascension and declination of both ends, degrees. */
  readonly edges: readonly number[];
}

const PIXELS_A_YIELD = 256;

/**
 * The edges between the pixels that an area touches and all others, at the finest order that has few enough pixels in
 * the area. The generator yields when other work may run.
 * @param maxPixels at least 12, the pixels of the whole sky at order 0
 * @param level of an area with levels: its part up to this one
 */
export function* areaOutline(area: Area, maxPixels: number, level?: number): Generator<undefined, Outline, undefined> {
  const bounds = level === undefined ? area.withoutLevels().bounds : boundsUpTo(area, level);
  for (let order = MAX_ORDER; ; order--) {
    yield;
    const inside = touched(bounds, order, order === 0 ? Number.POSITIVE_INFINITY : maxPixels);
    if (!inside) continue;
    const edges: number[] = [];
    let done = 0;
    for (const pixel of inside) {
      if (++done % PIXELS_A_YIELD === 0) yield;
      for (const { beyond, from, to } of pixelEdges(order, pixel))
        if (!inside.has(beyond)) edges.push(from.ra, from.dec, to.ra, to.dec);
    }
    return { order, edges };
  }
}

function boundsUpTo({ bounds, levels }: Area, level: number): Float64Array {
  const further = levels?.findIndex(each => each > level) ?? -1;
  return further < 0 ? bounds : bounds.subarray(0, 2 * further);
}

/**
 * The pixels at an order that ranges of order 16 touch; undefined if there are more than `most`.
 * @param bounds pairs [first, end)
 */
function touched(bounds: Float64Array, order: number, most: number): Set<number> | undefined {
  const width = 4 ** (MAX_AREA_ORDER - order);
  const pixels = new Set<number>();
  for (let i = 0; i < bounds.length; i += 2) {
    const end = Math.ceil(bounds[i + 1]! / width);
    for (let pixel = Math.floor(bounds[i]! / width); pixel < end; pixel++) {
      pixels.add(pixel);
      if (pixels.size > most) return undefined;
    }
  }
  return pixels;
}
