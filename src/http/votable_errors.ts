/** Services of the Virtual Observatory, whose errors are VOTables (DALI 1.1, section 4.4). */
import { VOTABLE_TYPE, votableError } from '@nearsky/astrotables';
import { type ApiError, errorResponse, expectedErrorOf } from './errors.ts';
import type { Handler } from './exchange.ts';
import type { Answer } from './respond.ts';

/**
 * Wraps a handler, so that its expected errors become VOTables.
 * @param statusOf returns the status of an error if the standard differs from the API
 */
export function withVotableErrors(handler: Handler, statusOf = (status: number) => status): Handler {
  return async exchange => {
    try {
      return await handler(exchange);
    } catch (error) {
      const expected = expectedErrorOf(error);
      if (!expected) throw error;
      exchange.error = expected.code;
      return errorDocument(expected, statusOf);
    }
  };
}

function errorDocument(error: ApiError, statusOf: (status: number) => number): Answer {
  const { status, headers } = errorResponse(error);
  return {
    status: statusOf(status),
    headers: { ...headers, 'Content-Type': VOTABLE_TYPE },
    body: votableError(error.message),
  };
}
