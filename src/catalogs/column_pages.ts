/**
 * The pages of a flat column, decoded only where they are wanted.
 *
 * hyparquet's own reader decodes all pages between the first row and the last, and copies each column that may hold
 * nulls value by value: it took half the time of a crossmatch, for a few rows of each of 25 columns. So the loop over
 * the pages is ours; all decoding is hyparquet's.
 */
import { zstdDecompressSync } from 'node:zlib';
import { parquetHeader } from 'hyparquet/src/column.js';
import { convert, convertWithDictionary, DEFAULT_PARSERS } from 'hyparquet/src/convert.js';
import { decompressPage, readDataPage, readDataPageV2 } from 'hyparquet/src/datapage.js';
import { readPlain } from 'hyparquet/src/plain.js';
import type { ColumnMetaData, DataPageHeader, PageHeader, SchemaElement } from 'hyparquet/src/types.js';
import { compressors as scriptCompressors } from 'hyparquet-compressors';

/** Some rows of one column. */
export interface ColumnPage {
  readonly firstRow: number;
  /** Exclusive. */
  readonly endRow: number;
  /** The values that are not null, in row order. */
  readonly values: ArrayLike<unknown>;
  /** One number a row, 1 where there is a value; undefined where every row has one. */
  readonly present: ArrayLike<number> | undefined;
}

/** HATS catalogs are compressed with ZSTD; the runtime's own code takes a tenth of the time of the script's. */
const compressors = {
  ...scriptCompressors,
  ZSTD: (input: Uint8Array, outputLength: number) => zstdDecompressSync(input, { maxOutputLength: outputLength }),
};

