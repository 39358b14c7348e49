/** Answers from the state after an earlier journal entry. */
import { SkyIndex } from '@nearsky/sky-index';
import { Unavailable } from '../base/refusal.ts';
import { removedRows } from '../generations/removed_rows.ts';
import type { PublishedGeneration } from '../generations/tasks.ts';
import { historyStart, whyNotInHistory } from '../store/history.ts';
import { ObjectsAt } from '../store/objects_at.ts';
import { readLastRemoval } from '../store/removals.ts';
import type { StoreReader } from '../store/store_reader.ts';
import { Clock, NotInHistory, type Past, type QueryContext, type Steps } from './context.ts';
import type { Query } from './queries.ts';
import { type RemovedSince, removedSince } from './removed_since.ts';

type Stated = Omit<QueryContext, Decided | 'store'> &
  Mutable<Pick<QueryContext, Decided>> & { readonly store: StoreReader };
type Decided = 'index' | 'stored' | 'past';
type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/**
 * Begins a query: if the archive keeps a history, the query gets a state, which is the newest one unless the request
 * names another. Call this before the first step, which must be that of `stateSteps` if there are any.
 * @returns the query to answer. The first page of a walk then has the latest ingest time of its state as `asOfUs`
 * @throws NotInHistory; Unavailable if the index is behind the requested entry
 */
export function beginState(query: Query, context: Stated): Query {
  const { store, sequence } = context;
  const { state } = query;
  context.stored = store;
  context.past = undefined;
  if (!state) return query;
  const oldest = historyStart(store.databases);
  const usesIndex = searchesIndex(query);
  const entry = state.at ?? (usesIndex || oldest === undefined ? sequence : store.lastSequence());
  if (oldest === undefined || entry < oldest || !store.hasEntry(entry)) {
    if (state.isRequired) throw new NotInHistory(whyNotInHistory(store.databases, entry));
    return query;
  }
  if (usesIndex && entry > sequence) throw new Unavailable('the index is behind the journal entry of at');
  const stored = store.at(entry);
  context.stored = stored;
  if (usesIndex && readLastRemoval(store.databases) <= entry) context.past = pastOf(stored, context);
  const isFirstPage = query.after === null && query.response !== 'count';
  return isFirstPage ? { ...query, asOfUs: stored.latestIngestUs() } : query;
}

/**
 * Continues a query after a yield.
 * @throws Unavailable if the history has been removed meanwhile
 */
export function continueState({ store, stored: { entry } }: QueryContext): void {
  if (entry === undefined) return;
  const oldest = historyStart(store.databases);
  if (oldest === undefined || oldest > entry) throw new Unavailable('the history of the objects was removed meanwhile');
}

/** The state that a search of a whole generation reads, and how to read it. */
export interface SearchedState extends Past {
  readonly entry: number;
  /** Whether the archive keeps the state, so that `at` with the entry reads it again. */
  readonly isKept: boolean;
  readonly index: SkyIndex;
}

/**
 * The state after an entry, or the newest one that the generation has, for a search outside of queries.
 * @throws NotInHistory; Unavailable if the generation does not have the entry yet; DamagedValue
 */
export function searchedState(
  store: StoreReader,
  generation: PublishedGeneration,
  index: SkyIndex,
  at: number | undefined,
): SearchedState {
  const { sequence, purgedTo } = generation;
  const oldest = historyStart(store.databases);
  const entry = at ?? sequence;
  if (oldest === undefined || entry < oldest || !store.hasEntry(entry)) {
    if (at !== undefined) throw new NotInHistory(whyNotInHistory(store.databases, entry));
    return { entry, isKept: false, index, isLeftOut: removedRows(store, generation) };
  }
  if (entry > sequence) throw new Unavailable('the index is behind the journal entry of at');
  const removed = readLastRemoval(store.databases) > entry ? removedSince(store, entry) : undefined;
  for (const _ of removed?.read(new Clock()) ?? []);
  const context = { store, sequence, purgedTo, index };
  const { isLeftOut } = pastOf(store.at(entry), context, removed);
  return { entry, isKept: true, index: context.index, isLeftOut };
}

/** Whether the state of a query is one that the index must cover. */
export function searchesIndex(query: Query): boolean {
  return query.kind.searchesIndex?.(query) ?? false;
}

/**
 * The steps that find the state of a query before it is answered; undefined if `beginState` has found it.
 * @throws NotInHistory; DamagedValue
 */
export function stateSteps(query: Query, context: Stated): Steps | undefined {
  const { stored, past } = context;
  return !past && stored instanceof ObjectsAt && searchesIndex(query) ? findPast(stored, context) : undefined;
}

function* findPast(stored: ObjectsAt, context: Stated): Steps {
  const removed = removedSince(context.store, stored.entry);
  yield* removed.read(context.clock);
  context.past = pastOf(stored, context, removed);
}

/**
 * Positions never change. So the state after an entry has the objects of the generation that were stored by then, and
 * the objects that were removed since, which become a further arena of the index.
 */
function pastOf(
  stored: ObjectsAt,
  context: Pick<Stated, 'store' | 'sequence' | 'purgedTo' | 'index'>,
  removed?: RemovedSince,
): Past {
  const { entry } = stored;
  const { store, sequence, index } = context;
  const own = index.arenas.length;
  if (removed?.arena) context.index = new SkyIndex([...index.arenas, removed.arena]);
  const isVoid = removedRows(store, context);
  // Objects that are removed later are not in the further arena.
  const known = removed?.ids.size ?? 0;
  if (!removed && !isVoid && entry === sequence) return { isLeftOut: undefined };
  return {
    isLeftOut: row =>
      row.arena < own &&
      ((removed?.ids.get(row.id) ?? known) < known ||
        isVoid?.(row) ||
        (entry < sequence && !stored.isStored(row.id)) ||
        false),
  };
}
