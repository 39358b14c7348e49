/** Answers with one page of a walk over a circle (docs/contract.md, Cone). */

import { fragment } from '@nearsky/astrotables/bytes';
import type { QueryContext, Steps } from '../../core/answers/context.ts';
import { CONE_CURSOR, encodeCursor, stateOf } from '../../core/answers/cursor.ts';
import { type ObjectList, ObjectWriter } from '../../core/answers/object_writer.ts';
import { queryKind } from '../../core/answers/queries.ts';
import { BRACE } from '../../core/answers/shared_fragments.ts';
import { writeTime } from '../../core/base/times.ts';
import type { ConeQuery } from './queries.ts';
import { Listing, writePosition } from './result_list.ts';
import { inOrder, type Row, rowsWithin } from './search.ts';

const RESULT = fragment('{"index": 0');
const OBJECTS = fragment('", "objects": [');
const TOTAL = fragment('], "total": ');
const NOT_TRUNCATED = fragment(', "truncated": false, "truncation": null');
const AS_OF = fragment(', "as_of": ');
const PAGE_SIZE = fragment(', "page_size": ');
const NEXT_CURSOR = fragment(', "next_cursor": ');

export const CONE = queryKind<ConeQuery>({
  name: 'cone',
  answer: (query, context) => coneAnswer(query, context),
  list: (query, context, listOf) => coneAnswer(query, context, listOf()),
  objects: ({ pageSize }) => pageSize,
  searchesIndex: () => true,
  marksFiltered: true,
  resultsOf: 'one',
});

export function* coneAnswer(
  query: ConeQuery,
  context: QueryContext,
  objects: ObjectList = ObjectWriter.of(context, query.detail),
): Steps {
  const { detail, filters, pageSize, asOfUs, after } = query;
  const { body } = context;
  const rows = yield* rowsWithin(context, query, asOfUs);
  const ahead = inOrder(after ? rows.filter(row => isAfter(row, after)) : rows);
  const page = ahead.slice(0, pageSize);
  const status = rows.length > 0 ? 'objects_found' : 'no_rubin_object';
  const listing = new Listing(context, objects, detail, filters);
  body.fragment(RESULT);
  writePosition(body, query, status);
  body.fragment(OBJECTS);
  yield* listing.objectsOfRows(query, page);
  body.fragment(TOTAL);
  body.text(`${rows.length}`);
  body.fragment(NOT_TRUNCATED);
  yield* listing.marksOfFound({ status, rows });
  body.fragment(BRACE);
  objects.endResult(0);
  listing.open(1, false);
  writePage(query, ahead.length > page.length ? page.at(-1) : undefined, context);
  listing.close();
}

/** @param last the last object of the page, if another page follows */
function writePage(
  { asOfUs, ra, dec, radiusArcsec, detail, pageSize }: ConeQuery,
  last: Row | undefined,
  context: QueryContext,
): void {
  const { out } = context;
  out.fragment(AS_OF);
  writeTime(out, asOfUs);
  out.fragment(PAGE_SIZE);
  out.text(`${pageSize}`);
  out.fragment(NEXT_CURSOR);
  if (last) {
    const place = { timeUs: last.timeUs, diaObjectId: last.id, ...stateOf(context) };
    out.longText(`"${encodeCursor(CONE_CURSOR, { ...place, asOfUs, ra, dec, radiusArcsec, detail })}"`);
  } else {
    out.null();
  }
}

function isAfter(row: Row, { timeUs, diaObjectId }: NonNullable<ConeQuery['after']>): boolean {
  return row.timeUs > timeUs || (row.timeUs === timeUs && row.id > diaObjectId);
}