/** One column of one row group, as the file's footer describes it. */
export interface ColumnChunk {
  readonly metadata: ColumnMetaData;
  readonly element: SchemaElement;
  /** The chunk's pages, dictionary first. */
  readonly bytes: ArrayBuffer;
  readonly firstRow: number;
  /** Exclusive. */
  readonly endRow: number;
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
 * The pages for whose rows `wanted` says true, in row order. Throws what decoding throws when the bytes are damaged,
 * also when they hold another number of rows than the chunk.
 */
export function* columnPages(
  chunk: ColumnChunk,
  wanted: (firstRow: number, endRow: number) => boolean,
): Generator<ColumnPage> {
  const decoder = decoderOf(chunk);
  const reader = { view: new DataView(chunk.bytes), offset: 0 };
  let dictionary: ReturnType<typeof convert> | undefined;
  for (let firstRow = chunk.firstRow; firstRow < chunk.endRow; ) {
    const header = parquetHeader(reader);
    checkHeader(header);
    const bytes = new Uint8Array(chunk.bytes, reader.offset, header.compressed_page_size);
    reader.offset += header.compressed_page_size;
    if (header.type === 'DICTIONARY_PAGE') {
      dictionary = decodeDictionary(bytes, header, decoder);
      continue;
    }
    const endRow = firstRow + rowsOf(header);
    if (endRow > chunk.endRow) throw new Error(`a page ends at row ${endRow} of ${chunk.endRow}`);
    if (wanted(firstRow, endRow)) yield { firstRow, endRow, ...decodePage(bytes, header, dictionary, decoder) };
    firstRow = endRow;
  }
}

type Decoder = ReturnType<typeof decoderOf>;

function decoderOf({ metadata, element }: ColumnChunk) {
  return {
    pathInSchema: [element.name],
    type: metadata.type,
    element,
    schemaPath: pathTo(element),
    codec: metadata.codec,
    parsers: DEFAULT_PARSERS,
    compressors,
  };
}

function pathTo(element: SchemaElement) {
  const leaf = { element, children: [], count: 1, path: [element.name] };
  return [{ element: { name: 'schema', num_children: 1 }, children: [leaf], count: 2, path: [] }, leaf];
}

/** Counts that cannot be would keep the decoder busy for minutes: it believes them. */
function checkHeader({ data_page_header, data_page_header_v2: v2, dictionary_page_header }: PageHeader): void {
  const values = data_page_header?.num_values ?? v2?.num_values ?? dictionary_page_header?.num_values ?? 0;
  const levels = v2 ? [v2.definition_levels_byte_length, v2.repetition_levels_byte_length] : [];
  const isCount = (count: unknown) => Number.isInteger(count) && (count as number) >= 0;
  if (![values, v2?.num_nulls ?? 0, ...levels].every(isCount) || (v2?.num_nulls ?? 0) > values)
    throw new Error('a page has a damaged header');
}

/** In a flat column a value, null or not, is a row. */
function rowsOf({ type, data_page_header, data_page_header_v2 }: PageHeader): number {
  const rows = data_page_header?.num_values ?? data_page_header_v2?.num_values;
  if (rows === undefined) throw new Error(`pages of type ${type} are not supported`);
  return rows;
}

function decodeDictionary(bytes: Uint8Array, header: PageHeader, decoder: Decoder) {
  const page = decompressPage(bytes, header.uncompressed_page_size, decoder.codec, compressors);
  const reader = { view: new DataView(page.buffer, page.byteOffset, page.byteLength), offset: 0 };
  return convert(
    readPlain(reader, decoder.type, header.dictionary_page_header!.num_values, decoder.element.type_length),
    decoder,
  );
}

function decodePage(
  bytes: Uint8Array,
  header: PageHeader,
  dictionary: ReturnType<typeof convert> | undefined,
  decoder: Decoder,
): Pick<ColumnPage, 'values' | 'present'> {
  const { data_page_header: v1, data_page_header_v2: v2 } = header;
  const { definitionLevels, dataPage } = v1
    ? decodeV1(decompressPage(bytes, header.uncompressed_page_size, decoder.codec, compressors), v1, decoder)
    : decodeV2(bytes, header, decoder);
  const { encoding } = (v1 ?? v2)!;
  // hyparquet would take the places in the dictionary for the values.
  if (encoding.endsWith('_DICTIONARY') && !dictionary) throw new Error('a page wants a dictionary that is not there');
  const values = convertWithDictionary(dataPage, dictionary, encoding, decoder);
  const hasNulls = v1 ? definitionLevels?.length : v2!.num_nulls;
  return { values, present: hasNulls ? definitionLevels : undefined };
}

/** A page of a column that may hold nulls says of each row whether it does; mostly all are said to have values, in one run. */
function decodeV1(page: Uint8Array, header: DataPageHeader, decoder: Decoder) {
  if (decoder.element.repetition_type !== 'OPTIONAL') return readDataPage(page, header, decoder);
  const bytes = new DataView(page.buffer, page.byteOffset, page.byteLength).getUint32(0, true);
  const [levels, values] = [page.subarray(4, 4 + bytes), page.subarray(4 + bytes)];
  if (!isOneRun(levels, header.num_values)) return readDataPage(page, header, decoder);
  return readDataPage(values, header, withoutLevels(decoder));
}

function decodeV2(bytes: Uint8Array, header: PageHeader, decoder: Decoder) {
  const v2 = header.data_page_header_v2!;
  const length = v2.definition_levels_byte_length;
  if (v2.repetition_levels_byte_length > 0 || !isOneRun(bytes.subarray(0, length), v2.num_values))
    return readDataPageV2(bytes, header, decoder);
  const shorter = {
    ...header,
    uncompressed_page_size: header.uncompressed_page_size - length,
    data_page_header_v2: { ...v2, definition_levels_byte_length: 0 },
  };
  return readDataPageV2(bytes.subarray(length), shorter, withoutLevels(decoder));
}

function withoutLevels(decoder: Decoder): Decoder {
  return { ...decoder, schemaPath: pathTo({ ...decoder.element, repetition_type: 'REQUIRED' }) };
}

/** Whether definition levels are one run of ones, as RLE has it (Parquet, "Encodings"): twice the length as a varint, then the value. */
function isOneRun(levels: Uint8Array, values: number): boolean {
  let header = 0;
  let at = 0;
  for (let shift = 0; at < levels.length && at < 5; shift += 7) {
    const byte = levels[at++]!;
    header += (byte & 127) * 2 ** shift;
    if (byte < 128) return header === 2 * values && levels.length === at + 1 && levels[at] === 1;
  }
  return false;
}
