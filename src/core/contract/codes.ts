/** The error codes of the answers. */

export interface CodeDefinition {
  readonly name: string;
  /** HTTP status of an answer with this code. */
  readonly status: number;
  /** Whether the same request can succeed later. */
  readonly retryable: boolean;
  readonly meaning: string;
}

/** The codes of the specification, in the order of the published enumeration. Operations return only these. */
export const API_CODES = [
  {
    name: 'invalid_parameter',
    status: 400,
    retryable: false,
    meaning: 'a request parameter, body field, cursor or window is invalid',
  },
  {
    name: 'method_not_allowed',
    status: 405,
    retryable: false,
    meaning: 'the path does not support the method; the `Allow` header lists the supported ones',
  },
  {
    name: 'query_too_expensive',
    status: 400,
    retryable: false,
    meaning: 'the request exceeded the time budget; narrow it, since retrying it unchanged does not help',
  },
  {
    name: 'service_unavailable',
    status: 503,
    retryable: true,
    meaning: 'the service or its database cannot answer now; wait for the seconds in `Retry-After` and try again',
  },
  {
    name: 'filters_span_catalogs',
    status: 400,
    retryable: false,
    meaning: 'match filters name more than one catalog; `params` lists the conflicting parameters',
  },
  {
    name: 'unsupported_parameter',
    status: 400,
    retryable: false,
    meaning: 'the operation does not support the named parameters; the request is not run',
  },
] as const satisfies readonly CodeDefinition[];

/** The codes of this server below the API: of unknown paths, of faults, and of requests that no operation sees. */
export const SERVER_CODES = [
  { name: 'not_found', status: 404, retryable: false, meaning: 'the path does not exist' },
  {
    name: 'internal_error',
    status: 500,
    retryable: true,
    meaning: 'an internal error; it is logged, and the answer does not describe it',
  },
  {
    name: 'request_timeout',
    status: 408,
    retryable: true,
    meaning: 'the request did not arrive in time; send it faster',
  },
  {
    name: 'headers_too_large',
    status: 431,
    retryable: false,
    meaning: 'the request line and the headers are too large together; send fewer or shorter ones',
  },
  {
    name: 'not_implemented',
    status: 501,
    retryable: false,
    meaning: 'the request has a `Transfer-Encoding` other than `chunked`, which the service cannot decode',
  },
  {
    name: 'http_version_not_supported',
    status: 505,
    retryable: false,
    meaning: 'the HTTP version of the request is neither 1.1 nor 1.0',
  },
] as const satisfies readonly CodeDefinition[];

export const ERROR_CODES = [...API_CODES, ...SERVER_CODES];

export type ErrorCode = (typeof ERROR_CODES)[number]['name'];

/** The value of `Retry-After` while the service is unavailable, seconds. */
export const RETRY_AFTER_SECONDS = 30;
