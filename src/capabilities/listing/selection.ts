/** Writes pages of objects that meet the filters of a request (docs/contract.md, Areas; Objects by time). */

import { latin1 } from '@nearsky/astrotables/bytes';
import { toJson } from '@nearsky/astrotables/json';
import type { InSteps, QueryContext, Steps } from '../../core/answers/context.ts';
import type { OfArchive } from '../../core/answers/cursor.ts';
import { type ObjectList, ObjectWriter, shownStatus } from '../../core/answers/object_writer.ts';
import {
  type FilterValues,
  isCount,
  type Page as PageOf,
  type Query,
  type TimeWindow,
} from '../../core/answers/queries.ts';
import type { SetFragments } from '../../core/answers/shared_fragments.ts';
import { formatTime } from '../../core/base/times.ts';
import type { DetailLevel, ListedStatus } from '../../core/contract/enums.ts';
import { MAX_LOOKED_AT } from '../../core/contract/limits.ts';
import type { ObjectView } from '../../core/store/object_record.ts';
import { Qualifier } from '../objects/qualify.ts';

/** Selects the objects that meet the filters, have the status, and whose time lies in the window. */
export interface Selected extends TimeWindow {
  readonly filters: FilterValues | null;
  readonly status: ListedStatus;
  /** The window as the answer shows it, with null for an open end. */
  readonly window: { readonly start: string | null; readonly end: string | null };
}

/** A page of a selection, or the number of its objects (`response` is then `count`). */
export interface SelectionQuery<Place = unknown> extends Query, Selected, PageOf<Place> {
  readonly response: string;
  readonly detail: DetailLevel;
  readonly asOfUs: number;
  readonly after: (Place & OfArchive) | null;
  readonly filters: FilterValues | null;
}

/** The cost of a selection, for its admission: it may have to examine many more objects than it lists. */
export const WEIGHT_OF_SELECTION = {
  objects: (query: SelectionQuery) => (query.filters || isCount(query) ? Number.POSITIVE_INFINITY : query.pageSize),
  listed: (query: SelectionQuery) => query.pageSize,
};

/** The objects to examine, in their order. */
export interface Candidates<T> {
  /** The candidates in pieces. Other work may run between two pieces. */
  readonly pieces: Iterable<readonly T[]>;
  /** The stored object; undefined if it does not belong to the walk. */
  read(candidate: T): ObjectView | undefined;
  readonly levelOf?: ((candidate: T) => number) | undefined;
  cursorAfter(candidate: T): string;
  /** The members of the answer after its provenance and before the members about the page. */
  readonly about: Readonly<Record<string, unknown>>;
}

/** The number of objects that can be skipped, using only the index, in the time that it takes to read one object. */
const UNREAD_A_READ = 16;

interface Page {
  readonly count: number;
  /** The cursor of the next page. */
  readonly next: string | null;
}

/** Writes a page. */
export function* writeSelection<T>(
  query: SelectionQuery,
  context: QueryContext,
  candidates: Candidates<T>,
  objects: ObjectList = ObjectWriter.of(context, query.detail),
): Steps {
  const { out, body } = context;
  const { levelOf } = candidates;
  const page = yield* selectPage(query, context, candidates, (object, candidate, count) =>
    objects.add(object, count, levelOf ? { credible_level: levelOf(candidate) } : {}),
  );
  out.longText(`${headOf(query, context, candidates, page, objects.sets)}, "objects": [`);
  out.append(body);
  out.longText(`], "as_of": "${formatTime(query.asOfUs)}"}`);
}

/** Writes the total number of objects instead of a page. */
export function writeCount(
  { window, timeField, status, filters }: SelectionQuery,
  { out, fragments }: QueryContext,
  about: Readonly<Record<string, unknown>>,
  total: number,
): void {
  const filtered = filters && Object.fromEntries(filters);
  const rest = { response: 'count', ...about, window, time_field: timeField, status, filters: filtered, total };
  out.fragment(fragments.start);
  out.longText(`, ${toJson(rest).slice(1)}`);
}

/**
 * Finds the objects of a page. The page ends early if many objects are skipped, or half of the remaining time is spent.
 * @param each called with each object, and the number of objects before it
 */
function* selectPage<T>(
  query: SelectionQuery,
  context: QueryContext,
  { pieces, read, cursorAfter }: Candidates<T>,
  each: (object: ObjectView, candidate: T, count: number) => void,
): InSteps<Page> {
  const { clock } = context;
  const { pageSize } = query;
  const meets = selector(query, context);
  const untilMs = clock.halfLeftMs;
  let count = 0;
  let effort = 0;
  let last: T | undefined;
  let isMore = false;
  // While other queries also need time, a short page with a cursor is better than a refusal.
  const isLate = () => last !== undefined && clock.isPast(untilMs);
  pages: for (const piece of pieces) {
    if (clock.due) yield;
    isMore = isLate();
    if (isMore) break;
    for (const candidate of piece) {
      if (clock.due) yield;
      isMore = count === pageSize || effort >= MAX_LOOKED_AT || isLate();
      if (isMore) break pages;
      const object = read(candidate);
      last = candidate;
      effort += object ? 1 : 1 / UNREAD_A_READ;
      if (object && meets(object)) each(object, candidate, count++);
    }
  }
  return { count, next: isMore ? cursorAfter(last!) : null };
}

/** The members of an answer except the last one, as JSON without its end. */
function headOf<T>(
  { window, timeField, status, detail, pageSize, filters }: SelectionQuery,
  { fragments }: QueryContext,
  { about }: Candidates<T>,
  { count, next }: Page,
  sets: ReadonlySet<SetFragments>,
): string {
  const head = {
    ...about,
    window,
    time_field: timeField,
    status,
    detail,
    page_size: pageSize,
    count,
    next_cursor: next,
  };
  const filtered = filters ? `, "filters": ${toJson(Object.fromEntries(filters))}` : '';
  const entries = Array.from(sets, ({ entry }) => latin1(entry)).join(', ');
  return `${latin1(fragments.start)}, ${toJson(head).slice(1, -1)}${filtered}, "provenance_sets": {${entries}}`;
}

/** A test whether a stored object has the status, meets the filters and has its time in the window. */
export function selector(query: SelectionQuery, context: QueryContext): (object: ObjectView) => boolean {
  const { filters, status, timeField, startUs, endUs } = query;
  const { fragments, store } = context;
  const qualifier = filters ? new Qualifier(filters, context) : undefined;
  return object => {
    const timeUs = timeField === 'ingest_time' ? object.ingestTimeUs : object.eventTimeUs;
    return (
      timeUs >= startUs &&
      timeUs < endUs &&
      (status === 'any' || shownStatus(object, fragments.current(store, object.current)) === status) &&
      (qualifier?.judge(object.decode()) ?? 'meets_filters') === 'meets_filters'
    );
  };
}
