/** A file that a command sends as a table: a table, or a list as people write it. */
import { isUtf8 } from 'node:buffer';
import type { RaUnit } from '../../core/contract/table_match.ts';
import { tableOfList } from './search_text.js';

/** A longer text is a table. */
const MAX_LIST_CHARACTERS = 4 << 20;

/** The body of a request, and the unit that it must state, because the table of a list has degrees. */
export function sentTable(
  bytes: Buffer<ArrayBuffer>,
  raUnit: RaUnit | undefined,
): { readonly body: Buffer<ArrayBuffer>; readonly ra_unit: RaUnit | undefined } {
  const text = bytes.length <= 4 * MAX_LIST_CHARACTERS && isUtf8(bytes) ? bytes.toString() : '';
  const table = text.length > MAX_LIST_CHARACTERS ? undefined : tableOfList(text, raUnit);
  return table === undefined ? { body: bytes, ra_unit: raUnit } : { body: Buffer.from(table), ra_unit: undefined };
}
