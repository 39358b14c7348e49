/**
 * Answers with the objects that have a status and meet filters, by time, the latest first (docs/contract.md, Objects by
 * time).
 */

import type { InSteps, QueryContext, Steps } from '../../core/answers/context.ts';
import { encodeCursor, OBJECTS_CURSOR, stateOf } from '../../core/answers/cursor.ts';
import { type QueryKind, queryKind } from '../../core/answers/queries.ts';
import { type RemovedSince, removedSince } from '../../core/answers/removed_since.ts';
import type { ResponseMode } from '../../core/contract/enums.ts';
import { readCounts } from '../../core/store/counts.ts';
import { ObjectView } from '../../core/store/object_record.ts';
import { type RecentPosition, type RecentQuery, recentInPieces } from '../../core/store/recent.ts';
import { readListed } from '../recent/recent_answer.ts';
import {
  type Candidates,
  type SelectionQuery,
  selector,
  WEIGHT_OF_SELECTION,
  writeCount,
  writeSelection,
} from './selection.ts';

/** One page of the objects by time, the latest first; or their number. */
export interface ObjectsQuery extends SelectionQuery<RecentPosition> {
  readonly kind: QueryKind<ObjectsQuery>;
  readonly response: ResponseMode;
}

export const OBJECTS_QUERY = queryKind<ObjectsQuery>({
  name: 'objects',
  answer: objectsAnswer,
  list: (query, context, listOf) => writeSelection(query, context, objectCandidates(query, context), listOf()),
  ...WEIGHT_OF_SELECTION,
});

export function* objectsAnswer(query: ObjectsQuery, context: QueryContext): Steps {
  if (query.response === 'count') writeCount(query, context, {}, yield* countOf(query, context));
  else yield* writeSelection(query, context, objectCandidates(query, context));
}

/** The number of objects. Objects are read only if there are filters, or both a status and a time window. */
function* countOf(query: ObjectsQuery, context: QueryContext): InSteps<number> {
  const { clock, store, stored } = context;
  const { filters, status, window } = query;
  if (!filters && window.start === null && window.end === null && (stored.isPresent || status === 'any')) {
    return status === 'any' ? stored.countObjects() : readCounts(store.databases).statuses[status];
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

function objectCandidates(query: ObjectsQuery, context: QueryContext): Candidates<RecentPosition> {
  const { filters, status, timeField, pageSize } = query;
  // Whether every object that is read belongs to the walk, unless it is removed meanwhile. By event time, some may have
  // been ingested too late for it.
  const areAllListed = !filters && status === 'any' && timeField === 'ingest_time';
  return candidates(query, context, areAllListed ? pageSize + 1 : undefined);
}

/** @param first the entries of the first read */
function candidates(query: ObjectsQuery, context: QueryContext, first?: number): Candidates<RecentPosition> {
  const { timeField, status, startUs, endUs, asOfUs } = query;
  const { store, stored } = context;
  const listed: RecentQuery = {
    of: needMatch(query, context) ? 'matched' : 'all',
    timeField,
    startUs,
    endUs,
    asOfUs,
    limit: Number.POSITIVE_INFINITY,
    ...(first !== undefined && { first }),
    after: query.after ?? undefined,
  };
  return {
    pieces:
      stored.entry === undefined ? recentInPieces(store.databases, listed) : piecesAt(stored.entry, listed, context),
    read: place => {
      const object = readListed(place, timeField, context);
      return object && object.ingestTimeUs <= asOfUs ? object : undefined;
    },
    cursorAfter: place => encodeCursor(OBJECTS_CURSOR, { ...place, timeField, status, asOfUs, ...stateOf(context) }),
    about: {},
  };
}

/** The number of listed objects whose former state is read without a yield. */
const READ_AT_ONCE = 64;

/**
 * The listing after a journal entry, from the present one: without the objects that were stored, or got their first
 * match, later, and with those that were removed since.
 */
function* piecesAt(entry: number, query: RecentQuery, context: QueryContext): Iterable<readonly RecentPosition[]> {
  const { store, stored, clock } = context;
  const removed = removedSince(store, entry);
  const former = new FormerListing(query, removed);
  let last = query.after;
  for (const piece of recentInPieces(store.databases, query)) {
    for (let from = 0; from < piece.length; from += READ_AT_ONCE) {
      const part = piece.slice(from, from + READ_AT_ONCE);
      // At a later step, the present state may be a later one.
      if (stored.isPresent) yield part;
      else {
        for (const _ of removed.read(clock)) yield PAUSE;
        yield former.between(last, part);
      }
      last = part.at(-1);
    }
    if (piece.length === 0) yield PAUSE;
  }
  if (stored.isPresent) return;
  for (const _ of removed.read(clock)) yield PAUSE;
  yield former.between(last, undefined);
}

/** A piece without objects. */
const PAUSE: readonly RecentPosition[] = [];

/** Finds the places of objects in a listing after a journal entry. */
class FormerListing {
  readonly #query: RecentQuery;
  readonly #removed: RemovedSince;
  readonly #view = new ObjectView();
  /** The places of removed objects, in any order, and the number of objects among which they were found. */
  #places: readonly RecentPosition[] = [];
  #count = 0;

  constructor(query: RecentQuery, removed: RemovedSince) {
    [this.#query, this.#removed] = [query, removed];
  }

  /**
   * The keys after `last` in one part of the present listing. Call this only when all removals have been read.
   * @param part undefined after the last part
   */
  between(last: RecentPosition | undefined, part: readonly RecentPosition[] | undefined): readonly RecentPosition[] {
    const { stored, ids, objects } = this.#removed;
    if (this.#count < objects.length) {
      this.#places = objects.map(object => this.#placeOf(object)).filter(place => place !== undefined);
      this.#count = objects.length;
    }
    const end = part?.at(-1);
    const view = this.#view;
    const kept =
      part?.filter(({ diaObjectId: id }) => !ids.has(id) && stored.readObject(id, view) && this.#placeOf(view)) ?? [];
    const added = this.#places.filter(place => (!last || order(last, place) < 0) && (!end || order(place, end) <= 0));
    return added.length === 0 ? kept : [...kept, ...added].sort(order);
  }

  #placeOf(object: Listed): RecentPosition | undefined {
    const { of, timeField, startUs, endUs, asOfUs } = this.#query;
    const { diaObjectId, ingestTimeUs, eventTimeUs, hasMatches } = object;
    const timeUs = timeField === 'ingest_time' ? ingestTimeUs : eventTimeUs;
    if (timeUs < startUs || timeUs >= endUs || (of === 'matched' && !hasMatches)) return undefined;
    // The present listing leaves out such objects, too.
    const isLate = ingestTimeUs > asOfUs && (of === 'matched' || timeField === 'ingest_time');
    return isLate ? undefined : { timeUs, diaObjectId };
  }
}

type Listed = Pick<ObjectView, 'diaObjectId' | 'ingestTimeUs' | 'eventTimeUs' | 'hasMatches'>;

/** The order of the listing. */
function order(a: RecentPosition, b: RecentPosition): number {
  return b.timeUs - a.timeUs || (a.diaObjectId < b.diaObjectId ? -1 : Number(a.diaObjectId > b.diaObjectId));
}

/** Whether all listed objects must have matches. */
function needMatch({ status, filters }: ObjectsQuery, { fragments }: QueryContext): boolean {
  const known = fragments.settings.catalogs.filters;
  return status === 'coincident_sources' || !!filters?.some(([name]) => known.get(name)?.isMatchFilter);
}
