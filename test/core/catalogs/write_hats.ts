/**
 * Writes small HATS catalogs: partitions of mixed orders, properties, partition list, coverage map, with the
 * quirks that tests ask for; the sample has a writer of its own, with the types of the releases.
 */
import { closeSync, ftruncateSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { partitionFile } from '@nearsky/hats/layout';
import { isPosition, pixel29, pixelOf, wrapRa } from '@nearsky/sky-index';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { healpixMap, padded } from './write_fits.ts';

export type HatsColumnType = 'BOOLEAN' | 'INT32' | 'INT64' | 'FLOAT' | 'DOUBLE' | 'STRING';

export interface HatsColumn {
  readonly name: string;
  readonly type: HatsColumnType;
  /** One value per row; bigints for INT64. null and undefined are stored as null. */
  readonly data: ArrayLike<unknown>;
}

export interface HatsOptions {
  /** `obs_collection` in the properties. */
  readonly name: string;
  readonly columns: readonly HatsColumn[];
  /** Names of the DOUBLE columns with the positions, degrees. */
  readonly ra: string;
  readonly dec: string;
  /** Positions that determine the pixels of rows, degrees; the positions in the columns by default. */
  readonly pixelsOf?: readonly { readonly ra: number | null; readonly dec: number | null }[];
  /** A pixel with more rows than this is split, so that orders mix as hats-import mixes them. Default: no limit. */
  readonly maxRows?: number;
  /** Orders between which pixels are split, 0 to 13. Default 0 and 10. */
  readonly minOrder?: number;
  readonly maxOrder?: number;
  /** Where the `_healpix_29` column goes. Default `first`. */
  readonly healpixColumn?: 'first' | 'last' | 'none';
  /** Whether rows are sorted by their pixel. Default: where there is a `_healpix_29` column. */
  readonly sorted?: boolean;
  /** `.parquet` (default), another ending, or `/` for a folder with two part files a partition. */
  readonly suffix?: string;
  /** Order of `skymap.fits`; null for none. Default 8. */
  readonly skymapOrder?: number | null;
  /** Default true. */
  readonly partitionInfo?: boolean;
  /** Rows per row group. Default: one row group per file. */
  readonly rowGroupSize?: number;
  /** Default true: every column may hold nulls, as pyarrow writes it. */
  readonly nullable?: boolean;
  /** Default true. */
  readonly statistics?: boolean;
  readonly codec?: 'SNAPPY' | 'UNCOMPRESSED' | 'ZSTD';
  readonly compressors?: Readonly<Record<string, (input: Uint8Array) => Uint8Array>>;
  /** More lines of the properties file, or replacements for our lines. */
  readonly properties?: Readonly<Record<string, string>>;
}

export interface WrittenPartition {
  readonly order: number;
  readonly ipix: number;
  readonly rows: number;
  /** Relative to the directory. */
  readonly files: readonly string[];
}

interface Pixel {
  readonly order: number;
  readonly ipix: number;
  readonly rows: readonly number[];
}

/**
 * Writes the catalog into the directory, which is made. A row without a valid position goes into the first partition.
 */
export function writeHats(directory: string, options: HatsOptions): WrittenPartition[] {
  const position = positions(options);
  const healpix = Array.from(position.ra, (ra, row) => {
    const dec = position.dec[row]!;
    return isPosition(ra, dec) ? pixel29(ra, dec) : 0n;
  });
  const pixels = splitRows(position, options);
  const partitions = pixels.map(pixel => {
    const isSorted = options.sorted ?? options.healpixColumn !== 'none';
    const rows = isSorted ? sortedBy(pixel.rows, healpix) : pixel.rows;
    return {
      order: pixel.order,
      ipix: pixel.ipix,
      rows: rows.length,
      files: writePartition(directory, pixel, rows, healpix, options),
    };
  });
  const properties = Object.entries({ ...defaultProperties(options), ...options.properties });
  const text = `#HATS catalog\n${properties.map(([key, value]) => `${key}=${value}\n`).join('')}`;
  for (const file of ['hats.properties', 'properties']) write(join(directory, file), text);
  if (options.partitionInfo ?? true) {
    write(
      join(directory, 'partition_info.csv'),
      `Norder,Npix\n${pixels.map(({ order, ipix }) => `${order},${ipix}\n`).join('')}`,
    );
  }
  const order = options.skymapOrder === undefined ? 8 : options.skymapOrder;
  if (order !== null) writeSkymap(join(directory, 'skymap.fits'), position, order);
  return partitions;
}

/** The positions as numbers, right ascensions from 0 to 360; NaN if missing. */
function positions({ columns, ra, dec, pixelsOf }: HatsOptions): { ra: Float64Array; dec: Float64Array } {
  if (pixelsOf)
    return {
      ra: Float64Array.from(pixelsOf, ({ ra }) => wrapRa(ra ?? Number.NaN)),
      dec: Float64Array.from(pixelsOf, ({ dec }) => dec ?? Number.NaN),
    };
  const numbers = (name: string) => {
    const column = columns.find(candidate => candidate.name === name);
    if (column?.type !== 'DOUBLE') throw new Error(`Cannot write a catalog because it has no DOUBLE column ${name}`);
    return Float64Array.from(column.data, value => (typeof value === 'number' ? value : Number.NaN));
  };
  return { ra: numbers(ra).map(wrapRa), dec: numbers(dec) };
}

/**
 * Pixels with at most `maxRows` rows each, where `maxOrder` allows; in ascending order of sky, as hats-import lists
 * them.
 */
function splitRows({ ra, dec }: { ra: Float64Array; dec: Float64Array }, options: HatsOptions): Pixel[] {
  const { maxRows = Number.POSITIVE_INFINITY, minOrder = 0, maxOrder = 10 } = options;
  const valid: number[] = [];
  const invalid: number[] = [];
  for (let row = 0; row < ra.length; row++) (isPosition(ra[row]!, dec[row]!) ? valid : invalid).push(row);
  const split = (order: number, rows: readonly number[]): Pixel[] => {
    const byPixel = Map.groupBy(rows, row => pixelOf(order, ra[row]!, dec[row]!));
    return [...byPixel]
      .sort(([a], [b]) => a - b)
      .flatMap(([ipix, inside]) =>
        inside.length > maxRows && order < maxOrder ? split(order + 1, inside) : [{ order, ipix, rows: inside }],
      );
  };
  const pixels = split(minOrder, valid);
  const [first, ...rest] = pixels.length > 0 ? pixels : [{ order: minOrder, ipix: 0, rows: [] }];
  return [{ ...first!, rows: [...first!.rows, ...invalid] }, ...rest];
}

function writePartition(
  directory: string,
  pixel: Pixel,
  rows: readonly number[],
  healpix: readonly bigint[],
  options: HatsOptions,
): string[] {
  const { suffix = '.parquet' } = options;
  const path = partitionFile(pixel, suffix);
  if (suffix !== '/') return [writeRows(directory, path, rows, healpix, options)];
  const half = Math.ceil(rows.length / 2);
  return [rows.slice(0, half), rows.slice(half)].map((part, index) =>
    writeRows(directory, `${path}part${index}.parquet`, part, healpix, options),
  );
}

function writeRows(
  directory: string,
  path: string,
  rows: readonly number[],
  healpix: readonly bigint[],
  {
    columns,
    healpixColumn = 'first',
    rowGroupSize,
    nullable = true,
    statistics = true,
    codec = 'SNAPPY',
    compressors,
  }: HatsOptions,
): string {
  const healpixData: HatsColumn = { name: '_healpix_29', type: 'INT64', data: healpix };
  const all =
    healpixColumn === 'none'
      ? columns
      : healpixColumn === 'first'
        ? [healpixData, ...columns]
        : [...columns, healpixData];
  const bytes = parquetWriteBuffer({
    columnData: all.map(({ name, type, data }) => ({ name, type, nullable, data: rows.map(row => data[row] ?? null) })),
    rowGroupSize: rowGroupSize ?? Math.max(1, rows.length),
    codec,
    statistics,
    ...(compressors ? { compressors } : {}),
  });
  write(join(directory, path), new Uint8Array(bytes));
  return path;
}

function defaultProperties({
  name,
  columns,
  ra,
  dec,
  healpixColumn,
  suffix = '.parquet',
  skymapOrder = 8,
}: HatsOptions) {
  return {
    obs_collection: name,
    dataproduct_type: 'object',
    hats_nrows: String(columns[0]?.data.length ?? 0),
    hats_col_ra: ra,
    hats_col_dec: dec,
    ...(healpixColumn === 'none' ? {} : { hats_col_healpix: '_healpix_29', hats_col_healpix_order: '29' }),
    hats_npix_suffix: suffix,
    ...(skymapOrder === null ? {} : { hats_skymap_order: String(skymapOrder) }),
    hats_builder: 'nearsky test/core/catalogs/write_hats.ts',
    hats_version: 'v1.0',
  };
}

/** Writes a sparse file, because most pixels have no row, and memory for all would cost more than the rest of a test. */
function writeSkymap(path: string, { ra, dec }: { ra: Float64Array; dec: Float64Array }, order: number): void {
  const counts = new Map<number, number>();
  for (let row = 0; row < ra.length; row++) {
    if (!isPosition(ra[row]!, dec[row]!)) continue;
    const ipix = pixelOf(order, ra[row]!, dec[row]!);
    counts.set(ipix, (counts.get(ipix) ?? 0) + 1);
  }
  const pixels = 12 * 4 ** order;
  const header = healpixMap({ order, values: [], cards: { NAXIS2: pixels } });
  const file = openSync(path, 'w');
  writeSync(file, header);
  const value = Buffer.alloc(8);
  for (const [ipix, count] of counts) {
    value.writeBigInt64BE(BigInt(count));
    writeSync(file, value, 0, 8, header.length + 8 * ipix);
  }
  ftruncateSync(file, header.length + padded(8 * pixels));
  closeSync(file);
}

function sortedBy(rows: readonly number[], keys: readonly bigint[]): number[] {
  return [...rows].sort((a, b) => (keys[a]! < keys[b]! ? -1 : keys[a]! > keys[b]! ? 1 : 0));
}

function write(path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}
