/**
 * The columns of a catalog's files for the engine: as they are stored where the engine reads them, decoded where it does
 * not know their encoding, or would take their values for others.
 */
import type { Cell, Column, ColumnType } from '@nearsky/astrotables';
import type { ColumnKind, ParquetFile } from '@nearsky/astrotables/parquet';
import type { GroupColumn } from '@nearsky/astrotables/parquet_writer';
import { cellIn } from '../catalogs/columns.ts';

/** A column of the table, and the column of the files that provides it; undefined if this copy of the catalog lacks it. */
export interface WantedColumn extends Pick<Column, 'name' | 'type'> {
  readonly stored: string | undefined;
}

/** The kinds that have the values of a type as they are stored. */
const SAME_VALUES: Readonly<Record<ColumnType, readonly ColumnKind[]>> = {
  int64: ['integer64', 'integer32', 'unsigned32', 'unsigned64'],
  int32: ['integer32'],
  float64: ['double', 'float'],
  float32: ['float'],
  boolean: ['boolean'],
  text: ['string'],
  time: [],
};

/** The encodings that the engine reads, by stored type. The levels of all columns are in RLE or BIT_PACKED. */
const ENCODINGS: Readonly<Record<string, ReadonlySet<string>>> = {
  BOOLEAN: new Set(['PLAIN', 'RLE', 'BIT_PACKED']),
  ...each(['INT32', 'INT64'], 'DELTA_BINARY_PACKED'),
  ...each(['FLOAT', 'DOUBLE'], 'BYTE_STREAM_SPLIT'),
  ...each(['BYTE_ARRAY'], 'DELTA_LENGTH_BYTE_ARRAY', 'DELTA_BYTE_ARRAY'),
};
const CODECS: ReadonlySet<string> = new Set(['UNCOMPRESSED', 'SNAPPY', 'GZIP', 'BROTLI', 'ZSTD', 'LZ4_RAW']);

function each(types: readonly string[], ...encodings: readonly string[]): Record<string, ReadonlySet<string>> {
  const all = new Set(['PLAIN', 'PLAIN_DICTIONARY', 'RLE_DICTIONARY', 'RLE', 'BIT_PACKED', ...encodings]);
  return Object.fromEntries(types.map(type => [type, all]));
}

/** Whether the engine reads a column of a row group as it is stored. */
export function isReadByEngine(file: ParquetFile, stored: string, group: number, type: ColumnType): boolean {
  const kind = file.columns.get(stored)!;
  if (!SAME_VALUES[type].includes(kind)) return false;
  if (kind === 'unsigned64' && !isInt64(file.integerBounds(group, stored))) return false;
  const { codec, encodings } = file.storageOf(stored, group);
  const known = ENCODINGS[file.storedType(stored)];
  return CODECS.has(codec) && encodings.length > 0 && encodings.every(encoding => known?.has(encoding));
}

/** Decoding refuses the values that are not, and the engine would take them for nulls. */
const isInt64 = (bounds: ReturnType<ParquetFile['integerBounds']>) =>
  bounds !== undefined && bounds.min >= 0n && bounds.max < 2n ** 63n;

const INTEGER = /^-?\d+$/;

/**
 * Converts a value of a file to a cell of a column.
 * @throws CatalogError if the type has no such value
 */
export function cellOf(file: ParquetFile, stored: string, type: ColumnType, value: unknown): Cell {
  if (type === 'float32') return cellIn(file, stored, { type: 'float64' }, value);
  if (type === 'int32' && typeof value === 'number') return value;
  // Ids may be stored as strings.
  const isId = type === 'int64' && typeof value === 'string' && INTEGER.test(value);
  return cellIn(file, stored, { type }, isId ? BigInt(value) : value);
}

/** The type of a decoded column that holds all values of a type; the engine converts it. */
export const DECODED_TYPES: Readonly<Record<ColumnType, ColumnType>> = {
  int64: 'int64',
  int32: 'int64',
  float64: 'float64',
  float32: 'float64',
  boolean: 'boolean',
  text: 'text',
  time: 'time',
};

/** A column of a row group, decoded to its type in `DECODED_TYPES`. */
export async function decodedColumn(
  file: ParquetFile,
  stored: string,
  group: number,
  type: ColumnType,
): Promise<GroupColumn> {
  const { rowStart, rowEnd } = file.rowGroups[group]!;
  const rows = rowEnd - rowStart;
  const decoded = DECODED_TYPES[type];
  const isNumber = decoded === 'float64' || decoded === 'int64';
  const cells: Cell[] = isNumber ? [] : new Array(rows).fill(null);
  const values = decoded === 'int64' ? new BigInt64Array(rows) : new Float64Array(isNumber ? rows : 0);
  const isPresent = new Uint8Array(rows);
  let count = 0;
  for (const page of await file.pages(stored, group)) {
    let next = 0;
    for (let row = page.firstRow; row < page.endRow; row++) {
      if (page.present && !page.present[row - page.firstRow]) continue;
      const cell = cellOf(file, stored, decoded, page.values[next++]);
      if (cell === null) continue;
      if (!isNumber) cells[row - rowStart] = cell;
      else {
        isPresent[row - rowStart] = 1;
        values[count++] = cell as never;
      }
    }
  }
  if (!isNumber) return { cells: () => cells };
  return { numbers: () => ({ values: values.subarray(0, count), isPresent }) };
}
