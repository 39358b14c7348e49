/** The parts that all operations have in common in the document: headers, general errors, and a general parameter. */
import { API_CODES, ERROR_CODES, type ErrorCode, RETRY_AFTER_SECONDS } from '../../contract/codes.ts';
import { matchFormat } from '../../contract/formats.ts';
import {
  LOG_LAG_HEADER,
  LOG_POSITION_HEADER,
  REQUEST_ID_HEADER,
  UNKNOWN_PARAMETERS_HEADER,
} from '../../contract/headers.ts';
import { integer, ref, type Schema, type Schemas, text } from './schema.ts';

/** A response header. The description moves from the schema to the header. */
export function header({ description, ...schema }: Schema, required = false): Schema {
  return { description, required, schema };
}

const IGNORED = header(
  text(
    'Only if the query string has parameters that the operation does not know, and therefore ignores: their names, percent-encoded, each with the ' +
      'most similar known name, if there is one, such as `fromat;did-you-mean=format, x`. After eight, `*;more=N` gives the number of the others.',
  ),
);

/** The header that lists the ignored parameters. */
export const ignoredHeader: Schemas = { [UNKNOWN_PARAMETERS_HEADER]: IGNORED };

/** The headers of every answer. */
export const ALWAYS: Schemas = {
  [REQUEST_ID_HEADER]: header(
    text("The id of the request in the service's log: the id that came with the request, or a new one."),
  ),
  [LOG_POSITION_HEADER]: header(
    text(
      "This node's position in the log that it shares with other nodes; missing if there is no such log. A client that sends the " +
        'last position back gets no older answer, whichever node answers.',
    ),
  ),
  [LOG_LAG_HEADER]: header(
    text(
      'The minimum number of seconds for which this node has been behind the log that it shares with other nodes. Missing while the service allows that lag and the node has caught up since it started.',
    ),
  ),
  'Access-Control-Allow-Origin': header(text('`*`: scripts from any origin may read the answer.')),
  'Access-Control-Expose-Headers': header(text('The headers that these scripts may read.')),
  'X-Content-Type-Options': header(text('`nosniff`.')),
  'Referrer-Policy': header(text('`same-origin`.')),
  'Cross-Origin-Opener-Policy': header(text('`same-origin`.')),
};

export const COMPRESSED: Schemas = {
  Vary: header(text('The request headers on which the answer depends.')),
  'Content-Encoding': header(text('`zstd` or `gzip`, if the client accepts it and the answer has at least 8 KiB.')),
};

export const HEADERS: Schemas = { ...ALWAYS, ...COMPRESSED, ...ignoredHeader };

const RETRY_AFTER = integer('s', 'The number of seconds after which to try again.', {
  minimum: 1,
  default: RETRY_AFTER_SECONDS,
});

/** The headers of answers with these statuses. */
const OF_STATUS: Readonly<Record<number, Schemas>> = {
  405: { Allow: header(text('The methods that the path supports.'), true) },
  503: { 'Retry-After': header(RETRY_AFTER, true) },
};

/** Each status has either codes of the API or codes of the server. */
const jsonError = (status: number): Schema => {
  const isOfApi = API_CODES.some(code => code.status === status);
  return { 'application/json': { schema: ref(isOfApi ? 'Error' : 'ServerError') } };
};
const VOTABLE_ERROR: Schema = {
  [matchFormat('votable').mediaType]: { schema: text('A VOTable with the reason.', { format: 'binary' }) },
};

/** The error response for a status. It describes every code with that status that is not in `except`. */
function errorResponse(status: number, content: Schema, except: readonly ErrorCode[]): Schema {
  const codes = ERROR_CODES.filter(code => code.status === status && !except.includes(code.name));
  const description = codes.map(({ name, meaning }) => `\`${name}\`: ${meaning}.`).join(' ');
  const headers = OF_STATUS[status];
  return { description, ...(headers && { headers }), content };
}

const OF_FILTERS: readonly ErrorCode[] = ['filters_span_catalogs', 'unsupported_parameter'];
const shared = (status: number) => errorResponse(status, jsonError(status), ['query_too_expensive', ...OF_FILTERS]);
const votable = (status: number) => errorResponse(status, VOTABLE_ERROR, OF_FILTERS);

/** Error responses that are the same in every operation. */
export const ERRORS = {
  MalformedRequest: shared(400),
  NotFound: shared(404),
  MethodNotAllowed: shared(405),
  RequestTimeout: shared(408),
  HeadersTooLarge: shared(431),
  InternalError: shared(500),
  NotImplemented: shared(501),
  ServiceUnavailable: shared(503),
  HttpVersionNotSupported: shared(505),
  TapBadRequest: votable(400),
  TapNotFound: votable(404),
  TapMethodNotAllowed: votable(405),
  // Retry-After is optional, because retrying does not help if the service has no engine.
  TapServiceUnavailable: { ...votable(503), headers: { 'Retry-After': header(RETRY_AFTER) } },
};

const { NotFound, MethodNotAllowed, ServiceUnavailable } = ERRORS;
const JSON_ERRORS: Schemas = { 404: NotFound, 405: MethodNotAllowed, 503: ServiceUnavailable };

/** The errors that any operation can return, because the server itself may send them. */
export const OF_REQUESTS: Schemas = {
  400: ERRORS.MalformedRequest,
  405: MethodNotAllowed,
  408: ERRORS.RequestTimeout,
  431: ERRORS.HeadersTooLarge,
};
export const OF_SERVER: Schemas = {
  ...OF_REQUESTS,
  500: ERRORS.InternalError,
  501: ERRORS.NotImplemented,
  505: ERRORS.HttpVersionNotSupported,
};

/** The errors of an operation, by status, with all their codes except the excluded ones. */
export function errors(statuses: readonly number[], ...except: readonly ErrorCode[]): Record<string, Schema> {
  return Object.fromEntries(
    statuses.map(status => [`${status}`, JSON_ERRORS[status] ?? errorResponse(status, jsonError(status), except)]),
  );
}

const TAP_ERRORS: Schemas = {
  400: ERRORS.TapBadRequest,
  404: ERRORS.TapNotFound,
  405: ERRORS.TapMethodNotAllowed,
  503: ERRORS.TapServiceUnavailable,
};

/** The errors of a TAP operation, by status. */
export function tapErrors(...statuses: readonly number[]): Record<string, Schema> {
  return Object.fromEntries(statuses.map(status => [`${status}`, TAP_ERRORS[status]!]));
}
