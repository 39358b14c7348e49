/**
 * Decodes the pages of a flat column, and only the wanted ones.
 *
 * hyparquet's own reader decodes all pages between the first row and the last, and copies each column that may hold
 * nulls value by value. For a few rows of each of 25 columns, that took half of the time. Here the loop
 * over the pages is ours, and hyparquet decodes each page. hyparquet trusts every count in the file, so counts are
 * checked first.
 */
import { unzipSync, zstdDecompressSync } from 'node:zlib';
import type { ColumnMetaData, PageHeader, SchemaElement } from 'hyparquet';
import { parquetHeader } from 'hyparquet/src/column.js';
import { convert, convertWithDictionary, DEFAULT_PARSERS } from 'hyparquet/src/convert.js';
import { decompressPage, readDataPage } from 'hyparquet/src/datapage.js';
import { deltaBinaryUnpack } from 'hyparquet/src/delta.js';
import { readRleBitPackedHybrid } from 'hyparquet/src/encoding.js';
import { readOffsetIndex } from 'hyparquet/src/indexes.js';
import { readPlain } from 'hyparquet/src/plain.js';
import { compressors as scriptCompressors } from 'hyparquet-compressors';

/** A page of one column: all its rows, or those that were asked for. */
export interface ColumnPage {
  readonly firstRow: number;
  /** Exclusive. */
  readonly endRow: number;
  /** The values that are not null, in row order. */
  readonly values: ArrayLike<unknown>;
  /** One number per row, 1 if it has a value; undefined if every row has one. */
  readonly present: ArrayLike<number> | undefined;
}

/** The rows of a page that are asked for, from 0, ascending. */
type PageRows = ArrayLike<number>;

/**
 * The runtime's own decoder takes a tenth of the time of the JavaScript one,
 * and checks gzip's checksum.
 */
const compressors = {
  ...scriptCompressors,
  GZIP: (input: Uint8Array, length: number) => unzipSync(input, outputOf(length)),
  ZSTD: (input: Uint8Array, length: number) => zstdDecompressSync(input, outputOf(length)),
};

/** A page is decoded into one buffer, and not into pieces of 16 KiB, unless it states that it is very large. */
const LARGEST_PIECE = 8 << 20;

function outputOf(length: number) {
  // Behind a full buffer, zlib would begin another one.
  return { maxOutputLength: length, chunkSize: Math.min(length + 64, LARGEST_PIECE) };
}

/** One column of one row group, as the file's footer describes it. */
export interface ColumnChunk {
  readonly metadata: ColumnMetaData;
  readonly element: SchemaElement;
  /** The chunk's pages, dictionary first: all of them, or a function that reads the bytes [start, end) of the chunk. */
  readonly bytes: ArrayBuffer | ReadBytes;
  /** The places of the data pages, if they are known; the pages before a wanted one are then not looked at. */
  readonly locations?: readonly PageLocation[] | undefined;
  readonly firstRow: number;
  /** Exclusive. */
  readonly endRow: number;
}

type ReadBytes = (start: number, end: number) => ArrayBuffer;

interface PageLocation {
  /** From the first byte of the chunk. */
  readonly offset: number;
  /** From the first row of the row group. */
  readonly firstRow: number;
}

/**
 * The places of a chunk's data pages, by the file's own index of them; undefined if the index contradicts the chunk.
 * @param rows the number of rows of the chunk
 */
export function pageLocations(bytes: ArrayBuffer, metadata: ColumnMetaData, rows: number): PageLocation[] | undefined {
  const [start, end] = chunkRange(metadata);
  let found: PageLocation[];
  try {
    found = readOffsetIndex({ view: new DataView(bytes), offset: 0 }).page_locations.map(
      ({ offset, first_row_index }) => ({ offset: Number(offset) - start, firstRow: Number(first_row_index) }),
    );
  } catch {
    return undefined;
  }
  const isSound = found.every(({ offset, firstRow }, i) => {
    const before = found[i - 1];
    const first = Number(metadata.data_page_offset) - start;
    return before
      ? offset > before.offset && offset < end - start && firstRow > before.firstRow && firstRow < rows
      : offset === first && firstRow === 0;
  });
  return isSound && found.length > 0 ? found : undefined;
}

