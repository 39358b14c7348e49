/** Opens a table by what its bytes say it is: media types of uploads are wrong too often. */
import { gunzipSync } from 'node:zlib';
import { isGzip } from '../base/bytes.ts';
import { isOutOfMemory } from '../base/error_text.ts';
import { type InputTable, TableError, type TableLimits } from './input_table.ts';

/**
 * @param areTyped whether texts of CSV that are numbers are to become numbers, and those of ECSV what they are declared to be
 * @throws TableError
 */
export async function openTable(sent: Uint8Array, limits: TableLimits, areTyped: boolean): Promise<InputTable> {
  const bytes = unpacked(sent, limits);
  if (bytes.length > limits.maxBytes) throw new TableError(`it has more than ${limits.maxBytes} bytes`);
  const head = Buffer.from(bytes.subarray(0, 4096))
    .toString('latin1')
    .replace(/^\xef\xbb\xbf/, '')
    .trimStart();
  if (head === '') throw new TableError('it is empty');
  if (head.startsWith('PAR1')) return (await import('./parquet.ts')).openParquetTable(bytes, limits);
  if (head.startsWith('ARROW1') || head.startsWith('\xff\xff\xff\xff'))
    return (await import('./arrow.ts')).openArrow(bytes, limits);
  if (head.startsWith('SIMPLE  =')) return (await import('./fits.ts')).openFits(bytes, limits);
  if (head.startsWith('<')) return (await import('./votable.ts')).openVotable(bytes, limits);
  if (head.startsWith('{')) return (await import('./ndjson.ts')).openNdjson(bytes, limits);
  if (head.startsWith('['))
    throw new TableError('it begins with [, as JSON does that is one list: send an object a line (NDJSON)');
  if (/^--[^\r\n]*\r?\nContent-/i.test(head))
    throw new TableError('it is a form (multipart/form-data): send the table itself as the body');
  if (/^[\\|]/.test(head)) {
    const { isIpac, openIpac } = await import('./ipac.ts');
    if (isIpac(bytes)) return openIpac(bytes, limits, areTyped);
  }
  const [title = ''] = head.split(/[\r\n]/, 1);
  if (!/^#|\t/.test(title) && /^-+(?:\t-+)+\r?$/m.test(head))
    throw new TableError('it is a Tab-Separated Table (TST): send it as CSV, which TOPCAT and STILTS make of it');
  if (head.startsWith('# %ECSV ')) return (await import('./ecsv.ts')).openEcsv(bytes, limits, areTyped);
  return (await import('./csv.ts')).openCsv(bytes, limits, areTyped);
}

/** @throws TableError; an error of memory as it is */
function unpacked(bytes: Uint8Array, { maxBytes }: TableLimits): Uint8Array {
  if (!isGzip(bytes)) return bytes;
  try {
    // RFC 1952, section 2.3.1: the length without compression. Where it is true, what is unpacked is not copied once more.
    const length = new DataView(bytes.buffer, bytes.byteOffset, bytes.length).getUint32(bytes.length - 4, true);
    return gunzipSync(bytes, { maxOutputLength: maxBytes, chunkSize: Math.min(Math.max(length, 1 << 14), maxBytes) });
  } catch (error) {
    if (isOutOfMemory(error)) throw error;
    throw new TableError(`it is compressed, and damaged or of more than ${maxBytes} bytes without that`);
  }
}
