/** Maps of probability whose pixels are all of one order. */
import { type ProbabilityPixels, sortedBy } from './area.ts';
import { FacePoint, MAX_AREA_ORDER, nestedCell } from './healpix.ts';

/** The pixels, and the steps of a merge, between two moments to yield. */
const PIXELS_A_YIELD = 4096;

/** Pixels of one order, 0 to 13, in any order; columns of the same length. */
export interface FlatPixels {
  readonly order: number;
  /** NESTED. */
  readonly pixel: Float64Array;
  /** In proportion to the probability; more than 0. */
  readonly density: Float64Array;
}

/**
 * The same map in as few pixels as possible: four of one density become the one that they make. Each value that it
 * yields is a moment to let others go ahead.
 */
export function* mergedPixels({
  order,
  pixel,
  density,
}: FlatPixels): Generator<undefined, ProbabilityPixels, undefined> {
  const places = new Uint32Array(pixel.length);
  for (let i = 0; i < places.length; i++) places[i] = i;
  const bySky = yield* sortedBy(pixel, places);
  const firsts = new Float64Array(pixel.length);
  const ends = new Float64Array(pixel.length);
  const densities = new Float64Array(pixel.length);
  const side = 4 ** (MAX_AREA_ORDER - order);
  let length = 0;
  for (let at = 0; at < bySky.length; at++) {
    if (at % PIXELS_A_YIELD === 0) yield;
    const place = bySky[at]!;
    firsts[length] = pixel[place]! * side;
    ends[length] = firsts[length]! + side;
    densities[length++] = density[place]!;
    while (areSiblings(firsts, ends, densities, length - 4)) {
      ends[length - 4] = ends[length - 1]!;
      length -= 3;
    }
  }
  return {
    firsts: firsts.slice(0, length),
    ends: ends.slice(0, length),
    density: densities.slice(0, length),
  };
}

/** Whether the four last pixels, the first of them at `at`, are the four parts of one, and of one density. */
function areSiblings(firsts: Float64Array, ends: Float64Array, density: Float64Array, at: number): boolean {
  if (at < 0) return false;
  const side = ends[at]! - firsts[at]!;
  if (side >= 4 ** MAX_AREA_ORDER || firsts[at]! % (4 * side) !== 0) return false;
  for (let i = at + 1; i < at + 4; i++)
    if (firsts[i] !== ends[i - 1] || ends[i]! - firsts[i]! !== side || density[i] !== density[at]) return false;
  return true;
}

const point = new FacePoint();

/** The NESTED pixel of a RING pixel; order 0 to 13 (Górski et al. 2005, section 5.1). */
export function nestedOfRing(order: number, ipix: number): number {
  const nside = 1 << order;
  const pixels = 12 * nside * nside;
  const cap = 2 * nside * (nside - 1);
  const isSouth = ipix >= pixels - cap;
  if (!isSouth && ipix >= cap) {
    const ring = Math.floor((ipix - cap) / (4 * nside)) + nside;
    const z = ((2 * nside - ring) * 2) / (3 * nside);
    const shift = (ring + nside) % 2 === 0 ? 0.5 : 0;
    return nestedAt(order, (((ipix - cap) % (4 * nside)) + shift) / nside, z, Math.sqrt(1 - z * z));
  }
  // The caps mirror each other.
  const fromPole = isSouth ? pixels - 1 - ipix : ipix;
  const ring = Math.floor((1 + Math.sqrt(1 + 2 * fromPole)) / 2);
  const along = fromPole - 2 * ring * (ring - 1);
  const quarters = ((isSouth ? 4 * ring - 1 - along : along) + 0.5) / ring;
  const height = (ring * ring) / (3 * nside * nside);
  return nestedAt(order, quarters, isSouth ? height - 1 : 1 - height, Math.sqrt(height * (2 - height)));
}

/** @param quarters right ascension in units of 90° */
function nestedAt(order: number, quarters: number, z: number, cosDec: number): number {
  point.set(90 * quarters, z, cosDec);
  return nestedCell(order, point);
}
