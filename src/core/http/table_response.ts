/** Makes the response of a table. Members of the JSON answer other than the objects become headers. */
import type { Format } from '@nearsky/astrotables/formats';
import type { TableHead } from '../answers/table_head.ts';
import { contentType, matchFormat, type TableFormat } from '../contract/formats.ts';
import type { Search } from './params.ts';
import { type Answer, bytesResponse, NEGOTIATED } from './respond.ts';

/** The headers that scripts from other origins may read. */
export const TABLE_HEADERS =
  'Retry-After, Link, X-Row-Count, X-Total-Count, X-Truncated, X-As-Of, X-Catalog-Outcomes, Content-Disposition';

/**
 * @param address the address of the request, without the query string; empty if links must be relative
 * @param search the query string
 */
export function tableResponse(
  format: TableFormat,
  head: TableHead,
  table: Uint8Array<ArrayBuffer>,
  address: string,
  search: Search,
): Answer {
  const { name, rows, total, nextCursor, asOf, truncated } = head;
  return bytesResponse(contentType(matchFormat(format)), table, {
    Vary: NEGOTIATED,
    'Access-Control-Expose-Headers': TABLE_HEADERS,
    'Content-Disposition': dispositionOf(name, matchFormat(format)),
    'X-Row-Count': `${rows}`,
    ...(total !== null && { 'X-Total-Count': `${total}` }),
    ...(truncated !== null && { 'X-Truncated': `${truncated}` }),
    ...(asOf !== null && { 'X-As-Of': asOf }),
    ...(nextCursor !== null && { Link: `<${nextAddress(address, search, nextCursor)}>; rel="next"` }),
  });
}

export function dispositionOf(name: string, { extensions }: Pick<Format, 'extensions'>): string {
  return `attachment; filename="nearsky-${name}.${extensions[0]}"`;
}

/** The address of the next page: the same request, with the cursor. */
function nextAddress(address: string, search: Search, cursor: string): string {
  return `${address}?${new URLSearchParams([...new Map([...search, ['cursor', cursor]])])}`;
}
