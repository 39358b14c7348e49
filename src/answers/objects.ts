/**
 * Answers with the objects that have a status and meet filters, by time, the latest first (docs/contract.md, Objects by
 * time).
 */
import { ObjectView } from '../store/object_record.ts';
import type { RecentPosition, RecentQuery } from '../store/recent.ts';
import type { Store } from '../store/store.ts';
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
  const { clock, store, at } = context;
  const { filters, status, window } = query;
  if (!filters && window.start === null && window.end === null && (at === undefined || status === 'any')) {
    const { objects, statuses } = store.counts();
    if (at !== undefined) return store.objectsAt(at);
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
  const { timeField, status, startUs, endUs, asOfUs, state } = query;
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
    pieces: state?.at === undefined ? context.store.recentInPieces(listed) : piecesAt(state.at, listed, context),
    read: place => {
      const object = readListed(place, timeField, context);
      return object && object.ingestTimeUs <= asOfUs ? object : undefined;
    },
    cursorAfter: place =>
      encodeCursor(OBJECTS_CURSOR, {
        ...place,
        timeField,
        status,
        asOfUs,
        archive: context.store.archive,
        at: state?.at,
      }),
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
  const { store } = context;
  const former = new FormerListing(entry, query, store);
  let last = query.after;
  for (const piece of store.recentInPieces(query)) {
    for (let from = 0; from < piece.length; from += READ_AT_ONCE) {
      const part = piece.slice(from, from + READ_AT_ONCE);
      // At a later step, the present state may be a later one.
      const places = context.at === undefined ? part : former.between(last, part);
      yield places;
      last = part.at(-1);
    }
    // A piece without objects is a pause.
    if (piece.length === 0) yield piece;
  }
  if (context.at !== undefined) yield former.between(last, undefined);
}

/** Finds the places of objects in a listing after a journal entry. */
class FormerListing {
  readonly #entry: number;
  readonly #query: RecentQuery;
  readonly #store: Store;
  readonly #view = new ObjectView();
  #lastRemoval = 0;
  /** The objects that were removed since the entry, and the places of those that were listed. */
  #removed: ReadonlySet<bigint> = new Set();
  #places: readonly RecentPosition[] = [];

  constructor(entry: number, query: RecentQuery, store: Store) {
    [this.#entry, this.#query, this.#store] = [entry, query, store];
  }

  /**
   * The places after `last`, up to the end of a part of the present listing.
   * @param part undefined after the last part
   */
  between(last: RecentPosition | undefined, part: readonly RecentPosition[] | undefined): readonly RecentPosition[] {
    this.#findRemoved();
    const end = part?.at(-1);
    const kept = part?.filter(({ diaObjectId }) => !this.#removed.has(diaObjectId) && this.#placeOf(diaObjectId)) ?? [];
    const added = this.#places.filter(place => (!last || order(last, place) < 0) && (!end || order(place, end) <= 0));
    return added.length === 0 ? kept : [...kept, ...added].sort(order);
  }

  #findRemoved(): void {
    const lastRemoval = this.#store.lastRemoval();
    if (lastRemoval <= this.#entry || lastRemoval === this.#lastRemoval) return;
    this.#lastRemoval = lastRemoval;
    const removed = [...this.#store.removedPositions(this.#entry).keys()];
    this.#removed = new Set(removed);
    this.#places = removed.map(id => this.#placeOf(id)).filter(place => place !== undefined);
  }

  #placeOf(diaObjectId: bigint): RecentPosition | undefined {
    const { of, timeField, startUs, endUs, asOfUs } = this.#query;
    const view = this.#view;
    if (!this.#store.readObject(diaObjectId, view, this.#entry)) return undefined;
    const timeUs = timeField === 'ingest_time' ? view.ingestTimeUs : view.eventTimeUs;
    if (timeUs < startUs || timeUs >= endUs || (of === 'matched' && !view.hasMatches)) return undefined;
    // As in the present listing.
    const isLate = view.ingestTimeUs > asOfUs && (of === 'matched' || timeField === 'ingest_time');
    return isLate ? undefined : { timeUs, diaObjectId };
  }
}

/** The order of the listing. */
function order(a: RecentPosition, b: RecentPosition): number {
  return b.timeUs - a.timeUs || (a.diaObjectId < b.diaObjectId ? -1 : Number(a.diaObjectId > b.diaObjectId));
}

/** Whether all listed objects must have matches. */
function needMatch({ status, filters }: ObjectsQuery, { fragments }: QueryContext): boolean {
  const known = fragments.settings.catalogs.filters;
  return status === 'coincident_sources' || !!filters?.some(([name]) => known.get(name)?.isMatchFilter);
}
