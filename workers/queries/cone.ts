/** One page of a walk over a circle (wire contract, section 6). */
import { encodeConeCursor } from '../cursor.ts';
import { Rendered, toJson } from '../json.ts';
import type { ConeQuery } from '../tasks.ts';
import { formatTime } from '../times.ts';
import type { QueryContext } from './context.ts';
import { Listing } from './listing.ts';
import { inOrder, type Row, rowsWithin } from './search.ts';

export function coneAnswer(query: ConeQuery, context: QueryContext): string {
  const { sent, ra, dec, radiusArcsec, detail, filters, pageSize, asOfUs, after } = query;
  const rows = rowsWithin(context, query, asOfUs);
  const ahead = inOrder(after ? rows.filter(row => isAfter(row, after)) : rows);
  const page = ahead.slice(0, pageSize);
  const status = rows.length > 0 ? 'objects_found' : 'no_rubin_object';
  const listing = new Listing(context, detail, filters);
  const result = {
    index: 0,
    kind: 'position',
    input: new Rendered(sent),
    normalized: { kind: 'position', ra, dec, radius_arcsec: radiusArcsec },
    status,
    objects: listing.objectsOfRows(query, page),
    total: rows.length,
    truncated: false,
    truncation: null,
    ...listing.marksOfFound({ status, rows }),
  };
  const last = ahead.length > page.length ? page.at(-1) : undefined;
  const pinned = { asOfUs, ra, dec, radiusArcsec, detail };
  return toJson(
    listing.answer([result], false, {
      as_of: formatTime(asOfUs),
      page_size: pageSize,
      next_cursor: last ? encodeConeCursor({ timeUs: last.timeUs, diaObjectId: last.id, ...pinned }) : null,
    }),
  );
}

function isAfter(row: Row, { timeUs, diaObjectId }: NonNullable<ConeQuery['after']>): boolean {
  return row.timeUs > timeUs || (row.timeUs === timeUs && row.id > diaObjectId);
}
