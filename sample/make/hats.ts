/** Writes a HATS catalog: Parquet partitions of mixed orders, partition_info.csv, hats.properties, a coverage map. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DecodedArray, SchemaElement } from 'hyparquet';
import { ByteWriter, parquetWrite } from 'hyparquet-writer';
import { pixel29 } from './sky.ts';

export type Row = Record<string, unknown>;

export interface Column {
  readonly name: string;
  /** Arrow's name of the type. */
  readonly arrow: string;
}

export interface CatalogOutput {
  readonly name: string;
  readonly description: string;
  readonly columns: readonly Column[];
  readonly raColumn: string;
  readonly decColumn: string;
  readonly idColumn: string;
  readonly rows: readonly Row[];
  /** A partition with more rows is split into its four children. */
  readonly maxRows: number;
  readonly rowGroupSize: number;
  readonly coverage: { readonly order: number; readonly map: 'explicit' | 'implicit' | 'none' };
}

interface Partition {
  readonly order: number;
  readonly pixel: bigint;
  readonly rows: readonly Row[];
}

const PARQUET_TYPES: Record<string, Omit<SchemaElement, 'name'>> = {
  bool: { type: 'BOOLEAN' },
  int8: { type: 'INT32', converted_type: 'INT_8' },
  int16: { type: 'INT32', converted_type: 'INT_16' },
  int32: { type: 'INT32' },
  int64: { type: 'INT64' },
  uint8: { type: 'INT32', converted_type: 'UINT_8' },
  uint64: { type: 'INT64', converted_type: 'UINT_64' },
  float: { type: 'FLOAT' },
  double: { type: 'DOUBLE' },
  string: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
};

const pixelOfRow = (row: Row, order: number) => (row._healpix_29 as bigint) >> BigInt(2 * (29 - order));

/** Splits rows, sorted by `_healpix_29`, from order 0 down until no partition has more than `maxRows`. */
function partition(rows: readonly Row[], maxRows: number): Partition[] {
  const split = (part: readonly Row[], order: number): Partition[] => {
    const byPixel = Map.groupBy(part, row => pixelOfRow(row, order));
    return [...byPixel].flatMap(([pixel, within]) =>
      within.length > maxRows ? split(within, order + 1) : [{ order, pixel, rows: within }],
    );
  };
  return split(rows, 0);
}

/** A value as the writer wants it: 64-bit integers as bigints, what is not known as null. */
function stored(arrow: string, value: unknown): unknown {
  if (typeof value === 'number' && arrow.endsWith('int64')) return BigInt(value);
  return value ?? null;
}

function parquetBytes(catalog: CatalogOutput, part: Partition): Uint8Array {
  // Columns of some releases that repeat the partition's own place.
  const own: Row = { Norder: part.order, Dir: (part.pixel / 10000n) * 10000n, Npix: part.pixel };
  const searched = new Set(['_healpix_29', catalog.idColumn, catalog.raColumn, catalog.decColumn]);
  const schema: SchemaElement[] = [{ name: 'schema', num_children: catalog.columns.length }];
  for (const { name, arrow } of catalog.columns) {
    const type = PARQUET_TYPES[arrow];
    if (!type) throw new Error(`Cannot write column ${name} because its type is not known (${arrow} was found)`);
    schema.push({ name, repetition_type: 'OPTIONAL', ...type });
  }
  const writer = new ByteWriter();
  parquetWrite({
    writer,
    schema,
    codec: 'SNAPPY',
    rowGroupSize: catalog.rowGroupSize,
    createdBy: 'nearsky sample',
    columnData: catalog.columns.map(({ name, arrow }) => ({
      name,
      data: part.rows.map(row => stored(arrow, row[name] ?? own[name])) as DecodedArray,
      statistics: searched.has(name),
      offsetIndex: false,
    })),
  });
  return writer.getBytes();
}

