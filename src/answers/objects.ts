/** The objects with matches by time, the latest first, that meet filters (docs/contract.md, Objects by time). */
import { MAX_LOOKED_AT } from '../contract/limits.ts';
import type { RecentPosition } from '../store/recent.ts';
import type { QueryContext, Steps } from './context.ts';
import { encodeObjectsCursor } from './cursor.ts';
import type { ObjectsQuery } from './queries.ts';
import { readListed } from './recent.ts';
import { type Candidates, writeSelection } from './selection.ts';

export function objectsAnswer(query: ObjectsQuery, context: QueryContext): Steps {
  return writeSelection(query, context, objectCandidates(query, context));
}

export function objectCandidates(query: ObjectsQuery, context: QueryContext): Candidates<RecentPosition> {
  const { timeField, startUs, endUs, asOfUs, pageSize, filters } = query;
  const limit = 1 + (filters ? MAX_LOOKED_AT : pageSize);
  return {
    pieces: context.store.recentInPieces({ timeField, startUs, endUs, asOfUs, limit, after: query.after ?? undefined }),
    read: place => readListed(place, timeField, context),
    cursorAfter: place => encodeObjectsCursor({ ...place, timeField, asOfUs, archive: context.store.archive }),
    about: {},
  };
}
