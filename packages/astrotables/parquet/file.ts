/** Parquet files, one flat column at a time. Only this file and pages.ts read with hyparquet. */

import { crc32 } from 'node:zlib';
import { type ColumnMetaData, type FileMetaData, parquetMetadataAsync, type SchemaElement } from 'hyparquet';
import { BoundedCache } from '../bounded_cache.ts';
import type { ColumnKind } from '../columns.ts';
import type { FileVersion, OpenFile } from '../files.ts';
import { ReadFailure, reasonOf } from '../files.ts';
import {
  type ColumnPage,
  chunkRange,
  columnPages,
  decimalScale,
  isDate,
  isDecimal,
  lowerBound,
  pageLocations,
  timeKind,
} from './pages.ts';
import type { StoredColumn } from './stored_column.ts';

export type { ColumnKind };

/** Holds the dictionary and the first page of a column as most programs write them, of up to 1 MiB each. */
const BEGINNING_BYTES = 2 ** 21;

/** Consecutive rows that are stored together. */
export interface RowGroup {
  readonly rowStart: number;
  /** Exclusive. */
  readonly rowEnd: number;
}

/** The marks at both ends, and the length of the footer. */
const MIN_BYTES = 12;
/** Most footers are shorter. For a longer one, more of the file is read. */
const FOOTER_BYTES = 64 << 10;

/** The footers of local files that were opened last, by the versions of the files. Decoded, they take ten times as much. */
const footers = new BoundedCache<Footer>(1 << 20);

interface Footer {
  readonly metadata: FileMetaData;
  /** The CRC-32 of the footer; undefined for a remote file. */
  readonly checksum: number | undefined;
}

/** The bytes after a footer: its length, and the mark of the format. */
const TAIL_BYTES = 8;

/** A chunk is read page by page if it is larger than this, and few of its rows are wanted. */
const WHOLE_CHUNK_BYTES = 64 << 10;
/** Longer indexes of pages are not used. */
const MAX_INDEX_BYTES = 1 << 20;

/**
 * Reads the footer of a Parquet file. The returned object then owns the file and closes it; on an error the file is
 * closed here.
 * @throws ReadFailure if the file is truncated, or is not a Parquet file
 */
export async function openParquet(file: OpenFile): Promise<ParquetFile> {
  try {
    const key = file.version?.key;
    const known = key === undefined ? undefined : footers.get(key);
    return new ParquetFile(file, known ?? (await readFooter(file)));
  } catch (error) {
    file.close();
    if (error instanceof ReadFailure) throw error;
    const isOther = file.byteLength < MIN_BYTES || /footer != PAR1/.test(reasonOf(error));
    const reason = isOther ? 'it is not a Parquet file, or its end is missing' : reasonOf(error);
    throw new ReadFailure(`Cannot read ${file.name}: ${reason}`, { cause: error });
  }
}

async function readFooter(file: OpenFile): Promise<Footer> {
  const buffer = {
    byteLength: file.byteLength,
    slice: (start: number, end = file.byteLength) => file.read(start, end),
  };
  // With `geoparquet: false`, column kinds follow the schema, whatever other metadata claim.
  const metadata = await parquetMetadataAsync(buffer, { geoparquet: false, initialFetchSize: FOOTER_BYTES });
  const { version } = file;
  if (!version) return { metadata, checksum: undefined };
  const bytes = metadata.metadata_length + TAIL_BYTES;
  const footer = {
    metadata,
    checksum: crc32(new Uint8Array(await file.read(file.byteLength - bytes, file.byteLength))),
  };
  if (!version.isRecent) footers.set(version.key, footer, bytes);
  return footer;
}

/** An open Parquet file. Methods that read throw ReadFailure when the file is damaged. */
export class ParquetFile {
  /** The file's path or address. */
  readonly name: string;
  readonly rowGroups: readonly RowGroup[];
  readonly rows: number;
  /** The flat top-level columns, in file order. */
  readonly columns: ReadonlyMap<string, ColumnKind>;
  /** The names of the other top-level columns, which hold lists or structures and cannot be read. */
  readonly nestedColumns: readonly string[];
  /** The CRC-32 of a local file's footer, which names the place of each column; undefined for a remote file. */
  readonly footerChecksum: number | undefined;
  readonly byteLength: number;
  /** The version of a local file. */
  readonly version: FileVersion | undefined;
  readonly #file: OpenFile;
  readonly #metadata: FileMetaData;
  /** The top-level columns; `#elements` are those that can be read. */
  readonly #top: ReadonlyMap<string, SchemaElement>;
  readonly #elements: ReadonlyMap<string, SchemaElement>;