/** Writes the catalog into a new directory. Rows get their `_healpix_29`; the map counts the rows of each pixel. */
export function writeHats(directory: string, catalog: CatalogOutput): void {
  const rows = catalog.rows.map(row => ({
    ...row,
    _healpix_29: pixel29(row[catalog.raColumn] as number, row[catalog.decColumn] as number),
  }));
  rows.sort((a, b) => (a._healpix_29 < b._healpix_29 ? -1 : 1));
  const partitions = partition(rows, catalog.maxRows);
  for (const part of partitions) {
    const folder = join(directory, 'dataset', `Norder=${part.order}`, `Dir=${(part.pixel / 10000n) * 10000n}`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `Npix=${part.pixel}.parquet`), parquetBytes(catalog, part));
  }
  const info = partitions.map(part => `${part.order},${part.pixel}\n`).join('');
  writeFileSync(join(directory, 'partition_info.csv'), `Norder,Npix\n${info}`);
  const { order, map } = catalog.coverage;
  const counts = Map.groupBy(rows, row => Number(pixelOfRow(row, order)));
  const fits =
    map === 'none'
      ? undefined
      : healpixFits(
          order,
          map,
          [...counts].map(([ipix, held]) => [ipix, held.length]),
        );
  if (fits) writeFileSync(join(directory, 'point_map.fits'), fits);
  writeFileSync(join(directory, 'hats.properties'), properties(catalog, partitions, fits !== undefined));
}

function properties(catalog: CatalogOutput, partitions: readonly Partition[], hasMap: boolean): string {
  const entries: [string, string | number][] = [
    ['obs_collection', catalog.name],
    ['obs_description', catalog.description],
    ['dataproduct_type', 'object'],
    ['hats_nrows', catalog.rows.length],
    ['hats_col_ra', catalog.raColumn],
    ['hats_col_dec', catalog.decColumn],
    ['hats_col_healpix', '_healpix_29'],
    ['hats_col_healpix_order', 29],
    ['hats_npix_suffix', '.parquet'],
    ['hats_order', Math.max(...partitions.map(part => part.order))],
    ['hats_max_rows', catalog.maxRows],
    ['hats_builder', 'nearsky sample/make.ts'],
    ['hats_version', 'v1.0'],
  ];
  if (hasMap) entries.push(['hats_skymap_order', catalog.coverage.order]);
  return `#HATS catalog\n${entries.map(([key, value]) => `${key}=${value}\n`).join('')}`;
}

/**
 * A HEALPix map of counts as FITS 4.0 (section 7.3, binary table): NESTED, every pixel in turn (implicit, 64-bit counts, as the HATS tools
 * write it) or pairs of pixel and count (explicit, 32-bit, as healpy writes a partial map). `counts` ascend by pixel.
 */
function healpixFits(order: number, scheme: 'explicit' | 'implicit', counts: readonly [number, number][]): Uint8Array {
  const pixels = 12 * 4 ** order;
  const explicit = scheme === 'explicit';
  const rows = explicit ? counts.length : pixels;
  const primary = { SIMPLE: true, BITPIX: 8, NAXIS: 0, EXTEND: true };
  const layout = { XTENSION: 'BINTABLE', BITPIX: 8, NAXIS: 2, NAXIS1: 8, NAXIS2: rows, PCOUNT: 0, GCOUNT: 1 };
  const columns = explicit
    ? { TFIELDS: 2, TTYPE1: 'PIXEL', TFORM1: 'J', TTYPE2: 'T', TFORM2: 'J' }
    : { TFIELDS: 1, TTYPE1: 'T', TFORM1: 'K' };
  const healpix = { PIXTYPE: 'HEALPIX', ORDERING: 'NESTED', COORDSYS: 'CEL', NSIDE: 2 ** order };
  const indexing = explicit
    ? { INDXSCHM: 'EXPLICIT', OBJECT: 'PARTIAL' }
    : { FIRSTPIX: 0, LASTPIX: pixels - 1, INDXSCHM: 'IMPLICIT', OBJECT: 'FULLSKY' };
  const data = new DataView(new ArrayBuffer(Math.ceil((rows * 8) / 2880) * 2880));
  for (const [i, [ipix, count]] of counts.entries()) {
    if (explicit) {
      data.setInt32(i * 8, ipix);
      data.setInt32(i * 8 + 4, count);
    } else {
      data.setBigInt64(ipix * 8, BigInt(count));
    }
  }
  return Buffer.concat([
    fitsHeader(primary),
    fitsHeader({ ...layout, ...columns, ...healpix, ...indexing }),
    new Uint8Array(data.buffer),
  ]);
}

function fitsHeader(cards: Record<string, string | number | boolean>): Buffer {
  const text = Object.entries(cards).map(([key, value]) => {
    const shown =
      typeof value === 'string' ? `'${value.padEnd(8)}'` : (value === true ? 'T' : String(value)).padStart(20);
    return `${key.padEnd(8)}= ${shown}`.padEnd(80);
  });
  text.push('END'.padEnd(80));
  const length = text.length * 80;
  return Buffer.from(text.join('').padEnd(Math.ceil(length / 2880) * 2880), 'latin1');
}
