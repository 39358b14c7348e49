/** The footprint of a catalog: from its coverage map where it ships one, else from the positions of its rows. */
import { Coverage, isPosition, pixelOf } from '../../index/mod.ts';
import { isRemote } from './address.ts';
import { CatalogError, withStableFile } from './errors.ts';
import type { CatalogFiles } from './files.ts';
import { openHealpixMap } from './fits.ts';
import type { HatsTable } from './hats.ts';
import { inLanes, REMOTE_LANES } from './lanes.ts';
import { openParquet } from './parquet.ts';
import type { CatalogColumns, StoredCoverage } from './types.ts';

/** How far the reading of all rows has come. */
export interface RowProgress {
  readonly partitions: number;
  readonly partitionsDone: number;
  readonly rows: number;
}

/**
 * The name of the coverage map of a HATS table: `skymap.fits`, else `point_map.fits` (its older name), else the finest
 * `skymap.K.fits`. Where folders cannot be listed, the properties tell its orders.
 */
export async function findCoverageMap({
  files,
  properties,
}: Pick<HatsTable, 'files' | 'properties'>): Promise<string | undefined> {
  for (const name of ['skymap.fits', 'point_map.fits']) if (await files.has(name)) return name;
  const names = await files.list('.');
  const orders = names
    ? names.flatMap(name => /^skymap\.(\d+)\.fits$/.exec(name)?.[1] ?? [])
    : (properties.get('hats_skymap_alt_orders')?.match(/\d+/g) ?? []);
  for (const order of orders.map(Number).sort((a, b) => b - a))
    if (await files.has(`skymap.${order}.fits`)) return `skymap.${order}.fits`;
  return undefined;
}

/**
 * The covered pixels of a map: degraded to `order` where the map is finer (a pixel is covered when any part of it is),
 * as they are where it is coarser.
 * @throws CatalogError when the map cannot be used, or covers nothing; ReadFailure
 */
export function coverageFromMap(files: CatalogFiles, name: string, order: number): Promise<StoredCoverage> {
  return withStableFile(async () => {
    const file = await files.open(name);
    try {
      const map = await openHealpixMap(file);
      const effectiveOrder = Math.min(order, map.order);
      const pixels = new PixelSet(effectiveOrder);
      const finer = 4 ** (map.order - effectiveOrder);
      await map.forEachCovered(ipix => pixels.add(Math.floor(ipix / finer)));
      return stored(pixels, name);
    } finally {
      file.close();
    }
  });
}

/** Received to build a footprint from the rows of a remote catalog, by the estimate from its first partitions. */
const MAX_FOOTPRINT_BYTES = 2 ** 34;
const ESTIMATED_AFTER = 8;

/**
 * The pixels of `order` that hold a row. Reads two columns of the whole catalog. Rows without a valid position do not
 * count.
 * @throws ReadFailure when a file cannot be read; CatalogError when there is no row, or when a remote catalog has too
 * many
 */
export async function coverageFromRows(
  table: HatsTable,
  columns: CatalogColumns,
  order: number,
  onProgress: (progress: RowProgress) => void = () => {},
): Promise<StoredCoverage> {
  const pixels = new PixelSet(order);
  const { length: partitions } = table.partitions;
  const isFar = isRemote(table.files.location);
  let [partitionsDone, rows, bytes] = [0, 0, 0];
  await inLanes(table.partitions, isFar ? REMOTE_LANES : 1, async ({ files }) => {
    for (const file of files) {
      const read = await withStableFile(() => addRows(table.files, file, columns, pixels));
      rows += read.rows;
      bytes += read.bytes;
    }
    partitionsDone++;
    const expected = (bytes / partitionsDone) * partitions;
    if (isFar && partitionsDone >= ESTIMATED_AFTER && expected > MAX_FOOTPRINT_BYTES) {
      throw new CatalogError(
        `Cannot build the footprint of ${table.files.location}, which has no coverage map, as about ${Math.round(expected / 2 ** 30)} GiB would have to be received: copy the catalog to a local directory`,
      );
    }
    onProgress({ partitions, partitionsDone, rows });
  });
  return stored(pixels, 'rows');
}

async function addRows(
  files: CatalogFiles,
  name: string,
  { ra: raColumn, dec: decColumn }: CatalogColumns,
  pixels: PixelSet,
): Promise<{ rows: number; bytes: number }> {
  const file = await openParquet(await files.open(name));
  let bytes = 0;
  try {
    for (const rowGroup of file.rowGroups.keys()) {
      const reading = [raColumn, decColumn].map(column => file.readNumbers(column, rowGroup));
      const [ra, dec] = (await Promise.all(reading)) as [Float64Array, Float64Array];
      for (let row = 0; row < ra.length; row++) {
        if (isPosition(ra[row]!, dec[row]!)) pixels.add(pixelOf(pixels.order, ra[row]!, dec[row]!));
      }
      for (const column of [raColumn, decColumn]) bytes += file.storedBytes(column, rowGroup);
    }
    return { rows: file.rows, bytes };
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
