/** Reads the cursor of a request (docs/contract.md, Cursors). */
import { CursorError, type CursorSchema, decodeCursor } from '../answers/cursor.ts';
import { ApiError } from './errors.ts';

/** @throws ApiError naming `cursor` */
export function readCursor<C>(schema: CursorSchema<C>, token: string): C {
  try {
    return decodeCursor(schema, token);
  } catch (error) {
    throw error instanceof CursorError ? invalidCursor(error.message) : error;
  }
}

/** The error for a cursor that is sent to an operation that returns all rows at once. */
export function withoutCursor(response: 'count' | 'table'): ApiError {
  const message = `Cannot answer with a ${response} after a cursor because it is of all pages: leave out cursor, or response`;
  return new ApiError('invalid_parameter', message, { param: 'cursor' });
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
