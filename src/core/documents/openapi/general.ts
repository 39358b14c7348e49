/** The parts that all operations have in common in the document: headers, general errors, and a general parameter. */
import { API_CODES, ERROR_CODES, type ErrorCode, RETRY_AFTER_SECONDS } from '../../contract/codes.ts';
import { matchFormat } from '../../contract/formats.ts';
import {
  LOG_LAG_HEADER,
  LOG_POSITION_HEADER,
  REQUEST_ID_HEADER,
  UNKNOWN_PARAMETERS_HEADER,
} from '../../contract/headers.ts';
import type { Paths } from './parameters.ts';
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
const ALWAYS: Schemas = {
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

const COMPRESSED: Schemas = {
  Vary: header(text('The request headers on which the answer depends.')),
  'Content-Encoding': header(text('`zstd` or `gzip`, if the client accepts it and the answer has at least 8 KiB.')),
};

const HEADERS: Schemas = { ...ALWAYS, ...COMPRESSED, ...ignoredHeader };

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
const ERRORS = {
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
const OF_REQUESTS: Schemas = {
  400: ERRORS.MalformedRequest,
  405: MethodNotAllowed,
  408: ERRORS.RequestTimeout,
  431: ERRORS.HeadersTooLarge,
};
const OF_SERVER: Schemas = {
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

const headerRefs = (headers: Schemas): Schemas =>
  Object.fromEntries(
    Object.entries(headers).map(([name, one]) => [
      name,
      HEADERS[name] === one ? { $ref: `#/components/headers/${name}` } : one,
    ]),
  );

function whole(status: number, response: Schema, ignored: Schemas): Schema {
  const { description, headers = {}, content, ...rest } = response;
  const isLong = status === 200 && content !== undefined && !Object.hasOwn(content as Schema, 'text/event-stream');
  const all = { ...(headers as Schemas), ...(status !== 200 && ignored), ...(isLong && COMPRESSED), ...ALWAYS };
  return { description, headers: headerRefs(all), ...(content !== undefined && { content }), ...rest };
}

const LOG_POSITION = {
  name: LOG_POSITION_HEADER,
  in: 'header',
  required: false,
  description: 'The last `X-Log-Position` that the client received, for services with several nodes.',
  schema: { type: 'string' },
} as const;

const COMPONENTS = new Map<Schema, string>(Object.entries(ERRORS).map(([name, response]) => [response, name]));

/** Adds the general parts to the operations. */
export function withGeneralParts(paths: Paths): Paths {
  const each = (path: string, { parameters = [], responses, neverFails, ...rest }: Paths[string][string]) => {
    const ignored = UNKNOWN_PARAMETERS_HEADER in ((responses[200]?.headers ?? {}) as Schemas) ? ignoredHeader : {};
    // A path segment that contains an encoded slash matches no parameter.
    const general = neverFails ? OF_REQUESTS : path.includes('{') ? { ...OF_SERVER, 404: NotFound } : OF_SERVER;
    const all = Object.entries({ ...general, ...responses }).map(([status, response]) => {
      const component = COMPONENTS.get(response);
      return [status, component ? { $ref: `#/components/responses/${component}` } : whole(+status, response, ignored)];
    });
    return { ...rest, parameters: [...parameters, LOG_POSITION], responses: Object.fromEntries(all) };
  };
  return mapValues(paths, (methods, path) => mapValues(methods, operation => each(path, operation)));
}

function mapValues<T, U>(object: Readonly<Record<string, T>>, change: (value: T, key: string) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value, key)]));
}

const RESPONSES = mapValues(ERRORS, (response, name) =>
  whole(0, response, name.startsWith('Tap') ? {} : ignoredHeader),
);

/** The components that operations refer to: shared headers, and those errors that the operations have. */
export function generalComponents(paths: Paths) {
  const responses = Object.values(paths).flatMap(methods =>
    Object.values(methods).map(operation => operation.responses),
  );
  const referred = new Set(responses.flatMap(each => Object.values(each).map(({ $ref }) => $ref)));
  const isUsed = ([name]: [string, Schema]) => referred.has(`#/components/responses/${name}`);
  return { headers: HEADERS, responses: Object.fromEntries(Object.entries(RESPONSES).filter(isUsed)) };
}
