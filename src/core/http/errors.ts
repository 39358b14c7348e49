/**
 * The errors of the API, and the code that converts errors to them and to responses (docs/contract.md, Errors; Time
 * budget).
 */

import { toJson } from '@nearsky/astrotables/json';
import { NotInHistory } from '../answers/context.ts';
import { FilterError } from '../answers/read_filters.ts';
import { AreaError } from '../base/area_error.ts';
import { fullDisk, isFullDisk } from '../base/disk.ts';
import { mustBe, SHOWN_CHARACTERS, shorten, traceOf } from '../base/error_text.ts';
import type { Log } from '../base/log.ts';
import { NEVER, TooExpensive, Unavailable } from '../base/refusal.ts';
import { type CodeDefinition, ERROR_CODES, type ErrorCode, RETRY_AFTER_SECONDS } from '../contract/codes.ts';
import { type Answer, jsonResponse } from './respond.ts';

interface ErrorDetails {
  /** The parameter at fault, if there is one. */
  readonly param?: string;
  /** The parameters at fault, if there may be several. `param` is then the first one in `invalid_parameter`. */
  readonly params?: readonly string[];
  /** The methods that the path has; for a 405. */
  readonly allow?: string;
  /** The seconds before a retry, if a better value than the code's default is known. */
  readonly retryAfterSeconds?: number;
}

/** An answer that is an error. The client sees its message. */
export class ApiError extends Error {
  override name = 'ApiError';
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    // A string from a client may contain lone surrogates, or be cut within a pair. Some JSON parsers reject such
    // strings.
    super(message.toWellFormed());
    this.code = code;
    const param = details.param?.toWellFormed();
    this.details = param === details.param ? details : { ...details, param: param! };
  }
}

/**
 * The error of a parameter's value.
 * @param must completes "must be ..."
 * @param instead how to fix the value, if that does not follow from `must`
 */
export function invalidParameter(param: string, must: string, value: string | number, instead?: string): ApiError {
  const message = mustBe(param, must, `${value}`);
  return new ApiError('invalid_parameter', instead === undefined ? message : `${message}; ${instead}`, { param });
}

/** The error of a required parameter that is missing. */
export function missingParameter(param: string, how: string): ApiError {
  return new ApiError('invalid_parameter', `Cannot answer without ${param}: give ${how}`, { param });
}

export function notFound(path: string): ApiError {
  return new ApiError('not_found', `Cannot find ${shorten(path)}: the path does not exist`);
}

export function methodNotAllowed(method: string, allow: string): ApiError {
  return new ApiError(
    'method_not_allowed',
    `Cannot ${method.slice(0, SHOWN_CHARACTERS)} here: this path has ${allow}`,
    { allow },
  );
}

/**
 * The error of a request whose `Transfer-Encoding` is not just `chunked`. If `chunked` is not the last coding, the end
 * of the body is unknown (RFC 9112, section 6.3).
 */
export function unknownTransferCoding(value: string): ApiError {
  if (!/(?:^|,)\s*chunked\s*$/i.test(value)) {
    const message = `Cannot find the end of the body because its Transfer-Encoding is ${shorten(value)}: send Content-Length, or chunked alone`;
    return new ApiError('invalid_parameter', message, { param: 'request' });
  }
  return new ApiError(
    'not_implemented',
    `Cannot decode the Transfer-Encoding ${shorten(value)}: send the body with Content-Length, or with chunked alone`,
  );
}

/** The error of a request whose headers or body do not arrive in time. */
export function requestTimeout(): ApiError {
  return new ApiError('request_timeout', 'Cannot wait for the rest of the request: send it faster');
}

/** @param version like `2.0` */
export function unsupportedVersion(version: string): ApiError {
  return new ApiError('http_version_not_supported', `Cannot answer HTTP/${version}: send HTTP/1.1`);
}

/**
 * The error of the API for an internal error, which the log shows but the client does not.
 * @param fields further fields for the log
 */
export function internalError(error: unknown, log: Log, fields: Readonly<Record<string, unknown>>): ApiError {
  log('internal_error', { ...fields, error: traceOf(error) });
  return new ApiError('internal_error', 'Cannot answer because of an internal error, which is logged: try again');
}

/**
 * The error of the API for an expected error; undefined for an internal error.
 * @param narrow advice for a smaller request
 */
export function expectedErrorOf(
  error: unknown,
  narrow = 'narrow the query, for example its page_size or detail',
): ApiError | undefined {
  if (error instanceof ApiError) return error;
  if (error instanceof TooExpensive) {
    return new ApiError('query_too_expensive', `Cannot answer ${error.message}: ${narrow}`);
  }
  if (error instanceof NotInHistory) return new ApiError('invalid_parameter', error.message, { param: 'at' });
  if (error instanceof AreaError) return new ApiError('invalid_parameter', error.message, { param: error.param });
  if (error instanceof FilterError) {
    const { message, names, isSpan } = error;
    return isSpan
      ? new ApiError('filters_span_catalogs', message, { params: names })
      : new ApiError('invalid_parameter', message, { param: names[0]! });
  }
  if (isFullDisk(error)) return expectedErrorOf(fullDisk());
  if (!(error instanceof Unavailable)) return undefined;
  const seconds = error.retryAfterSeconds ?? RETRY_AFTER_SECONDS;
  const hint = seconds === NEVER ? '' : `: try again in ${seconds} second${seconds === 1 ? '' : 's'}`;
  const message = `Cannot answer because ${error.message}${hint}`;
  return new ApiError('service_unavailable', message, { retryAfterSeconds: seconds });
}

const CODES = new Map<string, CodeDefinition>(ERROR_CODES.map(definition => [definition.name, definition]));

/** The seconds after which a client may try again; undefined if retrying is not expected to help. */
export function retryAfterSecondsOf({ code, details }: ApiError): number | undefined {
  const seconds = details.retryAfterSeconds ?? RETRY_AFTER_SECONDS;
  return code === 'service_unavailable' && seconds !== NEVER ? seconds : undefined;
}

export function errorResponse(error: ApiError): Answer {
  const { code, message, details } = error;
  const { status, retryable } = CODES.get(code)!;
  const { params, allow, param = code === 'invalid_parameter' ? params?.[0] : undefined } = details;
  const body = toJson({ error: message, code, message, param, params, retryable });
  const headers: Record<string, string> = {};
  const seconds = retryAfterSecondsOf(error);
  if (seconds !== undefined) headers['Retry-After'] = `${seconds}`;
  if (allow !== undefined) headers.Allow = allow;
  return jsonResponse(status, body, headers);
}
