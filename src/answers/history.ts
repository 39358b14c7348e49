/** Answers from the state after an earlier journal entry. */
import { Arena, buildArena, SkyIndex } from '@nearsky/sky-index';
import { Unavailable } from '../base/refusal.ts';
import { removedRows } from '../generations/removed_rows.ts';
import { ObjectView } from '../store/object_record.ts';
import type { Store } from '../store/store.ts';
import type { Past, QueryContext } from './context.ts';
import type { Query } from './queries.ts';

/** The requested journal entry is not in the history of this archive. */
export class NotInHistory extends Error {
  override name = 'NotInHistory';
}

type Stated = Omit<QueryContext, 'index' | 'at' | 'past'> & Mutable<Pick<QueryContext, 'index' | 'at' | 'past'>>;
type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/**
 * Begins a query: if the archive keeps a history, the query gets a state, which is the newest one unless the request
 * names another. To be called before the first step.
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
  const newest = oldest === undefined ? 0 : store.lastSequence();
  const usesIndex = searchesIndex(query);
  const entry = state.at ?? (usesIndex ? sequence : newest);
  if (oldest === undefined || entry < oldest || entry > newest) {
    if (state.isRequired) throw notInHistory(entry, oldest, newest);
    state.at = undefined;
    return query;
  }
  if (usesIndex && entry > sequence) throw new Unavailable('the index is behind the journal entry of at');
  state.at = entry;
  context.at = entry === newest ? undefined : entry;
  if (usesIndex) context.past = pastOf(entry, context);
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

function notInHistory(entry: number, oldest: number | undefined, newest: number): NotInHistory {
  if (oldest === undefined)
    return new NotInHistory(
      'Cannot answer with at because this service keeps no history (NEARSKY_HISTORY): leave it out',
    );
  const why =
    entry > newest
      ? `the newest journal entry is ${newest}`
      : `the history begins with journal entry ${oldest}, when this service began to keep it`;
  return new NotInHistory(`at must be from ${oldest} to ${newest} (got ${entry}): ${why}`);
}

/**
 * Positions never change, so the objects after an entry are those of the generation that were stored by then, and those
 * that were removed since. The latter become a further arena of the index.
 */
function pastOf(entry: number, context: Stated): Past {
  const { store, sequence, index } = context;
  const { ids, arena } = removedSince(entry, store);
  const own = index.arenas.length;
  if (arena) context.index = new SkyIndex([...index.arenas, arena]);
  const isVoid = removedRows(store, context);
  if (ids.size === 0 && !isVoid && entry === sequence) return { isLeftOut: undefined };
  return {
    isLeftOut: row =>
      row.arena < own &&
      (ids.has(row.id) || isVoid?.(row) || (entry < sequence && !store.isStoredAt(row.id, entry)) || false),
  };
}

interface RemovedSince {
  readonly ids: ReadonlySet<bigint>;
  /** Those that were stored after the entry; undefined if there are none. */
  readonly arena: Arena | undefined;
}

const NONE_REMOVED: RemovedSince = { ids: new Set(), arena: undefined };

/** The objects that were found last, and the journal entry of the last removal then. The pages of a walk have the same entry. */
let found:
  | { readonly store: Store; readonly entry: number; readonly last: number; readonly removed: RemovedSince }
  | undefined;

/** The objects that were removed after a journal entry. They may have been stored anew since. */
function removedSince(entry: number, store: Store): RemovedSince {
  const last = store.lastRemoval();
  if (last <= entry) return NONE_REMOVED;
  if (found?.store === store && found.entry === entry && found.last === last) return found.removed;
  const removed = store.removedPositions(entry);
  const view = new ObjectView();
  const [id, ra, dec, time]: [bigint[], number[], number[], number[]] = [[], [], [], []];
  for (const [diaObjectId, position] of removed) {
    if (!position || !store.readObject(diaObjectId, view, entry)) continue;
    id.push(diaObjectId);
    ra.push(position.ra);
    dec.push(position.dec);
    time.push(view.ingestTimeUs);
  }
  const columns = { ra: Float64Array.from(ra), dec: Float64Array.from(dec), time: Float64Array.from(time) };
  const arena = id.length === 0 ? undefined : new Arena(buildArena({ id: BigInt64Array.from(id), ...columns }));
  found = { store, entry, last, removed: { ids: new Set(removed.keys()), arena } };
  return found.removed;
}
