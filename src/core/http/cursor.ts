/** Reads the cursor of a request (docs/contract.md, Cursors). */
import { CursorError, type CursorSchema, decodeCursor } from '../answers/cursor.ts';
import type { State } from '../answers/queries.ts';
import { ApiError, invalidParameter } from './errors.ts';
import type { Search } from './params.ts';

/** @throws ApiError naming `cursor` */
export function readCursor<C>(schema: CursorSchema<C>, token: string): C {
  try {
    return decodeCursor(schema, token);
  } catch (error) {
    throw error instanceof CursorError ? invalidCursor(error.message) : error;
  }
}

/** The error for a cursor that is sent to an operation that returns all rows at once. */
export function withoutCursor(response: 'count' | 'table' | 'outline'): ApiError {
  const what = response === 'outline' ? 'an outline' : `a ${response}`;
  const message = `Cannot answer with ${what} after a cursor because ${what} covers all pages: leave out cursor, or response`;
  return new ApiError('invalid_parameter', message, { param: 'cursor' });
}

/**
 * The state that a request asks for. If only the cursor names the entry, a node that does not have it answers without a state.
 * @param at the entry in the request
 * @param pinned the entry in the cursor
 */
export function requestedState(at: number | undefined, pinned?: number): State {
  if (at !== undefined && pinned !== undefined && at !== pinned)
    throw invalidParameter('at', `${pinned}, as in the cursor`, `${at}`);
  return { at: at ?? pinned, isRequired: at !== undefined };
}

/**
 * Checks a parameter that the cursor fixes: it may be repeated, even in another spelling, but not changed.
 * @param given its value in the request; undefined if it has none
 * @throws ApiError
 */
export function requireUnchanged<T>(
  search: Search,
  name: string,
  given: T | undefined,
  pinned: T,
  shown = `${pinned}`,
) {
  if (given !== undefined && given !== pinned)
    throw invalidParameter(name, `${shown}, as in the cursor`, search.get(name)!);
}

export function invalidCursor(why: string): ApiError {
  return new ApiError(
    'invalid_parameter',
    `Cannot use the cursor because ${why}: give the next_cursor of a page, unchanged`,
    {
      param: 'cursor',
    },
  );
}
