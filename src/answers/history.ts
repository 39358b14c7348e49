/** Answers from the state after an earlier journal entry. */
import { Unavailable } from '../base/refusal.ts';
import type { QueryContext } from './context.ts';
import type { State } from './queries.ts';

/** The requested journal entry is not in the history of this archive. */
export class NotInHistory extends Error {
  override name = 'NotInHistory';
}

/**
 * Begins a query: if the archive keeps a history, notes the newest journal entry as its state, unless the request names
 * another.
 * @returns the journal entry whose state must be read; undefined while the present state is the requested one, which is
 * certain only until the query yields
 * @throws NotInHistory
 */
export function begunAt(state: State | undefined, { store }: QueryContext): number | undefined {
  if (!state) return undefined;
  const oldest = store.historyStart();
  if (oldest === undefined) {
    if (state.at === undefined) return undefined;
    throw new NotInHistory(
      'Cannot answer with at because this service keeps no history (NEARSKY_HISTORY): leave it out',
    );
  }
  const newest = store.lastSequence();
  const at = state.at ?? newest;
  if (at < oldest || at > newest) {
    const why =
      at > newest
        ? `the newest journal entry is ${newest}`
        : `the history begins with journal entry ${oldest}, when this service began to keep it`;
    throw new NotInHistory(`at must be from ${oldest} to ${newest} (got ${at}): ${why}`);
  }
  state.at = at;
  return at === newest ? undefined : at;
}

/**
 * Continues a query after a yield.
 * @returns the journal entry whose state must be read; undefined for the present state
 * @throws Unavailable if the history has been removed meanwhile
 */
export function continuedAt(state: State | undefined, { store }: QueryContext): number | undefined {
  if (state?.at === undefined) return undefined;
  const oldest = store.historyStart();
  if (oldest === undefined || oldest > state.at)
    throw new Unavailable('the history of the objects was removed meanwhile');
  return state.at;
}
