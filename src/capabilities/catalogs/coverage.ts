/**
 * Determines the footprint of a catalog: from its coverage map if it has one, else from the positions of its rows. Both
 * give the number of rows in each pixel. An empty pixel of a sparse catalog may well lie inside its footprint, so the
 * footprint is kept at an order whose pixels hold enough rows.
 */
import type { HatsTable } from '@nearsky/hats';
import { CatalogError, withStableFile } from '@nearsky/hats/errors';
import { openHealpixMap } from '@nearsky/hats/skymap';
import { type Area, Coverage } from '@nearsky/sky-index/areas';
import type { StoredCoverage } from '../../core/store/catalog_registration.ts';
import { PixelSet } from './pixel_set.ts';

/**
 * An operator's choice of the footprint: an area of the sky, the whole sky, or the pixels that have rows at some order.
 */
export type ChosenFootprint =
  /** `source` names the file of the area. */
  | { readonly kind: 'area'; readonly area: Area; readonly source: string }
  | { readonly kind: 'all-sky' }
  | { readonly kind: 'order'; readonly order: number };

export interface FootprintOptions {
  /** The finest order of a footprint made from rows; an order that the operator has chosen replaces it. */
  readonly order: number;
  /** Whether the catalog is known to have rows in every pixel of `order`; the footprint then keeps that order. */
  readonly isDense?: boolean;
  readonly chosen?: ChosenFootprint | undefined;
}

/** The order of the pixels to which an area is converted. */
const AREA_ORDER = 10;
/** The order of an area's bounds. */
const BOUNDS_ORDER = 16;

/**
 * The footprint by a coverage map. A finer map is degraded: a pixel is covered if any part of it is. If this copy lacks
 * partitions of the catalog, their area is left out of the footprint, because an object there must not count as
 * searched.
 * @throws CatalogError if the map cannot be used, or covers nothing; ReadFailure
 */
export function coverageFromMap(
  { files, partitions, properties }: Pick<HatsTable, 'files' | 'partitions' | 'properties'>,
  name: string,
  options: FootprintOptions,
): Promise<StoredCoverage> {
  return withStableFile(async () => {
    const file = await files.open(name);
    try {
      const map = await openHealpixMap(file);
      const order = orderOf(options);
      if (options.chosen?.kind === 'order' && order > map.order)
        throw new CatalogError(
          `Cannot make a footprint of order ${order} from ${file.name} because its order is ${map.order}: choose that order or a coarser one`,
        );
      const pixels = new PixelSet(Math.min(order, map.order));
      const finer = 4 ** (map.order - pixels.order);
      let [most, sum] = [0, 0];
      await map.forEachCovered((ipix, value) => {
        pixels.add(Math.floor(ipix / finer), value);
        most = Math.max(most, value);
        sum += value;
      });
      const stated = Number(properties.get('hats_nrows') ?? Number.NaN);
      // A map of fractions, or of 0 and 1, already is a footprint.
      const isMask = most <= 1 && Math.abs(sum - stated) > MASK_DIFFERENCE * stated;
      const held = new PixelSet(pixels.order);
      for (const partition of partitions) held.addPixel(partition.order, partition.ipix);
      const lacking = pixels.keepOnly(held);
      return footprint(pixels, name, { held, lacking }, { ...options, isDense: isMask || (options.isDense ?? false) });
    } finally {
      file.close();
    }
  });
}

/**
 * If no value of a map exceeds 1, its values are row counts only if their sum differs from the number of rows by at
 * most this fraction.
 */
const MASK_DIFFERENCE = 0.01;

/**
 * Makes the footprint from the positions of the rows.
 * @throws CatalogError if there are no rows
 */
export function coverageFromRows(pixels: PixelSet, options: Omit<FootprintOptions, 'order'> = {}): StoredCoverage {
  return footprint(pixels, 'rows', { held: new PixelSet(0), lacking: [] }, options);
}

/** The finest order of a footprint made from rows. */
export function orderOf({ order, chosen }: FootprintOptions): number {
  return chosen?.kind === 'order' ? chosen.order : order;
}

/**
 * The pixels of one copy of a catalog, at the order of the rows: pixels in its partitions, and pixels whose rows lie in
 * no partition.
 */
interface Copy {
  readonly held: PixelSet;
  readonly lacking: readonly number[];
}

