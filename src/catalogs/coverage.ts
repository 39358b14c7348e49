/** The footprint of a catalog: from its coverage map where it ships one, else from the positions of its rows. */
import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Coverage, isPosition, pixelOf } from '../../index/mod.ts';
import { CatalogError } from './errors.ts';
import { openHealpixMap } from './fits.ts';
import type { HatsTable } from './hats.ts';
import { openParquet } from './parquet.ts';
import type { CatalogColumns, StoredCoverage } from './types.ts';

/** How far the reading of all rows has come. */
export interface RowProgress {
  readonly partitions: number;
  readonly partitionsDone: number;
  readonly rows: number;
}

/**
 * The coverage map of a HATS table: `skymap.fits`, else `point_map.fits` (its older name), else the finest
 * `skymap.K.fits`.
 */
export function findCoverageMap(location: string): string | undefined {
  const whole = ['skymap.fits', 'point_map.fits'].map(name => join(location, name)).find(existsSync);
  if (whole) return whole;
  const orders = readdirSync(location).flatMap(name => /^skymap\.(\d+)\.fits$/.exec(name)?.[1] ?? []);
  return orders.length > 0 ? join(location, `skymap.${Math.max(...orders.map(Number))}.fits`) : undefined;
}

/**
 * The covered pixels of a map: degraded to `order` where the map is finer (a pixel is covered when any part of it is),
 * as they are where it is coarser.
 * @throws CatalogError when the map cannot be read or used, or covers nothing
 */
export function coverageFromMap(path: string, order: number): StoredCoverage {
  const map = openHealpixMap(path);
  try {
    const effectiveOrder = Math.min(order, map.order);
    const pixels = new PixelSet(effectiveOrder);
    const finer = 4 ** (map.order - effectiveOrder);
    map.forEachCovered(ipix => pixels.add(Math.floor(ipix / finer)));
    return stored(pixels, basename(path));
  } finally {
    map.close();
  }
}

/**
 * The pixels of `order` that hold a row. Reads two columns of the whole catalog. Rows without a valid position do not
 * count.
 * @throws ReadFailure when a file cannot be read; CatalogError when there is no row
 */
export async function coverageFromRows(
  table: HatsTable,
  columns: CatalogColumns,
  order: number,
  onProgress: (progress: RowProgress) => void = () => {},
): Promise<StoredCoverage> {
  const pixels = new PixelSet(order);
  let rows = 0;
  for (const [partitionsDone, { files }] of table.partitions.entries()) {
    for (const file of files) rows += await addRows(join(table.location, file), columns, pixels);
    onProgress({ partitions: table.partitions.length, partitionsDone: partitionsDone + 1, rows });
  }
  return stored(pixels, 'rows');
}

async function addRows(path: string, columns: CatalogColumns, pixels: PixelSet): Promise<number> {
  const file = await openParquet(path);
  try {
    for (const rowGroup of file.rowGroups.keys()) {
      const ra = await file.readNumbers(columns.ra, rowGroup);
      const dec = await file.readNumbers(columns.dec, rowGroup);
      for (let row = 0; row < ra.length; row++) {
        if (isPosition(ra[row]!, dec[row]!)) pixels.add(pixelOf(pixels.order, ra[row]!, dec[row]!));
      }
    }
    return file.rows;
  } finally {
    file.close();
  }
}

/** A set of pixels of one order, a byte each: a footprint has order 10 at most, so 12 MB at most. */
class PixelSet {
  readonly order: number;
  readonly #has: Uint8Array;

  constructor(order: number) {
    this.order = order;
    this.#has = new Uint8Array(12 * 4 ** order);
  }

  add(ipix: number): void {
    this.#has[ipix] = 1;
  }

  *pixels(): Generator<number> {
    for (let ipix = 0; ipix < this.#has.length; ipix++) if (this.#has[ipix]) yield ipix;
  }
}

function stored(pixels: PixelSet, source: string): StoredCoverage {
  const { order, ranges } = Coverage.fromPixels(pixels.order, pixels.pixels());
  if (ranges.length === 0)
    throw new CatalogError(`Cannot use the coverage from ${source} as it covers no part of the sky`);
  const bytes = new DataView(new ArrayBuffer(4 * ranges.length));
  ranges.forEach((bound, index) => {
    bytes.setUint32(4 * index, bound, true);
  });
  return { order, ranges: new Uint8Array(bytes.buffer), source };
}

/** The stored footprint, ready to be asked. */
export function openCoverage({ order, ranges }: StoredCoverage): Coverage {
  const bytes = new DataView(ranges.buffer, ranges.byteOffset, ranges.byteLength);
  return Coverage.fromRanges(
    order,
    Uint32Array.from({ length: ranges.length / 4 }, (_, index) => bytes.getUint32(4 * index, true)),
  );
}