  constructor(file: OpenFile, { metadata, checksum }: Footer) {
    this.name = file.name;
    this.footerChecksum = checksum;
    this.byteLength = file.byteLength;
    this.version = file.version;
    this.#file = file;
    this.#metadata = metadata;
    const top = topLevelElements(metadata.schema);
    const names = new Set<string>();
    for (const { name } of top) {
      if (names.has(name)) throw new Error(`it has two columns named ${name.slice(0, 64)}: rename one`);
      names.add(name);
    }
    this.#top = new Map(top.map(element => [element.name, element]));
    this.#elements = new Map(top.filter(isFlat).map(element => [element.name, element]));
    this.nestedColumns = top.filter(element => !isFlat(element)).map(({ name }) => name);
    this.columns = new Map(Array.from(this.#elements, ([name, element]) => [name, kindOf(element)]));
    let rowStart = 0;
    this.rowGroups = metadata.row_groups.map(({ num_rows }) => {
      // A row count beyond the exact integers of a double is rejected too.
      if (typeof num_rows !== 'bigint') throw new Error('a row group has no number of rows');
      if (!(num_rows >= 0n && num_rows <= Number.MAX_SAFE_INTEGER)) throw new Error(`a row group has ${num_rows} rows`);
      return { rowStart, rowEnd: (rowStart += Number(num_rows)) };
    });
    this.rows = rowStart;
  }

  /** The type of a column in the file's own words, such as `FIXED_LEN_BYTE_ARRAY`. */
  storedType(column: string): string {
    return this.#elements.get(column)?.type ?? 'unknown';
  }

  /** The type of a column that no kind describes, for messages: `list`, `structure`, `time`, `BYTE_ARRAY`. */
  statedType(column: string): string {
    const { type, converted_type: converted, logical_type: logical } = this.#top.get(column)!;
    const stated = logical?.type ?? converted?.replace(/_.*/, '');
    const isList = this.#top.get(column)!.repetition_type === 'REPEATED';
    return stated?.toLowerCase() ?? type ?? (isList ? 'list' : 'structure');
  }

  /** A string from the file's own metadata; undefined if the key is missing. */
  metadataText(key: string): string | undefined {
    return this.#metadata.key_value_metadata?.find(entry => entry.key === key)?.value;
  }

  /**
   * The file of each row group, relative to the dataset. Only a `_metadata` file names them, because its row groups lie
   * in other files.
   */
  rowGroupPaths(): string[] {
    return this.#metadata.row_groups.map(group => group.columns[0]?.file_path ?? '');
  }

  /**
   * The least and greatest value of a number column in a row group by the file's statistics; undefined if the column
   * has none.
   */
  bounds(rowGroup: number, column: string): { readonly min: number; readonly max: number } | undefined {
    const statistics = this.#chunk(rowGroup, column)?.meta_data?.statistics;
    const min = statistics?.min_value ?? statistics?.min;
    const max = statistics?.max_value ?? statistics?.max;
    // NaN bounds, which some writers leave behind, make the comparison false.
    return typeof min === 'number' && typeof max === 'number' && min <= max ? { min, max } : undefined;
  }

  /** The same bounds of a 64-bit integer column. */
  integerBounds(rowGroup: number, column: string): { readonly min: bigint; readonly max: bigint } | undefined {
    const statistics = this.#chunk(rowGroup, column)?.meta_data?.statistics;
    const min = statistics?.min_value ?? statistics?.min;
    const max = statistics?.max_value ?? statistics?.max;
    return typeof min === 'bigint' && typeof max === 'bigint' && min <= max ? { min, max } : undefined;
  }

  /**
   * The number of nulls in a column of a row group, by the schema and the statistics; undefined if these do not give
   * it.
   */
  nullCount(column: string, rowGroup: number): number | undefined {
    if (this.#elements.get(column)?.repetition_type === 'REQUIRED') return 0;
    const count = this.#chunk(rowGroup, column)?.meta_data?.statistics?.null_count;
    return count === undefined ? undefined : Number(count);
  }

  /** The maximum number of digits of a decimal column's values; infinite for other columns. */
  decimalDigits(column: string): number {
    const element = this.#elements.get(column);
    if (!element || !isDecimal(element)) return Number.POSITIVE_INFINITY;
    const { logical_type: logical, precision = Number.POSITIVE_INFINITY } = element;
    return logical?.type === 'DECIMAL' ? logical.precision : precision;
  }

  /** The codec and the encodings of a column of a row group, including the encodings of its levels. */
  storageOf(column: string, rowGroup: number): Pick<ColumnMetaData, 'codec' | 'encodings'> {
    const metadata = this.#chunk(rowGroup, column)?.meta_data;
    if (!metadata) throw this.#failure(column, new Error('there is no such column'));
    return metadata;
  }

  /** The size of a column of a row group in the file, bytes. */
  storedBytes(column: string, rowGroup: number): number {
    return Number(this.#chunk(rowGroup, column)?.meta_data?.total_compressed_size ?? 0);
  }

  /**
   * The memory for reading a column, compressed and decoded, bytes: for one row group, or for the row groups that hold
   * `rows`.
   */
  bytesInRowGroup(column: string, rowGroup: number): number {
    const bytes = Number(this.#chunk(rowGroup, column)?.meta_data?.total_uncompressed_size ?? 0);
    return bytes + this.storedBytes(column, rowGroup);
  }

  bytesOfRows(column: string, rows: ArrayLike<number>): number {
    return this.#rowGroupsOf(rows).reduce((sum, rowGroup) => sum + this.bytesInRowGroup(column, rowGroup), 0);
  }

  /** A number column of one row group; NaN if the value is null. */
  async readNumbers(column: string, rowGroup: number): Promise<Float64Array> {
    const { rowStart, rowEnd } = this.rowGroups[rowGroup]!;
    const numbers = new Float64Array(rowEnd - rowStart).fill(Number.NaN);
    for (const { firstRow, endRow, values, present } of await this.pages(column, rowGroup)) {
      if (!present && values instanceof Float64Array && values.length === endRow - firstRow) {
        numbers.set(values, firstRow - rowStart);
        continue;
      }
      let next = 0;
      for (let row = firstRow; row < endRow; row++) {
        if (present && !present[row - firstRow]) continue;
        const value = values[next++];
        if (typeof value !== 'number' && typeof value !== 'bigint') throw this.#damaged(column, row);
        numbers[row - rowStart] = Number(value);
      }
    }
    return numbers;
  }

  /**
   * Reads the values of a column in the given rows of the file, which must ascend. Nulls are null, 64-bit integers are
   * bigints.
   */
  async readValues(column: string, rows: ArrayLike<number>): Promise<unknown[]> {
    const found: unknown[] = new Array(rows.length).fill(undefined);
    await Promise.all(
      this.#rowGroupsOf(rows).map(async group => {
        // One page at a time: all pages of a column of texts may take more memory than there is.
        for (const page of await this.pages(column, group, rows)) {
          const from = lowerBound(rows, page.firstRow);
          fill(found, from, lowerBound(rows, page.endRow) - from, page);
        }
      }),
    );
    const missing = found.indexOf(undefined);
    if (missing >= 0) throw this.#damaged(column, rows[missing]!);
    return found;
  }

  /**
   * The values of the first rows of a row group, nulls included: at most `most`, and as many as the first data page has.
   * Usually the beginning of the column is read, not all of it.
   */
  async firstValues(column: string, rowGroup: number, most: number): Promise<unknown[]> {
    const firstPage = async (bytes: number) => {
      for (const page of await this.pages(column, rowGroup, undefined, bytes)) return page;
      return undefined;
    };
    // A first page that is longer is found by reading the whole column.
    const page =
      (await firstPage(BEGINNING_BYTES).catch(() => undefined)) ?? (await firstPage(Number.POSITIVE_INFINITY));
    if (!page) return [];
    const found: unknown[] = [];
    fill(found, 0, Math.min(most, page.endRow - page.firstRow), page);
    return found;
  }

  /** The row groups that hold any of the ascending rows. */
  #rowGroupsOf(rows: ArrayLike<number>): number[] {
    return [...this.rowGroups.keys()].filter(
      rowGroup =>
        lowerBound(rows, this.rowGroups[rowGroup]!.rowStart) < lowerBound(rows, this.rowGroups[rowGroup]!.rowEnd),
    );
  }

  close(): void {
    this.#file.close();
  }

  /** The flat columns in the file's own schema, in file order. */
  get elements(): SchemaElement[] {
    return [...this.#elements.values()];
  }

  /** A column of a row group as it is stored, not decoded. */
  async storedColumn(column: string, rowGroup: number): Promise<StoredColumn> {
    const metadata = this.#chunk(rowGroup, column)?.meta_data;
    if (!metadata) throw this.#failure(column, new Error('there is no such column'));
    const bytes = new Uint8Array(await this.#file.read(...chunkRange(metadata)));
    if (bytes.length !== Number(metadata.total_compressed_size))
      throw this.#failure(column, new Error('it ends early'));
    return { metadata, bytes };
  }

  /**
   * The pages of a column in a row group. Each is decoded when the caller comes to it.
   * @param rows the rows that are asked for, ascending, by default all: see `columnPages`
   * @param most the number of bytes to read, if only the first pages are needed
   */
  async pages(
    column: string,
    rowGroup: number,
    rows?: ArrayLike<number>,
    most = Number.POSITIVE_INFINITY,
  ): Promise<Iterable<ColumnPage>> {
    const element = this.#elements.get(column);
    const metadata = this.#chunk(rowGroup, column)?.meta_data;
    const { rowStart: firstRow, rowEnd: endRow } = this.rowGroups[rowGroup]!;
    if (this.columns.get(column) === 'null')
      return [{ firstRow, endRow, values: [], present: new Uint8Array(endRow - firstRow) }];
    try {
      if (!element || !metadata) throw new Error('there is no such column');
      const [start, end] = chunkRange(metadata);
      const file = this.#file;
      const isPartial = rows && file.readNow && end - start > WHOLE_CHUNK_BYTES && end <= file.byteLength;
      const bytes = isPartial
        ? (from: number, to: number) => file.readNow!(start + from, start + to)
        : await file.read(start, Math.min(end, start + most));
      const locations = isPartial ? this.#pageLocations(column, rowGroup, endRow - firstRow) : undefined;
      return this.#decoded(column, columnPages({ metadata, element, bytes, firstRow, endRow, locations }, rows));
    } catch (error) {
      throw this.#failure(column, error);
    }
  }

  /** The places of a chunk's pages, if the file has an index of them. */
  #pageLocations(column: string, rowGroup: number, rows: number) {
    const { meta_data, offset_index_offset: offset, offset_index_length: length = 0 } = this.#chunk(rowGroup, column)!;
    const start = Number(offset ?? 0);
    if (start <= 0 || length <= 0 || length > MAX_INDEX_BYTES || start + length > this.#file.byteLength)
      return undefined;
    return pageLocations(this.#file.readNow!(start, start + length), meta_data!, rows);
  }

  *#decoded(column: string, pages: Iterable<ColumnPage>): Iterable<ColumnPage> {
    try {
      yield* pages;
    } catch (error) {
      throw this.#failure(column, error);
    }
  }

  #failure(column: string, error: unknown): ReadFailure {
    if (error instanceof ReadFailure) return error;
    return new ReadFailure(`Cannot read column ${column} of ${this.name}: ${reasonOf(error)}`, { cause: error });
  }

  #damaged(column: string, row: number): ReadFailure {
    return new ReadFailure(`Cannot read column ${column} of ${this.name}: row ${row} has no value and is not null`);
  }

  #chunk(rowGroup: number, column: string) {
    return this.#metadata.row_groups[rowGroup]?.columns.find(
      ({ meta_data }) => meta_data?.path_in_schema?.length === 1 && meta_data.path_in_schema[0] === column,
    );
  }
}

