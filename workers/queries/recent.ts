/** One page of the objects in a window that have matches (wire contract, section 9). */
import { encodeRecentCursor } from '../cursor.ts';
import { ObjectEncoder } from '../encode.ts';
import { rendered, toJson } from '../json.ts';
import type { RecentQuery } from '../tasks.ts';
import { formatTime } from '../times.ts';
import type { QueryContext } from './context.ts';

export function recentAnswer(query: RecentQuery, { store, facts, deadline }: QueryContext): string {
  const { timeField, startUs, endUs, asOfUs, detail, pageSize, window } = query;
  const after = query.after ?? undefined;
  const onPassedOver = () => deadline.check();
  const found = store.recent({ timeField, startUs, endUs, asOfUs, limit: pageSize + 1, after, onPassedOver });
  const page = found.slice(0, pageSize);
  const encoder = new ObjectEncoder(facts, store, detail);
  const objects = page.flatMap(({ diaObjectId }) => {
    deadline.check();
    const object = store.getObject(diaObjectId);
    return object ? [rendered(encoder.recentEntry(object))] : [];
  });
  const last = found.length > page.length ? page.at(-1) : undefined;
  return toJson({
    provenance: facts.provenance,
    window,
    time_field: timeField,
    detail,
    page_size: pageSize,
    count: objects.length,
    next_cursor: last ? encodeRecentCursor({ ...last, startUs, endUs, timeField, detail, asOfUs }) : null,
    objects,
    as_of: formatTime(asOfUs),
  });
}