function footprint(
  rows: PixelSet,
  rowsSource: string,
  { held, lacking }: Copy,
  { chosen, isDense = false }: Omit<FootprintOptions, 'order'>,
): StoredCoverage {
  const known = isDense || chosen?.kind === 'order' ? rows : credible(rows);
  const claimed = chosen === undefined || chosen.kind === 'order' ? known : chosenPixels(chosen);
  const source = chosen?.kind === 'area' ? chosen.source : chosen?.kind === 'all-sky' ? 'all-sky' : rowsSource;
  const covered = lacking.length === 0 ? claimed : withoutLacking(claimed, { held, lacking }, known.order);
  const { order, ranges } = Coverage.fromPixels(covered.order, covered.pixels());
  if (ranges.length === 0)
    throw new CatalogError(`Cannot use the coverage from ${source} because it covers no part of the sky`);
  const bytes = new DataView(new ArrayBuffer(4 * ranges.length));
  ranges.forEach((bound, index) => {
    bytes.setUint32(4 * index, bound, true);
  });
  const isSparse = chosen === undefined && known.order < rows.order;
  return {
    order,
    ranges: new Uint8Array(bytes.buffer),
    source,
    pixelsLeftOut: lacking.length,
    ...(isSparse && {
      sparse: { order: rows.order, rowsPerPixel: rows.rows / (known.size * 4 ** (rows.order - known.order)) },
    }),
  };
}

function chosenPixels(chosen: Exclude<ChosenFootprint, { readonly kind: 'order' }>): PixelSet {
  const pixels = new PixelSet(chosen.kind === 'area' ? AREA_ORDER : 0);
  const bounds = chosen.kind === 'area' ? chosen.area.bounds : [0, 12 * 4 ** BOUNDS_ORDER];
  for (let i = 0; i < bounds.length; i += 2) pixels.addRange(BOUNDS_ORDER, bounds[i]!, bounds[i + 1]!);
  return pixels;
}

/**
 * Removes from a footprint the area that this copy lacks. Where rows are missing, only pixels of partitions stay.
 * @param order the order at which rows determine the footprint
 */
function withoutLacking(claimed: PixelSet, { held, lacking }: Copy, order: number): PixelSet {
  const zones = new PixelSet(order);
  for (const ipix of lacking) zones.addPixel(held.order, ipix);
  const covered = new PixelSet(Math.max(claimed.order, held.order));
  const within = (of: PixelSet, ipix: number) => of.has(Math.floor(ipix / 4 ** (covered.order - of.order)));
  for (const ipix of claimed.pixels()) covered.addPixel(claimed.order, ipix);
  for (const ipix of covered.pixels()) if (within(zones, ipix) && !within(held, ipix)) covered.remove(ipix);
  return covered;
}

/**
 * The minimum mean number of rows per pixel for an empty pixel to prove anything: at 8, one in 3,000 is empty by
 * chance.
 */
const ROWS_PER_PIXEL = 8;
/**
 * A coarser order is used if at least this share of the pixels that it adds is expected to belong to the footprint and
 * to be empty only by chance.
 */
const EXPECTED_SHARE = 0.15;
/** A coarser order is also used if it adds less than this share of the footprint. */
const NEGLIGIBLE_SHARE = 0.001;

/**
 * Returns the rows at the finest order at which an empty pixel is likely outside the catalog. A coarser order fills
 * pixels that are empty by chance, but also adds area beyond the edges.
 */
function credible(rows: PixelSet): PixelSet {
  for (let at = rows; at.order > 0; ) {
    const coarser = at.degraded(at.order - 1);
    const [size, added] = [at.size, 4 * coarser.size - at.size];
    const isChance = emptyPixels(at) > EXPECTED_SHARE * added || added < NEGLIGIBLE_SHARE * size;
    if (at.rows >= ROWS_PER_PIXEL * size && (added === 0 || !isChance)) return at;
    at = coarser;
  }
  return rows.degraded(0);
}

/**
 * Estimates the number of pixels inside a footprint that are empty by chance, from the numbers of pixels with one row
 * and with two rows. This is a lower bound for any density, and the exact mean for an even density (Chao 1984,
 * Scandinavian Journal of Statistics 11, 265, bias-corrected form).
 */
function emptyPixels(pixels: PixelSet): number {
  const ones = pixels.pixelsWith(1);
  return (ones * (ones - 1)) / (2 * (pixels.pixelsWith(2) + 1));
}

/** The share of the sky that a footprint covers, 0 to 1. */
export function skyFraction(coverage: StoredCoverage): number {
  return openCoverage(coverage).size / (12 * 4 ** coverage.order);
}

/** Opens the stored footprint for queries. */
export function openCoverage({ order, ranges }: StoredCoverage): Coverage {
  const bytes = new DataView(ranges.buffer, ranges.byteOffset, ranges.byteLength);
  return Coverage.fromRanges(
    order,
    Uint32Array.from({ length: ranges.length / 4 }, (_, index) => bytes.getUint32(4 * index, true)),
  );
}
