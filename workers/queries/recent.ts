/** One page of the objects in a window that have matches (wire contract, section 9). */
import { encodeRecentCursor } from '../cursor.ts';
import { toJson } from '../json.ts';
import { ObjectWriter } from '../object_writer.ts';
import { OPEN_BRACE, SEPARATOR } from '../punctuation.ts';
import type { RecentQuery } from '../tasks.ts';
import { formatTime } from '../times.ts';
import type { QueryContext, Steps } from './context.ts';

export function* recentAnswer(query: RecentQuery, { store, facts, clock, object, out, body }: QueryContext): Steps {
  const { timeField, startUs, endUs, asOfUs, detail, pageSize, window } = query;
  const after = query.after ?? undefined;
  const onPassedOver = () => void clock.due;
  const found = store.recent({ timeField, startUs, endUs, asOfUs, limit: pageSize + 1, after, onPassedOver });
  const page = found.slice(0, pageSize);
  const writer = new ObjectWriter(body, facts, store, detail);
  let count = 0;
  for (const { diaObjectId } of page) {
    if (clock.due) yield;
    if (!store.readObject(diaObjectId, object)) continue;
    if (count++ > 0) body.fragment(SEPARATOR);
    writer.recentEntry(object);
  }
  const last = found.length > page.length ? page.at(-1) : undefined;
  const next = last ? encodeRecentCursor({ ...last, startUs, endUs, timeField, detail, asOfUs }) : null;
  const head = { window, time_field: timeField, detail, page_size: pageSize, count, next_cursor: next };
  out.fragment(OPEN_BRACE);
  out.fragment(facts.provenance);
  out.longText(`, ${toJson(head).slice(1, -1)}, "objects": [`);
  out.append(body);
  out.longText(`], "as_of": "${formatTime(asOfUs)}"}`);
}
