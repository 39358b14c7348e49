/** Opens a table in the format that its bytes show, because media types of uploads are wrong too often. */
import { gunzipSync } from 'node:zlib';
import { isGzip, isOutOfMemory } from '../bytes.ts';
import type { ParquetFile } from '../parquet/file.ts';
import { refuseForeign } from './foreign.ts';
import { type DescribedTable, type InputTable, TableError, type TableLimits, withoutMasked } from './input_table.ts';

/**
 * @param areTyped whether numeric texts of CSV become numbers, and cells of ECSV get their declared types
 * @throws TableError
 */
export async function openTable(sent: Uint8Array, limits: TableLimits, areTyped: boolean): Promise<InputTable> {
  return withoutMasked(await openedTable(sent, limits, areTyped));
}

async function openedTable(sent: Uint8Array, limits: TableLimits, areTyped: boolean): Promise<InputTable> {
  const bytes = fromUtf16(unpacked(sent, limits));
  if (bytes.length > limits.maxBytes) throw new TableError(`it has more than ${limits.maxBytes} bytes`);
  const head = Buffer.from(bytes.subarray(0, 4096))
    .toString('latin1')
    .replace(/^\xef\xbb\xbf/, '')
    .trimStart();
  if (head === '') throw new TableError('it is empty');
  refuseForeign(head);
  if (head.startsWith('PAR1')) return (await import('./parquet.ts')).openParquetTable(bytes, limits);
  if (head.startsWith('ARROW1') || head.startsWith('\xff\xff\xff\xff'))
    return (await import('./arrow.ts')).openArrow(bytes, limits);
  if (head.startsWith('SIMPLE  =')) return (await import('./fits.ts')).openFits(bytes, limits);
  if (head.startsWith('<')) return (await import('./votable.ts')).openVotable(bytes, limits);
  if (head.startsWith('{')) return (await import('./ndjson.ts')).openNdjson(bytes, limits);
  if (/^[\\|]/.test(head)) {
    const { isIpac, openIpac } = await import('./ipac.ts');
    if (isIpac(bytes)) return openIpac(bytes, limits, areTyped);
  }
  if (head.startsWith('# %ECSV ')) return (await import('./ecsv.ts')).openEcsv(bytes, limits, areTyped);
  return (await import('./csv.ts')).openCsv(bytes, limits, areTyped);
}

/**
 * Like `openTable`, for a table that is read quickly. Undefined for a table beyond the bounds of `quick`, and for one
 * whose compression is damaged.
 * @throws TableError
 */
export async function openQuickTable(
  sent: Uint8Array,
  limits: TableLimits,
  areTyped: boolean,
  quick: TableLimits,
): Promise<InputTable | undefined> {
  let bytes: Uint8Array;
  try {
    bytes = unpacked(sent, quick);
  } catch (error) {
    if (error instanceof TableError) return undefined;
    throw error;
  }
  if (bytes.length > quick.maxBytes || (bytes !== sent && isGzip(bytes))) return undefined;
  const table = await openTable(bytes, limits, areTyped);
  return table.rows > quick.maxRows ? undefined : table;
}

/**
 * The columns of a Parquet file that is open already, with what its metadata declare.
 * @throws TableError if the metadata cannot be read
 */
export async function describeParquet(file: ParquetFile): Promise<DescribedTable> {
  return (await import('./parquet.ts')).describedParquet(file);
}

/** Text in UTF-16 with a byte-order mark, such as Excel's "Unicode text", as UTF-8; other bytes unchanged. */
function fromUtf16(bytes: Uint8Array): Uint8Array {
  const mark = bytes.length < 2 ? 0 : (bytes[0]! << 8) | bytes[1]!;
  if (mark !== 0xfffe && mark !== 0xfeff) return bytes;
  return new TextEncoder().encode(new TextDecoder(mark === 0xfffe ? 'utf-16le' : 'utf-16be').decode(bytes));
}

/**
 * Decompresses gzip.
 * @throws TableError; a memory error unchanged
 */
function unpacked(bytes: Uint8Array, { maxBytes }: TableLimits): Uint8Array {
  if (!isGzip(bytes)) return bytes;
  try {
    // RFC 1952, section 2.3.1: the stated length without compression. If it is correct, the decompressed bytes need
    // not be copied again.
    const length = new DataView(bytes.buffer, bytes.byteOffset, bytes.length).getUint32(bytes.length - 4, true);
    return gunzipSync(bytes, { maxOutputLength: maxBytes, chunkSize: Math.min(Math.max(length, 1 << 14), maxBytes) });
  } catch (error) {
    if (isOutOfMemory(error)) throw error;
    throw new TableError(`it is compressed, but damaged, or has more than ${maxBytes} bytes when decompressed`);
  }
}
