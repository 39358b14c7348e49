/**
 * Answers with the objects that have a status and meet filters, by time, the latest first (docs/contract.md, Objects by
 * time).
 */
import type { RecentPosition } from '../store/recent.ts';
import type { QueryContext, Steps } from './context.ts';
import { encodeCursor, OBJECTS_CURSOR } from './cursor.ts';
import type { ObjectsQuery } from './queries.ts';
import { readListed } from './recent.ts';
import { type Candidates, selector, writeCount, writeSelection } from './selection.ts';

export function* objectsAnswer(query: ObjectsQuery, context: QueryContext): Steps {
  if (query.response === 'count') writeCount(query, context, {}, yield* countOf(query, context));
  else yield* writeSelection(query, context, objectCandidates(query, context));
}

/** The number of objects. Objects are read only if there are filters, or both a status and a time window. */
function* countOf(query: ObjectsQuery, context: QueryContext): Generator<undefined, number, undefined> {
  const { clock, store } = context;
  const { filters, status, window } = query;
  if (!filters && window.start === null && window.end === null) {
    const { objects, statuses } = store.counts();
    return status === 'any' ? objects : statuses[status];
  }
  const { pieces, read } = candidates(query, context);
  const meets = filters || status !== 'any' ? selector(query, context) : undefined;
  let count = 0;
  for (const piece of pieces) {
    if (clock.due) yield;
    if (!meets) {
      count += piece.length;
      continue;
    }
    for (const place of piece) {
      if (clock.due) yield;
      const object = read(place);
      if (object && meets(object)) count++;
    }
  }
  return count;
}

export function objectCandidates(query: ObjectsQuery, context: QueryContext): Candidates<RecentPosition> {
  const { filters, status, timeField, pageSize } = query;
  // Whether every object that is read belongs to the walk, unless it is removed meanwhile. By event time, some may have
  // been ingested too late for it.
  const areAllListed = !filters && status === 'any' && timeField === 'ingest_time';
  return candidates(query, context, areAllListed ? pageSize + 1 : undefined);
}

/** @param first the entries of the first read */
function candidates(query: ObjectsQuery, context: QueryContext, first?: number): Candidates<RecentPosition> {
  const { timeField, status, startUs, endUs, asOfUs } = query;
  const of = needMatch(query, context) ? 'matched' : 'all';
  return {
    pieces: context.store.recentInPieces({
      of,
      timeField,
      startUs,
      endUs,
      asOfUs,
      limit: Number.POSITIVE_INFINITY,
      ...(first !== undefined && { first }),
      after: query.after ?? undefined,
    }),
    read: place => {
      const object = readListed(place, timeField, context);
      return object && object.ingestTimeUs <= asOfUs ? object : undefined;
    },
    cursorAfter: place =>
      encodeCursor(OBJECTS_CURSOR, { ...place, timeField, status, asOfUs, archive: context.store.archive }),
    about: {},
  };
}

/** Whether all listed objects must have matches. */
function needMatch({ status, filters }: ObjectsQuery, { fragments }: QueryContext): boolean {
  const known = fragments.settings.catalogs.filters;
  return status === 'coincident_sources' || !!filters?.some(([name]) => known.get(name)?.isMatchFilter);
}
