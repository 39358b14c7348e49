/** Answers from the state after an earlier journal entry. */
import { SkyIndex } from '@nearsky/sky-index';
import { Unavailable } from '../base/refusal.ts';
import { removedRows } from '../generations/removed_rows.ts';
import { NotInHistory, type Past, type QueryContext, type Steps } from './context.ts';
import type { Query } from './queries.ts';
import { type RemovedSince, removedSince } from './removed_since.ts';

type Stated = Omit<QueryContext, 'index' | 'at' | 'past'> & Mutable<Pick<QueryContext, 'index' | 'at' | 'past'>>;
type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/**
 * Begins a query: if the archive keeps a history, the query gets a state, which is the newest one unless the request
 * names another. Call this before the first step, which must be that of `stateSteps` if there are any.
 * @returns the query to answer. The first page of a walk then has the latest ingest time of its state as `asOfUs`
 * @throws NotInHistory; Unavailable if the index is behind the requested entry
 */
export function beginState(query: Query, context: Stated): Query {
  context.at = undefined;
  context.past = undefined;
  const state = 'state' in query ? query.state : undefined;
  if (!state) return query;
  const { store, sequence } = context;
  const oldest = store.historyStart();
  const usesIndex = searchesIndex(query);
  const entry = state.at ?? (usesIndex || oldest === undefined ? sequence : store.lastSequence());
  if (oldest === undefined || entry < oldest || !store.hasEntry(entry)) {
    if (state.isRequired) throw new NotInHistory(store.whyNotInHistory(entry));
    state.at = undefined;
    return query;
  }
  if (usesIndex && entry > sequence) throw new Unavailable('the index is behind the journal entry of at');
  state.at = entry;
  context.at = store.hasEntry(entry + 1) ? entry : undefined;
  if (usesIndex && store.lastRemoval() <= entry) context.past = pastOf(entry, context);
  const isFirstPage = 'after' in query && query.after === null && !('response' in query && query.response === 'count');
  return isFirstPage ? ({ ...query, asOfUs: store.latestIngestAt(entry) } as Query) : query;
}

/**
 * Continues a query after a yield.
 * @throws Unavailable if the history has been removed meanwhile
 */
export function continueState(query: Query, context: Stated): void {
  const entry = 'state' in query ? query.state?.at : undefined;
  if (entry === undefined) return;
  const oldest = context.store.historyStart();
  if (oldest === undefined || oldest > entry) throw new Unavailable('the history of the objects was removed meanwhile');
  context.at = entry;
}

/** Whether the state of a query is one that the index must cover. */
export function searchesIndex(query: Query): boolean {
  if ('inputs' in query) return query.inputs.some(({ kind }) => kind === 'position');
  return query.kind === 'cone' || query.kind === 'area';
}

/**
 * The steps that find the state of a query before it is answered; undefined if `beginState` has found it.
 * @throws NotInHistory; DamagedValue
 */
export function stateSteps(query: Query, context: Stated): Steps | undefined {
  const entry = 'state' in query ? query.state?.at : undefined;
  return entry === undefined || context.past || !searchesIndex(query) ? undefined : findPast(entry, context);
}

function* findPast(entry: number, context: Stated): Steps {
  const removed = removedSince(context.store, entry);
  yield* removed.read(context.clock);
  context.past = pastOf(entry, context, removed);
}

/**
 * Positions never change. So the state after an entry has the objects of the generation that were stored by then, and
 * the objects that were removed since, which become a further arena of the index.
 */
function pastOf(entry: number, context: Stated, removed?: RemovedSince): Past {
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
        (entry < sequence && !store.isStoredAt(row.id, entry)) ||
        false),
  };
}
