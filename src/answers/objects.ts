/**
 * Answers with the objects that have matches and meet the filters, in order of time, the latest first
 * (docs/contract.md, Objects by time).
 */
import { MAX_LOOKED_AT } from '../contract/limits.ts';
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

/** The number of objects. It reads them only if there are filters. */
function* countOf(query: ObjectsQuery, context: QueryContext): Generator<undefined, number, undefined> {
  const { clock } = context;
  const { pieces, read } = candidates(query, context, Number.POSITIVE_INFINITY);
  const meets = query.filters ? selector(query, context) : undefined;
  let count = 0;
  for (const piece of pieces) {
    if (clock.due) yield;
    if (!meets) {
      count += piece.length;
      continue;
    }
    for (const place of piece) {
      if (clock.due) yield;
      if (meets(read(place)!)) count++;
    }
  }
  return count;
}

export function objectCandidates(query: ObjectsQuery, context: QueryContext): Candidates<RecentPosition> {
  return candidates(query, context, 1 + (query.filters ? MAX_LOOKED_AT : query.pageSize));
}

function candidates(query: ObjectsQuery, context: QueryContext, limit: number): Candidates<RecentPosition> {
  const { timeField, startUs, endUs, asOfUs } = query;
  return {
    pieces: context.store.recentInPieces({ timeField, startUs, endUs, asOfUs, limit, after: query.after ?? undefined }),
    read: place => readListed(place, timeField, context),
    cursorAfter: place => encodeCursor(OBJECTS_CURSOR, { ...place, timeField, asOfUs, archive: context.store.archive }),
    about: {},
  };
}