/** Most headers of pages are shorter. */
const HEADER_BYTES = 512;

/** Walks over the pages of a chunk. */
class PageReader {
  readonly #bytes: ColumnChunk['bytes'];
  readonly #length: number;
  #offset = 0;

  constructor({ bytes, metadata }: ColumnChunk) {
    this.#bytes = bytes;
    this.#length = bytes instanceof ArrayBuffer ? bytes.byteLength : Number(metadata.total_compressed_size);
  }

  goTo(offset: number): void {
    this.#offset = offset;
  }

  /** Reads the header of a page, and goes to the bytes behind it. */
  header(): PageHeader {
    const bytes = this.#bytes;
    if (bytes instanceof ArrayBuffer) return this.#headerIn(bytes, 0);
    for (let most = HEADER_BYTES; ; most *= 64) {
      const end = Math.min(this.#length, this.#offset + most);
      try {
        return this.#headerIn(bytes(this.#offset, end), this.#offset);
      } catch (error) {
        if (end === this.#length || !(error instanceof RangeError)) throw error;
      }
    }
  }

  #headerIn(bytes: ArrayBuffer, start: number): PageHeader {
    const reader = { view: new DataView(bytes), offset: this.#offset - start };
    const header = parquetHeader(reader);
    if (reader.offset > bytes.byteLength) throw new RangeError('a header of a page ends early');
    this.#offset = start + reader.offset;
    return header;
  }

  /** Goes behind the bytes of a page. @returns a function that reads them */
  skip({ compressed_page_size: size }: PageHeader): () => Uint8Array {
    const start = this.#offset;
    if (start + size > this.#length) throw new RangeError('a page ends early');
    this.#offset += size;
    const bytes = this.#bytes;
    return () =>
      bytes instanceof ArrayBuffer ? new Uint8Array(bytes, start, size) : new Uint8Array(bytes(start, start + size));
  }
}

/** The byte range of a column chunk in its file. */
export function chunkRange({
  dictionary_page_offset,
  data_page_offset,
  total_compressed_size,
}: ColumnMetaData): [start: number, end: number] {
  const start = Number(dictionary_page_offset || data_page_offset);
  return [start, start + Number(total_compressed_size)];
}

/**
 * The pages in row order.
 * @param rows the rows that are asked for, ascending: pages without any of them are passed over, and of the others only
 * the values of these rows are decoded. By default all rows
 * @throws the decoder's errors if the bytes are damaged, or hold another number of rows than the chunk states
 */
export function* columnPages(chunk: ColumnChunk, rows?: ArrayLike<number>): Generator<ColumnPage> {
  const wanted = (from: number, to: number) => !rows || lowerBound(rows, from) < lowerBound(rows, to);
  const { type } = chunk.metadata;
  if (type !== chunk.element.type)
    throw new Error(`its type is ${chunk.element.type} in the schema, but ${type} in its row group`);
  const decoder = decoderOf(chunk);
  const decimal = isDecimal(chunk.element) ? decimalOf(decimalScale(chunk.element)) : undefined;
  const reader = new PageReader(chunk);
  const { locations } = chunk;
  let readDictionary: (() => Dictionary) | undefined;
  let decoded: Dictionary | undefined;
  const dictionary = () => (decoded ??= readDictionary?.());
  const headerOfData = (): PageHeader => {
    for (;;) {
      const header = reader.header();
      checkHeader(header, chunk.metadata);
      if (header.type !== 'DICTIONARY_PAGE') return header;
      const bytes = reader.skip(header);
      readDictionary = () => decodeDictionary(bytes(), header, decoder);
    }
  };
  // The dictionary is before the first data page.
  if (locations && locations[0]!.offset > 0) headerOfData();
  for (let firstRow = chunk.firstRow, page = 0; firstRow < chunk.endRow; page++) {
    let endRow = chunk.firstRow + (locations?.[page + 1]?.firstRow ?? chunk.endRow - chunk.firstRow);
    if (locations && wanted(firstRow, endRow)) reader.goTo(locations[page]!.offset);
    if (!locations || wanted(firstRow, endRow)) {
      const header = headerOfData();
      const bytes = reader.skip(header);
      const stated = firstRow + rowsOf(header);
      if (locations ? stated !== endRow : stated > chunk.endRow)
        throw new Error(`a page ends at row ${stated} of ${chunk.endRow}`);
      endRow = stated;
      if (wanted(firstRow, endRow)) {
        const { values, present } = decodePage(
          bytes(),
          header,
          dictionary,
          decoder,
          rows && within(rows, firstRow, endRow),
        );
        yield { firstRow, endRow, values: decimal ? Array.from(values, decimal) : values, present };
      }
    }
    firstRow = endRow;
  }
}

/** The first index whose row is at least `row`. */
export function lowerBound(rows: ArrayLike<number>, row: number): number {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (rows[middle]! < row) low = middle + 1;
    else high = middle;
  }
  return low;
}

function within(rows: ArrayLike<number>, firstRow: number, endRow: number): PageRows {
  const from = lowerBound(rows, firstRow);
  const found = new Uint32Array(lowerBound(rows, endRow) - from);
  for (let i = 0; i < found.length; i++) found[i] = rows[from + i]! - firstRow;
  return found;
}

type Dictionary = ReturnType<typeof convert>;

/** Without `ignoreBOM`, a decoder drops U+FEFF at the start of a string. */
const UTF8 = new TextDecoder('utf-8', { ignoreBOM: true });
const PARSERS = {
  ...DEFAULT_PARSERS,
  stringFromBytes: (bytes: Uint8Array) => UTF8.decode(bytes),
  /** Times of INT96 as bigints, nanoseconds since 1970: a date would lose digits. */
  timestampFromNanoseconds: (ns: bigint) => ns as unknown as Date,
};

type Decoder = ReturnType<typeof decoderOf>;

/**
 * Decodes pages without their levels, as if the column held no nulls. The decoder gets decimals and times as plain
 * numbers. Otherwise, hyparquet would convert decimals to floats, which lose digits of ids, and times to dates, which
 * lose microseconds.
 */
function decoderOf({ metadata, element: described }: ColumnChunk) {
  const { converted_type, logical_type, ...plain } = described;
  const isPlain = isDecimal(described) || isDate(described) || timeKind(described);
  const element: SchemaElement = isPlain ? plain : described;
  const leaf = {
    element: { ...element, repetition_type: 'REQUIRED' as const },
    children: [],
    count: 1,
    path: [element.name],
  };
  return {
    utf8: !isDecimal(described),
    pathInSchema: [element.name],
    type: metadata.type,
    element,
    schemaPath: [{ element: { name: 'schema', num_children: 1 }, children: [leaf], count: 2, path: [] }, leaf],
    codec: metadata.codec,
    parsers: PARSERS,
    compressors,
  };
}

export function isDecimal({ converted_type, logical_type }: SchemaElement): boolean {
  return converted_type === 'DECIMAL' || logical_type?.type === 'DECIMAL';
}

const TIME_KINDS = { MILLIS: 'time in ms', MICROS: 'time in us', NANOS: 'time in ns' } as const;

/** The kind of a timestamp; undefined for other columns. */
export function timeKind({ converted_type, logical_type }: SchemaElement) {
  if (logical_type?.type === 'TIMESTAMP') return TIME_KINDS[logical_type.unit];
  if (converted_type === 'TIMESTAMP_MILLIS') return TIME_KINDS.MILLIS;
  return converted_type === 'TIMESTAMP_MICROS' ? TIME_KINDS.MICROS : undefined;
}

/** Whether a column holds days since 1970. */
export function isDate({ type, converted_type, logical_type }: SchemaElement): boolean {
  return type === 'INT32' && (converted_type === 'DATE' || logical_type?.type === 'DATE');
}

/** The number of digits behind a decimal's point. */
export function decimalScale({ scale, logical_type }: SchemaElement): number {
  return (logical_type?.type === 'DECIMAL' ? logical_type.scale : scale) ?? 0;
}

/**
 * Converts a stored decimal (its digits without the point) to its value: a bigint without a fraction, else the nearest
 * double.
 */
function decimalOf(scale: number): (stored: unknown) => bigint | number {
  return stored => {
    const digits = stored instanceof Uint8Array ? bigEndian(stored) : BigInt(stored as number | bigint);
    return scale === 0 ? digits : Number(`${digits}e-${scale}`);
  };
}

/** Reads a two's complement integer, highest byte first. */
function bigEndian(bytes: Uint8Array): bigint {
  const unsigned = BigInt(`0x0${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')}`);
  return BigInt.asIntN(8 * bytes.length, unsigned);
}

/** Some writers state too small a size for a chunk. A page of up to this many bytes is still accepted. */
const BELIEVED_PAGE_BYTES = 64 * 2 ** 20;

/** Rejects impossible counts: the decoder believes them, and would be busy for minutes or run out of memory. */
function checkHeader(header: PageHeader, { total_uncompressed_size }: ColumnMetaData): void {
  const { data_page_header: v1, data_page_header_v2: v2, dictionary_page_header, uncompressed_page_size } = header;
  const values = v1?.num_values ?? v2?.num_values ?? dictionary_page_header?.num_values ?? 0;
  const nulls = v2?.num_nulls ?? 0;
  const levels = v2 ? [v2.definition_levels_byte_length, v2.repetition_levels_byte_length] : [];
  const isCount = (count: unknown) => Number.isInteger(count) && (count as number) >= 0;
  const isSound =
    [values, nulls, header.compressed_page_size, uncompressed_page_size, ...levels].every(isCount) &&
    nulls <= values &&
    uncompressed_page_size <= Math.max(Number(total_uncompressed_size), BELIEVED_PAGE_BYTES);
  if (!isSound) throw new Error('a page has a damaged header');
}

/** The rows of a page: in a flat column each value, null or not, is a row. */
function rowsOf({ type, data_page_header, data_page_header_v2 }: PageHeader): number {
  const rows = data_page_header?.num_values ?? data_page_header_v2?.num_values;
  if (rows === undefined) throw new Error(`pages of type ${type} are not supported`);
  return rows;
}

function decodeDictionary(bytes: Uint8Array, header: PageHeader, decoder: Decoder) {
  const page = decompress(bytes, header.uncompressed_page_size, decoder);
  const count = header.dictionary_page_header!.num_values;
  checkValues(page, 'PLAIN', count, decoder);
  return convert(
    readPlain({ view: viewOf(page), offset: 0 }, decoder.type, count, decoder.element.type_length),
    decoder,
  );
}

function decodePage(
  bytes: Uint8Array,
  header: PageHeader,
  dictionaryOf: () => Dictionary | undefined,
  decoder: Decoder,
  asked: PageRows | undefined,
): Pick<ColumnPage, 'values' | 'present'> {
  const { data_page_header: v1, data_page_header_v2: v2 } = header;
  const { levels, encoded } = v1 ? splitV1(bytes, header, decoder) : splitV2(bytes, header, decoder);
  const rows = rowsOf(header);
  const { present, count, places } = readLevels(levels, rows, asked);
  if (v2 && v2.num_nulls !== rows - count)
    throw new Error(`a page states that ${v2.num_nulls} of its ${rows} values are null, but ${rows - count} are`);
  if (count === 0) return { values: [], present };
  const { encoding } = (v1 ?? v2)!;
  // Without a dictionary, hyparquet would return the dictionary positions as values.
  const dictionary = encoding.endsWith('_DICTIONARY') ? dictionaryOf() : undefined;
  if (encoding.endsWith('_DICTIONARY') && !dictionary?.length)
    throw new Error('a page needs a dictionary that is missing');
  checkValues(encoded, encoding, count, decoder);
  const converted = (page: Parameters<typeof convertWithDictionary>[0]) =>
    convertWithDictionary(page, dictionary, encoding, decoder);
  const decoded = (from: Uint8Array, num_values: number) =>
    converted(readDataPage(from, { ...NO_LEVELS, num_values, encoding }, decoder).dataPage);
  const valuesAt = (at: PageRows) => {
    const size = encoding === 'PLAIN' ? PLAIN_BYTES[decoder.type] : undefined;
    if (size !== undefined) return decoded(pickPlain(encoded, size, at), at.length);
    const width = dictionary && decoder.type !== 'BOOLEAN' ? encoded[0]! : 0;
    if (width > 0 && width <= MOST_PICKED_BITS) return converted(pickPacked(encoded.subarray(1), width, at));
    // In other encodings a value is found only by decoding those before it.
    const all = decoded(encoded, count);
    return Array.from(at, place => all[place]);
  };
  const values = places ? valuesAt(places) : decoded(encoded, count);
  if (Array.isArray(values) && values.includes(undefined))
    throw new Error('a page has no value for a row that is not null');
  return { values, present };
}

const PLAIN_BYTES: Partial<Record<ColumnMetaData['type'], number>> = { INT32: 4, INT64: 8, FLOAT: 4, DOUBLE: 8 };
/** A number of so many bits lies within four bytes, whichever bit of a byte it begins with. */
const MOST_PICKED_BITS = 25;

/** The bytes of the plain numbers at some places. */
function pickPlain(encoded: Uint8Array, size: number, places: PageRows): Uint8Array {
  const picked = new Uint8Array(size * places.length);
  for (let i = 0; i < places.length; i++)
    for (let at = 0; at < size; at++) picked[size * i + at] = encoded[size * places[i]! + at]!;
  return picked;
}

/** The numbers at some places of the RLE and bit-packed hybrid, whose runs `checkRuns` has checked. */
function pickPacked(bytes: Uint8Array, width: number, places: PageRows): number[] {
  const picked = new Array<number>(places.length);
  let next = 0;
  for (let at = 0, seen = 0; next < places.length; ) {
    const { value, end } = varintAt(bytes, at);
    const half = Math.floor(value / 2);
    const isPacked = value % 2 === 1;
    const until = seen + (isPacked ? 8 * half : half);
    at = end + (isPacked ? half * width : Math.ceil(width / 8));
    for (; next < places.length && places[next]! < until; next++) {
      const bit = isPacked ? width * (places[next]! - seen) : 0;
      // A run has whole bytes, and damaged ones hold more than the dictionary.
      const bits = isPacked ? width : 8 * Math.ceil(width / 8);
      const from = end + Math.floor(bit / 8);
      const word = bytes[from]! | (bytes[from + 1]! << 8) | (bytes[from + 2]! << 16) | (bytes[from + 3]! << 24);
      picked[next] = ((word >>> (bit % 8)) & (2 ** bits - 1)) >>> 0;
    }
    seen = until;
  }
  return picked;
}

const NO_LEVELS = { definition_level_encoding: 'RLE', repetition_level_encoding: 'RLE' } as const;

interface SplitPage {
  /** Undefined if every row has a value. */
  readonly levels: Uint8Array | undefined;
  readonly encoded: Uint8Array;
}

function splitV1(bytes: Uint8Array, header: PageHeader, decoder: Decoder): SplitPage {
  const page = decompress(bytes, header.uncompressed_page_size, decoder);
  if (decoder.element.repetition_type !== 'OPTIONAL') return { levels: undefined, encoded: page };
  const end = 4 + viewOf(page).getUint32(0, true);
  return { levels: page.subarray(4, end), encoded: page.subarray(end) };
}

function splitV2(bytes: Uint8Array, header: PageHeader, decoder: Decoder): SplitPage {
  const v2 = header.data_page_header_v2!;
  const from = v2.repetition_levels_byte_length;
  const end = from + v2.definition_levels_byte_length;
  const values = bytes.subarray(end);
  return {
    levels: decoder.element.repetition_type === 'OPTIONAL' ? bytes.subarray(from, end) : undefined,
    encoded: v2.is_compressed === false ? values : decompress(values, header.uncompressed_page_size - end, decoder),
  };
}

/** Some writers compress a chunk without values, others leave it empty. */
function decompress(bytes: Uint8Array, size: number, { codec }: Decoder): Uint8Array {
  return size === 0 ? new Uint8Array(0) : decompressPage(bytes, size, codec, compressors);
}

const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array) => new DataView(buffer, byteOffset, byteLength);

/**
 * The rows that have a value, the number of values of the page, and of the rows that were asked for and have a value,
 * their places among the values. Mostly all rows have one; the levels are then a single run.
 */
function readLevels(levels: Uint8Array | undefined, rows: number, asked: PageRows | undefined) {
  if (!levels || isOneRun(levels, rows)) return { present: undefined, count: rows, places: asked };
  checkRuns(levels, 1, rows);
  if (asked) return pickLevels(levels, rows, asked);
  const present = new Uint8Array(rows);
  readRleBitPackedHybrid({ view: viewOf(levels), offset: 0 }, 1, present, levels.length);
  let count = 0;
  for (const level of present) {
    if (level > 1) throw levelError(level);
    count += level;
  }
  return { present: count === rows ? undefined : present, count, places: undefined };
}

const levelError = (level: number) => new Error(`a page has a definition level of ${level}, and 1 is the highest`);

/** Counts the levels of ones run by run, without a number for each row. */
function pickLevels(levels: Uint8Array, rows: number, asked: PageRows) {
  const present = new Uint8Array(asked.length);
  const places = new Uint32Array(asked.length);
  let [count, found, next] = [0, 0, 0];
  for (let at = 0, row = 0; row < rows; ) {
    const { value, end } = varintAt(levels, at);
    const half = Math.floor(value / 2);
    const isPacked = value % 2 === 1;
    const endRow = Math.min(rows, row + (isPacked ? 8 * half : half));
    at = end + (isPacked ? half : 1);
    const level = levels[end]!;
    if (!isPacked && level > 1) throw levelError(level);
    // Eight rows of a packed run at a time, or all rows of another one.
    const step = isPacked ? 8 : endRow - row;
    for (let byte = end; row < endRow; byte++, row += step) {
      const bits = row + step <= endRow ? levels[byte]! : levels[byte]! & ((1 << (endRow - row)) - 1);
      for (; next < asked.length && asked[next]! < row + step; next++) {
        const within = asked[next]! - row;
        present[next] = isPacked ? (bits >> within) & 1 : level;
        if (present[next]) places[found++] = count + (isPacked ? ONES[bits & ((1 << within) - 1)]! : within);
      }
      count += isPacked ? ONES[bits]! : level * step;
    }
    row = endRow;
  }
  return { present: found === asked.length ? undefined : present, count, places: places.subarray(0, found) };
}

/** The number of ones among eight bits. */
const ONES = Uint8Array.from({ length: 256 }, (_, bits) => [...bits.toString(2)].filter(bit => bit === '1').length);

/** Whether definition levels are one run of ones. */
function isOneRun(levels: Uint8Array, rows: number): boolean {
  const { value, end } = varintAt(levels, 0);
  return value === 2 * rows && levels.length === end + 1 && levels[end] === 1;
}

/** @throws Error if the bytes cannot hold that many values: hyparquet would invent values, or never finish */
function checkValues(bytes: Uint8Array, encoding: string, count: number, { type, element }: Decoder): void {
  if (encoding === 'PLAIN' || encoding === 'BYTE_STREAM_SPLIT') {
    const least = Math.ceil(count * leastBytes(type, element));
    if (least > bytes.length) throw new Error(`a page has ${bytes.length} bytes for ${count} values`);
  } else if (type === 'BOOLEAN') checkRuns(bytes.subarray(4, 4 + viewOf(bytes).getUint32(0, true)), 1, count);
  else if (encoding.endsWith('_DICTIONARY')) {
    const width = viewOf(bytes).getUint8(0);
    if (width > 32) throw new Error(`a page has ${width} bits for a dictionary index`);
    if (width > 0) checkRuns(bytes.subarray(1), width, count);
  } else if (encoding.startsWith('DELTA_')) {
    const afterFirst = checkDeltas(bytes, 0, count);
    if (encoding === 'DELTA_BYTE_ARRAY') checkPrefixes(bytes, afterFirst, count);
  } else throw new Error(`values of type ${type} in the encoding ${encoding} are not supported`);
}

/** The size of a plain value in bytes; for types of variable length, the smallest possible size. */
function leastBytes(type: ColumnMetaData['type'], { type_length }: SchemaElement): number {
  if (type === 'BOOLEAN') return 1 / 8;
  if (type === 'INT96') return 12;
  if (type === 'FIXED_LEN_BYTE_ARRAY') return type_length ?? 0;
  return type === 'INT64' || type === 'DOUBLE' ? 8 : 4;
}

/**
 * Walks the runs of the RLE and bit-packed hybrid (Parquet, "Encodings"). Each run begins with a varint: twice the
 * length of a run of one value, or twice the number of groups of eight, plus one.
 * @throws Error when a run is longer than the rest of `count`, or when there are too few runs or bytes
 */
function checkRuns(bytes: Uint8Array, width: number, count: number): void {
  for (let at = 0, seen = 0; seen < count; ) {
    const { value, end } = varintAt(bytes, at);
    const half = Math.floor(value / 2);
    const isPacked = value % 2 === 1;
    // The last group may be padded. Some writers even add whole groups.
    if (!isPacked && half > count - seen) throw new Error(`a run of ${half} values where ${count - seen} are left`);
    at = end + (isPacked ? half * width : Math.ceil(width / 8));
    if (at > bytes.length) throw new Error('a run of values ends beyond its page');
    seen += isPacked ? 8 * half : half;
  }
}

/**
 * Walks the blocks of differences that begin at `from`.
 * @returns the offset of the first byte behind the blocks
 * @throws Error when the bytes cannot hold `count` differences
 */
function checkDeltas(bytes: Uint8Array, from: number, count: number): number {
  const block = varintAt(bytes, from);
  const miniblocks = varintAt(bytes, block.end);
  const total = varintAt(bytes, miniblocks.end);
  const perMiniblock = block.value / miniblocks.value;
  if (!Number.isInteger(perMiniblock / 8) || perMiniblock === 0 || total.value !== count)
    throw new Error(`a page has blocks of ${block.value} differences in ${miniblocks.value} parts for ${count} values`);
  let at = varintAt(bytes, total.end).end;
  for (let seen = 1; seen < count; ) {
    const widthsAt = varintAt(bytes, at).end;
    at = widthsAt + miniblocks.value;
    if (at > bytes.length) throw new Error('a block of differences ends beyond its page');
    for (let i = 0; i < miniblocks.value && seen < count; i++, seen += perMiniblock) {
      if (bytes[widthsAt + i]! > 64) throw new Error(`a page has ${bytes[widthsAt + i]} bits for a difference`);
      at += (perMiniblock / 8) * bytes[widthsAt + i]!;
    }
  }
  if (at > bytes.length) throw new Error('a block of differences ends beyond its page');
  return at;
}

/** @throws Error when a value shares more bytes with the previous value than that value has */
function checkPrefixes(bytes: Uint8Array, suffixesAt: number, count: number): void {
  checkDeltas(bytes, suffixesAt, count);
  const unpack = (offset: number) => {
    const lengths = new Int32Array(count);
    deltaBinaryUnpack({ view: viewOf(bytes), offset }, count, lengths);
    return lengths;
  };
  const [prefixes, suffixes] = [unpack(0), unpack(suffixesAt)];
  let former = 0;
  for (let i = 0; i < count; i++) {
    const [prefix, suffix] = [prefixes[i]!, suffixes[i]!];
    if (prefix < 0 || suffix < 0 || prefix > former) throw new Error('a page has values whose lengths are damaged');
    former = prefix + suffix;
  }
}

/** An unsigned LEB128 number of at most 64 bits, inexact beyond 2^53. */
function varintAt(bytes: Uint8Array, from: number): { readonly value: number; readonly end: number } {
  let value = 0;
  for (let at = from, shift = 0; shift < 70; shift += 7) {
    const byte = bytes[at++];
    if (byte === undefined) break;
    value += (byte & 127) * 2 ** shift;
    if (byte < 128) return { value, end: at };
  }
  throw new Error('a page ends within a number');
}
