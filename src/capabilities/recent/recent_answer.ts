/** Answers with a page of the objects in a time window that have matches (docs/contract.md, Recent crossmatches). */

import { toJson } from '@nearsky/astrotables/json';
import type { QueryContext, Steps } from '../../core/answers/context.ts';
import type { OfArchive } from '../../core/answers/cursor.ts';
import { encodeCursor, RECENT_CURSOR } from '../../core/answers/cursor.ts';
import { type ObjectList, ObjectWriter } from '../../core/answers/object_writer.ts';
import type { Page, Query, QueryKind, TimeWindow } from '../../core/answers/queries.ts';
import { queryKind } from '../../core/answers/queries.ts';
import { formatTime } from '../../core/base/times.ts';
import type { DetailLevel, TimeField } from '../../core/contract/enums.ts';
import type { ObjectView } from '../../core/store/object_record.ts';
import { type RecentPosition, recentInPieces } from '../../core/store/recent.ts';
import { DamagedValue } from '../../core/store/store_error.ts';

/** A page of the objects in a time window that have matches. */
export interface RecentQuery extends Query, TimeWindow, Page<RecentPosition> {
  readonly kind: QueryKind<RecentQuery>;
  readonly after: (RecentPosition & OfArchive) | null;
  readonly detail: DetailLevel;
  readonly asOfUs: number;
  /** The window as the answer shows it. */
  readonly window: { readonly start: string; readonly end: string };
}

export const RECENT = queryKind<RecentQuery>({
  name: 'recent',
  answer: (query, context) => recentAnswer(query, context),
  list: (query, context, listOf) => recentAnswer(query, context, listOf()),
  objects: ({ pageSize }) => pageSize,
});

export function* recentAnswer(
  query: RecentQuery,
  context: QueryContext,
  objects: ObjectList = ObjectWriter.of(context, query.detail),
): Steps {
  const { store, fragments, clock, out, body } = context;
  const { timeField, startUs, endUs, asOfUs, detail, pageSize, window } = query;
  const after = query.after ?? undefined;
  let count = 0;
  let last: RecentPosition | undefined;
  let isMore = false;
  pieces: for (const places of recentInPieces(store.databases, {
    of: 'matched',
    timeField,
    startUs,
    endUs,
    asOfUs,
    // Objects that are removed meanwhile make room for others.
    limit: Number.POSITIVE_INFINITY,
    first: pageSize + 1,
    after,
  })) {
    if (clock.due) yield;
    for (const place of places) {
      isMore = count === pageSize;
      if (isMore) break pieces;
      if (clock.due) yield;
      const object = readListed(place, timeField, context);
      if (!object?.hasMatches) continue;
      objects.addRecent(object, count++);
      last = place;
    }
  }
  const pinned = { startUs, endUs, timeField, detail, asOfUs };
  const next = isMore ? encodeCursor(RECENT_CURSOR, { ...last!, ...pinned, archive: store.archive }) : null;
  const head = { window, time_field: timeField, detail, page_size: pageSize, count, next_cursor: next };
  out.fragment(fragments.start);
  out.longText(`, ${toJson(head).slice(1, -1)}, "objects": [`);
  out.append(body);
  out.longText(`], "as_of": "${formatTime(asOfUs)}"}`);
}

/** Reads the object at a position of the listing by time; undefined if it was removed since the listing was read. */
export function readListed(
  { timeUs, diaObjectId }: RecentPosition,
  timeField: TimeField,
  { store, stored, object, sequence }: QueryContext,
): ObjectView | undefined {
  const isStored = stored.readObject(diaObjectId, object);
  if (isStored && timeUs === (timeField === 'ingest_time' ? object.ingestTimeUs : object.eventTimeUs)) return object;
  if (!store.removedSince(sequence)?.(diaObjectId))
    throw new DamagedValue(`the place of object ${diaObjectId} in the listing by ${timeField}`);
  return undefined;
}
