/**
 * The ids of catalog sources. Most catalogs number their sources with 64-bit integers; others only have names, such as
 * `PSS J1443+2724`. The contract writes both as strings.
 */

/** A 64-bit integer, or a string that passes `isTextId`; the catalog's definition decides. */
export type SourceId = bigint | string;

/** The types of a catalog's ids. */
export type IdType = 'int64' | 'text';

/** The maximum length of a text id in UTF-8, bytes. */
export const MAX_SOURCE_ID_BYTES = 80;

/** The rule for text ids, for messages. */
export const TEXT_ID = `a text of 1 to ${MAX_SOURCE_ID_BYTES} bytes in UTF-8, not blank, without control characters`;

const ASCII_ID = /^[ -~]*[!-~][ -~]*$/;
/** Characters that some format cannot hold. U+FFFD is included, because it replaces bytes that were not UTF-8. */
const REFUSED = /[\p{Cc}\ufffd-\uffff]/u;

/** Whether a string can be the id of a source. */
export function isTextId(text: string): boolean {
  if (text.length > MAX_SOURCE_ID_BYTES) return false;
  if (ASCII_ID.test(text)) return true;
  return (
    text.trim() !== '' && text.isWellFormed() && !REFUSED.test(text) && utf8.encode(text).length <= MAX_SOURCE_ID_BYTES
  );
}

const DECIMAL = /^(?:0|-?[1-9]\d{0,18})$/;

/** The 64-bit integer with this decimal form; undefined for any other text, such as `007` and `+7`. */
export function integerId(text: string): bigint | undefined {
  const id = DECIMAL.test(text) ? BigInt(text) : undefined;
  return id !== undefined && BigInt.asIntN(64, id) === id ? id : undefined;
}

/** Compares two ids of one catalog: integers by value, strings by their bytes in UTF-8. */
export function compareIds(a: SourceId, b: SourceId): number {
  if (typeof a === 'string' && typeof b === 'string') return compareUtf8(a, b);
  return a < b ? -1 : a > b ? 1 : 0;
}

const utf8 = new TextEncoder();

/** UTF-16 sorts code points beyond 2^16 before some smaller ones; UTF-8 sorts all by value. */
function compareUtf8(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    if (a.charCodeAt(i) === b.charCodeAt(i)) continue;
    // If two surrogate pairs differ only in the second half, the second halves decide the order.
    return rankOf(a.charCodeAt(i)) - rankOf(b.charCodeAt(i));
  }
  return a.length - b.length;
}

/** The rank of a code unit. Surrogates come after all others. */
const rankOf = (unit: number) => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit);
