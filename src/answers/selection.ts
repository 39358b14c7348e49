/** Pages of the objects that meet a request's filters (docs/contract.md, Areas; Objects by time). */
import { toJson } from '../base/json_text.ts';
import { formatTime } from '../base/times.ts';
import { MAX_LOOKED_AT } from '../contract/limits.ts';
import type { ObjectView } from '../store/object_record.ts';
import type { QueryContext, Steps } from './context.ts';
import { BRACE, OPEN_BRACE, SEPARATOR } from './fragments.ts';
import { ObjectWriter } from './object_writer.ts';
import { Qualifier } from './qualify.ts';
import type { AreaQuery, ObjectsQuery } from './queries.ts';

type SelectionQuery = AreaQuery | ObjectsQuery;

/** The objects that are looked at, in their order. */
export interface Candidates<T> {
  /** In pieces: between two of them other work may run. */
  readonly pieces: Iterable<readonly T[]>;
  /** The stored object; undefined where it does not belong to the walk. */
  read(candidate: T): ObjectView | undefined;
  /** The JSON of further keys of its entry, with a comma before; or nothing. */
  furtherKeys(candidate: T): string;
  cursorAfter(candidate: T): string;
}

/** The objects that are not read, because the index tells enough of them, that take the time of one that is. */
const UNREAD_A_READ = 16;

/**
 * Writes a page.
 * @param about the statements of the answer between its provenance and the page's own
 */
export function* writeSelection<T>(
  query: SelectionQuery,
  context: QueryContext,
  { pieces, read, furtherKeys, cursorAfter }: Candidates<T>,
  about: Readonly<Record<string, unknown>>,
): Steps {
  const { clock, out, body, fragments, store } = context;
  const { window, timeField, detail, pageSize, asOfUs, filters } = query;
  const writer = new ObjectWriter(body, fragments, store, detail);
  const meets = selector(query, context);
  let count = 0;
  let effort = 0;
  let last: T | undefined;
  let isMore = false;
  pages: for (const piece of pieces) {
    if (clock.due) yield;
    for (const candidate of piece) {
      if (clock.due) yield;
      isMore = count === pageSize || effort >= MAX_LOOKED_AT;
      if (isMore) break pages;
      const object = read(candidate);
      last = candidate;
      effort += object ? 1 : 1 / UNREAD_A_READ;
      if (!object || !meets(object)) continue;
      if (count++ > 0) body.fragment(SEPARATOR);
      writer.entry(object);
      body.longText(furtherKeys(candidate));
      body.fragment(BRACE);
    }
  }
  const next = isMore ? cursorAfter(last!) : null;
  const head = { ...about, window, time_field: timeField, detail, page_size: pageSize, count, next_cursor: next };
  out.fragment(OPEN_BRACE);
  out.fragment(fragments.provenance);
  out.longText(`, ${toJson(head).slice(1, -1)}`);
  if (filters) out.longText(`, "filters": ${toJson(Object.fromEntries(filters))}`);
  out.longText(', "provenance_sets": {');
  let isFirst = true;
  for (const { entry } of writer.sets) {
    if (!isFirst) out.fragment(SEPARATOR);
    isFirst = false;
    out.fragment(entry);
  }
  out.longText('}, "objects": [');
  out.append(body);
  out.longText(`], "as_of": "${formatTime(asOfUs)}"}`);
}

/** Whether a stored object has a time in the window and meets the filters. */
export function selector(query: SelectionQuery, context: QueryContext): (object: ObjectView) => boolean {
  const { filters, timeField, startUs, endUs } = query;
  const qualifier = filters ? new Qualifier(filters, context) : undefined;
  return object => {
    const timeUs = timeField === 'ingest_time' ? object.ingestTimeUs : object.eventTimeUs;
    return (
      timeUs >= startUs && timeUs < endUs && (qualifier?.judge(object.decode()) ?? 'meets_filters') === 'meets_filters'
    );
  };
}
