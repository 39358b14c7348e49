/** The objects with matches by time, the latest first, that meet filters (docs/contract.md, Objects by time). */
import { MAX_LOOKED_AT } from '../contract/limits.ts';
import type { RecentPosition } from '../store/recent.ts';
import type { QueryContext, Steps } from './context.ts';
import { encodeObjectsCursor } from './cursor.ts';
import type { ObjectsQuery } from './queries.ts';
import { readListed } from './recent.ts';
import { writeSelection } from './selection.ts';

export function objectsAnswer(query: ObjectsQuery, context: QueryContext): Steps {
  const { timeField, startUs, endUs, asOfUs, pageSize, filters } = query;
  const limit = 1 + (filters ? MAX_LOOKED_AT : pageSize);
  const candidates = {
    pieces: context.store.recentInPieces({ timeField, startUs, endUs, asOfUs, limit, after: query.after ?? undefined }),
    read: (place: RecentPosition) => readListed(place, timeField, context),
    furtherKeys: () => '',
    cursorAfter: (place: RecentPosition) =>
      encodeObjectsCursor({ ...place, timeField, asOfUs, archive: context.store.archive }),
  };
  return writeSelection(query, context, candidates, {});
}
