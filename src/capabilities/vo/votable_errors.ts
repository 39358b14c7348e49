/** Services of the Virtual Observatory, whose errors are VOTables (DALI 1.1, section 4.4). */
import { VOTABLE_TYPE, votableError } from '@nearsky/astrotables';
import { type ApiError, errorResponse, expectedErrorOf } from '../../core/http/errors.ts';
import type { Handler } from '../../core/http/exchange.ts';
import type { Answer } from '../../core/http/respond.ts';

/**
 * Wraps a handler, so that its expected errors become VOTables.
 * @param statusOf returns the status of an error if the standard differs from the API
 * @param faultOf returns the word with which the message of an error with this status begins, if the standard has one
 */
export function withVotableErrors(
  handler: Handler,
  statusOf = (status: number) => status,
  faultOf?: (status: number) => string,
): Handler {
  return async exchange => {
    try {
      return await handler(exchange);
    } catch (error) {
      const expected = expectedErrorOf(error);
      if (!expected) throw error;
      exchange.error = expected.code;
      return errorDocument(expected, statusOf, faultOf);
    }
  };
}

function errorDocument(
  error: ApiError,
  statusOf: (status: number) => number,
  faultOf?: (status: number) => string,
): Answer {
  const { status, headers } = errorResponse(error);
  const message = faultOf ? `${faultOf(status)}: ${error.message}` : error.message;
  return {
    status: statusOf(status),
    headers: { ...headers, 'Content-Type': VOTABLE_TYPE },
    body: votableError(message),
  };
}
