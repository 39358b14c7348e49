/**
 * Writes the columns of a row group. Numbers in typed arrays, and values that many rows share, are written directly:
 * hyparquet-writer would look at each value about ten times. It writes all other columns, and its bytes would be the
 * same for these, too.
 */
import type { ColumnChunk, DecodedArray, ParquetType, SchemaElement } from 'hyparquet';
import { ByteWriter } from 'hyparquet-writer';
import { writeColumn } from 'hyparquet-writer/src/column.js';
import { writePageHeader } from 'hyparquet-writer/src/datapage.js';
import { estimateValueSize, writeDictionaryPage } from 'hyparquet-writer/src/dictionary.js';
import { writeRleBitPackedHybrid } from 'hyparquet-writer/src/encoding.js';
import { unconvert } from 'hyparquet-writer/src/unconvert.js';

/** One 64-bit number per row; none is NaN. */
export interface NumberValues {
  readonly numbers: Float64Array | BigInt64Array;
  /** One byte per row: 1 if it has a value, else 0; undefined if all rows have one. */
  readonly isPresent: Uint8Array | undefined;
}

/** Values that rows share. */
export interface SharedValues {
  /** The index of each row's value; -1 for null. */
  readonly indexes: Int32Array;
  /** Values, each only once. */
  readonly distinct: readonly unknown[];
}

/** The values of a column in row order; an array has null for rows without a value. */
export type ColumnValues = NumberValues | SharedValues | unknown[];

/** The values one by one, null for rows without one. */
export function valueArray(values: ColumnValues): unknown[] {
  if (Array.isArray(values)) return values;
  if ('numbers' in values) {
    const { numbers, isPresent } = values;
    return Array.from(numbers as ArrayLike<unknown>, (number, row) => (isPresent?.[row] === 0 ? null : number));
  }
  const { indexes, distinct } = values;
  return Array.from(indexes, index => (index < 0 ? null : distinct[index]));
}

/** How a column is written. */
export interface ChunkFormat {
  readonly element: SchemaElement;
  /** Whether to write it without a dictionary. */
  readonly isPlain: boolean;
  /** Whether to write its smallest and largest values. */
  readonly hasBounds: boolean;
}

/** The same limit as hyparquet-writer's. Columns of more than one page are left to it. */
const PAGE_BYTES = 2 ** 20;
/** A dictionary is not tried if more than this share of a sample's bytes are distinct. */
const [SAMPLE_ROWS, MAX_DISTINCT_SHARE] = [1000, 0.9];

type Compress = (bytes: Uint8Array) => Uint8Array;
type Written = ReturnType<typeof writeColumn>;

export class ChunkWriter {
  readonly #out: ByteWriter;
  readonly #rows: number;
  readonly #compress: Compress;
  /** Columns without values, by their format: their bytes and descriptions are the same but for their place. */
  readonly #empty = new Map<string, { readonly bytes: Uint8Array; readonly chunk: ColumnChunk }>();

  /** @param rows the number of rows in the group, at least 1 */
  constructor(out: ByteWriter, rows: number, compress: Compress) {
    this.#out = out;
    this.#rows = rows;
    this.#compress = compress;
  }

  /** @param values undefined if all are null */
  write(format: ChunkFormat, values: ColumnValues | undefined): Written {
    if (!values) return this.#writeEmpty(format);
    const own = Array.isArray(values)
      ? undefined
      : 'numbers' in values
        ? this.#writeNumbers(format, values)
        : this.#writeShared(format, values);
    return own ?? this.#writeArray(format, valueArray(values));
  }