/** Puts the first `count` values of a page into `found`, nulls included. */
function fill(found: unknown[], from: number, count: number, { values, present }: ColumnPage): void {
  for (let i = 0, next = 0; i < count; i++) found[from + i] = !present || present[i] ? values[next++] : null;
}

/** The top-level columns, in file order. */
function topLevelElements(schema: readonly SchemaElement[]): SchemaElement[] {
  const elements: SchemaElement[] = [];
  for (let index = 1; index < schema.length; index = skipChildren(schema, index) + 1) elements.push(schema[index]!);
  return elements;
}

/** Whether a column holds one value per row. */
function isFlat({ num_children, repetition_type }: SchemaElement): boolean {
  return !num_children && repetition_type !== 'REPEATED';
}

/** The index of the last descendant of a group in the depth-first schema list. */
function skipChildren(schema: readonly SchemaElement[], index: number): number {
  let last = index;
  for (let child = 0; child < (schema[index]!.num_children ?? 0); child++) last = skipChildren(schema, last + 1);
  return last;
}

function kindOf(element: SchemaElement): ColumnKind {
  const { type, converted_type: converted, logical_type: logical } = element;
  // pyarrow writes this type if one file of several has no value in a column.
  if (logical?.type === 'NULL') return 'null';
  if (isDecimal(element)) return decimalScale(element) === 0 ? 'integer decimal' : 'decimal';
  // Spark writes times in this way.
  if (type === 'INT96' && !converted && !logical) return 'time in int96';
  if (type === 'INT64' && timeKind(element)) return timeKind(element)!;
  if (isDate(element)) return 'date';
  if (logical?.type === 'FLOAT16') return 'float16';
  if (type === 'BOOLEAN') return 'boolean';
  if (type === 'FLOAT') return 'float';
  if (type === 'DOUBLE') return 'double';
  if (type === 'BYTE_ARRAY') return converted === 'UTF8' || logical?.type === 'STRING' ? 'string' : 'other';
  const isInteger = (!converted || /^U?INT_\d+$/.test(converted)) && (!logical || logical.type === 'INTEGER');
  const isUnsigned =
    /^UINT_(?:32|64)$/.test(converted ?? '') ||
    (logical?.type === 'INTEGER' && !logical.isSigned && logical.bitWidth >= 32);
  if (type === 'INT32' && isInteger) return isUnsigned ? 'unsigned32' : 'integer32';
  if (type !== 'INT64' || !isInteger) return 'other';
  return isUnsigned ? 'unsigned64' : 'integer64';
}
