/**
 * Writes columns of 64-bit numbers directly in Parquet's format: plain and not compressed, because positions and
 * measurements hardly shrink. hyparquet-writer would take single cells, look at each several times, and compress in
 * JavaScript.
 */
import type { ColumnMetaData } from 'hyparquet';
import { ByteWriter } from 'hyparquet-writer';
import { writePageHeader } from 'hyparquet-writer/src/datapage.js';

/** A column of a row group: its pages, and their description in the footer. */
export interface StoredColumn {
  readonly metadata: ColumnMetaData;
  readonly bytes: Uint8Array;
}

/** The values of the rows that have one, in row order. */
export interface Numbers {
  readonly values: Float64Array | BigInt64Array;
  /** One byte per row: 1 if it has a value, else 0. */
  readonly isPresent: Uint8Array;
}

/** The rows per page: about a mebibyte. */
const PAGE_ROWS = 1 << 17;

/** An optional column of one row group. */
export function storedNumbers({ values, isPresent }: Numbers): StoredColumn {
  const out = new ByteWriter();
  let value = 0;
  for (let from = 0; from < isPresent.length; from += PAGE_ROWS) {
    const rows = isPresent.subarray(from, from + PAGE_ROWS);
    const levels = definitionLevels(rows);
    const count = rows.reduce((sum, each) => sum + each, 0);
    const bytes = new Uint8Array(values.buffer, values.byteOffset + 8 * value, 8 * count);
    value += count;
    const size = levels.length + bytes.length;
    writePageHeader(out, {
      type: 'DATA_PAGE_V2',
      uncompressed_page_size: size,
      compressed_page_size: size,
      data_page_header_v2: {
        num_values: rows.length,
        num_nulls: rows.length - count,
        num_rows: rows.length,
        encoding: 'PLAIN',
        definition_levels_byte_length: levels.length,
        repetition_levels_byte_length: 0,
        is_compressed: false,
      },
    });
    out.appendBytes(levels);
    out.appendBytes(bytes);
  }
  return {
    metadata: {
      type: values instanceof BigInt64Array ? 'INT64' : 'DOUBLE',
      encodings: ['PLAIN', 'RLE'],
      path_in_schema: [],
      codec: 'UNCOMPRESSED',
      num_values: BigInt(isPresent.length),
      total_uncompressed_size: BigInt(out.offset),
      total_compressed_size: BigInt(out.offset),
      data_page_offset: 0n,
    },
    bytes: out.getBytes(),
  };
}

/**
 * Writes the levels as one bit-packed run, eight rows per byte, the first row in the lowest bit (Parquet, "Encodings",
 * RLE and bit-packing hybrid).
 */
function definitionLevels(isPresent: Uint8Array): Uint8Array {
  const groups = Math.ceil(isPresent.length / 8);
  const header: number[] = [];
  let rest = 2 * groups + 1;
  for (; rest >= 0x80; rest >>>= 7) header.push((rest & 0x7f) | 0x80);
  header.push(rest);
  const levels = new Uint8Array(header.length + groups);
  levels.set(header);
  for (let row = 0; row < isPresent.length; row++) levels[header.length + (row >>> 3)]! |= isPresent[row]! << (row & 7);
  return levels;
}