  #writeEmpty(format: ChunkFormat): Written {
    const { element, isPlain, hasBounds } = format;
    const key = JSON.stringify([{ ...element, name: '' }, isPlain, hasBounds]);
    const known = this.#empty.get(key);
    const at = this.#out.offset;
    if (!known) {
      const written = this.#writeArray(format, new Array(this.#rows).fill(null));
      const { index } = this.#out;
      const bytes = this.#out.getBytes().slice(index - (this.#out.offset - at));
      this.#empty.set(key, { bytes, chunk: written.chunk });
      return written;
    }
    this.#out.appendBytes(known.bytes);
    const { file_offset, meta_data } = known.chunk;
    const data_page_offset = meta_data!.data_page_offset + BigInt(at) - file_offset;
    const moved = { ...meta_data!, path_in_schema: [element.name], data_page_offset };
    return { chunk: { meta_data: moved, file_offset: BigInt(at) } };
  }

  /** Writes any column. */
  #writeArray({ element, isPlain, hasBounds }: ChunkFormat, values: unknown[]): Written {
    const isOptional = element.repetition_type === 'OPTIONAL';
    return writeColumn({
      writer: this.#out,
      column: {
        columnName: element.name,
        element,
        schemaPath: [ROOT, element],
        codec: 'ZSTD',
        compressors: { ZSTD: this.#compress },
        stats: hasBounds,
        pageSize: PAGE_BYTES,
        columnIndex: false,
        offsetIndex: true,
        ...(isPlain && { encoding: 'PLAIN' as const }),
      },
      pageData: {
        values,
        definitionLevels: isOptional ? values.map(value => (value === null || value === undefined ? 0 : 1)) : [],
        repetitionLevels: [],
        maxDefinitionLevel: isOptional ? 1 : 0,
      },
    });
  }

  /** @returns undefined if the column is one of those that are written as arrays */
  #writeNumbers({ element, isPlain, hasBounds }: ChunkFormat, values: NumberValues): Written | undefined {
    const { isPresent } = values;
    const numbers = isPresent ? present(values.numbers, isPresent) : values.numbers;
    if (!isPlain || numbers.byteLength >= PAGE_BYTES) return undefined;
    const start = this.#out.offset;
    const bytes = new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
    const size = this.#writePage(element, isPresent, numbers.length, 'PLAIN', bytes);
    const nulls = this.#rows - numbers.length;
    const statistics = hasBounds ? boundsOf(numbers, nulls) : undefined;
    return this.#chunk(element, start, { start, size, encoding: 'PLAIN' }, statistics);
  }

  /** @returns undefined like `#writeNumbers` */
  #writeShared({ element, isPlain, hasBounds }: ChunkFormat, { indexes, distinct }: SharedValues): Written | undefined {
    if (isPlain || hasBounds || element.type === 'BOOLEAN') return undefined;
    const found = dictionaryOf(element.type!, indexes, distinct);
    if (!found || found.indexes.byteLength >= PAGE_BYTES) return undefined;
    const start = this.#out.offset;
    const column = { element, codec: 'ZSTD', compressors: { ZSTD: this.#compress } };
    const dictionary = unconvert(element, found.dictionary);
    const dictionarySize = writeDictionaryPage(this.#out, column as never, dictionary);
    const pageStart = this.#out.offset;
    const page = new ByteWriter();
    const width = Math.ceil(Math.log2(found.dictionary.length));
    page.appendUint8(width);
    writeRleBitPackedHybrid(page, found.indexes, width);
    const isPresent = found.indexes.length < this.#rows ? Uint8Array.from(indexes, index => +(index >= 0)) : undefined;
    const pageSize = this.#writePage(element, isPresent, found.indexes.length, 'RLE_DICTIONARY', page.getBytes());
    const size = dictionarySize + pageSize;
    return this.#chunk(element, start, { start: pageStart, size, encoding: 'RLE_DICTIONARY' }, undefined);
  }

  /** @returns the size of the page with its header, bytes, as if it were not compressed */
  #writePage(
    { repetition_type }: SchemaElement,
    isPresent: Uint8Array | undefined,
    count: number,
    encoding: 'PLAIN' | 'RLE_DICTIONARY',
    bytes: Uint8Array,
  ): number {
    const out = this.#out;
    const levels = new ByteWriter();
    if (repetition_type === 'OPTIONAL') {
      writeRleBitPackedHybrid(levels, isPresent ?? new Uint8Array(this.#rows).fill(1), 1);
    }
    const compressed = this.#compress(bytes);
    const start = out.offset;
    writePageHeader(out, {
      type: 'DATA_PAGE_V2',
      uncompressed_page_size: levels.offset + bytes.length,
      compressed_page_size: levels.offset + compressed.length,
      data_page_header_v2: {
        num_values: this.#rows,
        num_nulls: this.#rows - count,
        num_rows: this.#rows,
        encoding,
        definition_levels_byte_length: levels.offset,
        repetition_levels_byte_length: 0,
        is_compressed: true,
      },
    });
    const header = out.offset - start;
    out.appendBytes(levels.getBytes());
    out.appendBytes(compressed);
    return header + levels.offset + bytes.length;
  }

  #chunk(
    { name, type }: SchemaElement,
    fileStart: number,
    page: { readonly start: number; readonly size: number; readonly encoding: 'PLAIN' | 'RLE_DICTIONARY' },
    statistics: ReturnType<typeof boundsOf> | undefined,
  ): Written {
    const hasDictionary = page.encoding === 'RLE_DICTIONARY';
    return {
      chunk: {
        meta_data: {
          type: type!,
          encodings: hasDictionary ? ['PLAIN', 'RLE_DICTIONARY'] : ['PLAIN'],
          path_in_schema: [name],
          codec: 'ZSTD',
          num_values: BigInt(this.#rows),
          total_compressed_size: BigInt(this.#out.offset - fileStart),
          total_uncompressed_size: BigInt(page.size),
          data_page_offset: BigInt(page.start),
          ...(hasDictionary && { dictionary_page_offset: BigInt(fileStart) }),
          ...(statistics && {
            statistics,
            encoding_stats: [{ page_type: 'DATA_PAGE_V2', encoding: page.encoding, count: 1 }],
          }),
        },
        file_offset: BigInt(fileStart),
      },
    };
  }
}

const ROOT: SchemaElement = { name: 'schema' };

/** The numbers of the rows that have one. */
function present<T extends Float64Array | BigInt64Array>(numbers: T, isPresent: Uint8Array): T {
  const found = numbers.slice() as T;
  let count = 0;
  for (let row = 0; row < numbers.length; row++) if (isPresent[row]) found[count++] = numbers[row]!;
  return found.subarray(0, count) as T;
}

function boundsOf(numbers: Float64Array | BigInt64Array, nulls: number) {
  let [min, max] = [numbers[0] as number | bigint, numbers[0] as number | bigint];
  for (const number of numbers) {
    if (number < min) min = number;
    if (number > max) max = number;
  }
  // Parquet: a smallest value of zero is written as -0, a largest as +0.
  if (min === 0) min = -0;
  if (max === 0) max = 0;
  const isFloat = numbers instanceof Float64Array;
  return { min_value: min, max_value: max, null_count: BigInt(nulls), ...(isFloat && { nan_count: 0n }) };
}

/**
 * The distinct values in the order of their first rows, and the index of each value that is not null; undefined if a
 * dictionary would not be much smaller. Decides like hyparquet-writer.
 */
function dictionaryOf(type: ParquetType, indexes: Int32Array, distinct: readonly unknown[]) {
  const lengthBytes = type === 'BYTE_ARRAY' ? 4 : 0;
  const sizes = distinct.map(value => estimateValueSize(value, type) + lengthBytes);
  const rows = indexes.length;
  const sample = Math.min(rows, SAMPLE_ROWS);
  const isSampled = new Uint8Array(distinct.length);
  let [sampledBytes, sampledDistinctBytes] = [0, 0];
  for (let i = 0; i < sample; i++) {
    const index = indexes[sample === 1 ? 0 : Math.floor((i * (rows - 1)) / (sample - 1))]!;
    if (index < 0) continue;
    sampledBytes += sizes[index]!;
    if (isSampled[index] === 0) sampledDistinctBytes += sizes[index]!;
    isSampled[index] = 1;
  }
  if (sampledBytes === 0 || sampledDistinctBytes / sampledBytes > MAX_DISTINCT_SHARE) return undefined;
  const newIndexes = new Int32Array(distinct.length).fill(-1);
  const dictionary: unknown[] = [];
  const found = new Int32Array(rows);
  let [count, plainBytes, dictionaryBytes] = [0, 0, 0];
  for (const index of indexes) {
    if (index < 0) continue;
    plainBytes += sizes[index]!;
    if (newIndexes[index]! < 0) {
      newIndexes[index] = dictionary.push(distinct[index]) - 1;
      dictionaryBytes += sizes[index]!;
    }
    found[count++] = newIndexes[index]!;
  }
  const indexBytes = Math.ceil((count * Math.ceil(Math.log2(dictionary.length))) / 8);
  if (2 * (dictionaryBytes + indexBytes) > plainBytes) return undefined;
  return { dictionary: dictionary as DecodedArray, indexes: found.subarray(0, count) };
}
