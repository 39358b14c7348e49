/** The headers and framing that all responses share (docs/contract.md, Headers; decision P2). */
import type { StreamedBody } from '../answers/body.ts';
import { JOURNAL_ENTRY_HEADER, LOG_LAG_HEADER, LOG_POSITION_HEADER, REQUEST_ID_HEADER } from '../contract/headers.ts';
import type { IncomingRequest } from './incoming.ts';

/** A response, as plain data. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** A string is sent as UTF-8. */
  readonly body: string | Uint8Array<ArrayBuffer> | null;
  /** Replaces `body` by a body that is written in parts. */
  readonly stream?: StreamedBody;
  /** The journal entry after which all objects of the answer were read; undefined if it may be several. */
  readonly journalEntry?: number;
  /** The id of the request. It has a field of its own, so that most answers can share the same headers. */
  readonly requestId?: string;
  /** See `LogPlace`. It has a field of its own for the same reason. Only nodes that share a log set it. */
  readonly logPlace?: string;
  /** See `LogPlace.lag`. */
  readonly logLag?: string;
}

/** The headers that differ between answers, as alternating names and values. */
export function ownHeaders({ requestId, journalEntry, logPlace, logLag }: Answer): string[] {
  const all: string[] = [];
  if (requestId !== undefined) all.push(REQUEST_ID_HEADER, requestId);
  if (journalEntry !== undefined)
    all.push(JOURNAL_ENTRY_HEADER, `${journalEntry}`, 'Access-Control-Expose-Headers', JOURNAL_ENTRY_HEADER);
  if (logPlace !== undefined)
    all.push(LOG_POSITION_HEADER, logPlace, 'Access-Control-Expose-Headers', LOG_POSITION_HEADER);
  if (logLag !== undefined) all.push(LOG_LAG_HEADER, logLag, 'Access-Control-Expose-Headers', LOG_LAG_HEADER);
  return all;
}

/** The header that lets pages of other sites read further headers. @param headers the answer's other headers */
export function exposing(headers: Answer['headers'], ...names: readonly string[]): Record<string, string> {
  const name = 'Access-Control-Expose-Headers';
  const exposed = headers[name];
  return { [name]: [...(exposed === undefined ? [] : [exposed]), ...names].join(', ') };
}

const COMMON_HEADERS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'Retry-After',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
};

const JSON_HEADERS = { 'Content-Type': 'application/json', ...COMMON_HEADERS };

/** The request headers on which an answer in several formats depends. */
export const NEGOTIATED = 'Accept, Accept-Encoding';

const NEGOTIATED_JSON_HEADERS = { ...JSON_HEADERS, Vary: NEGOTIATED };

const MSGPACK_HEADERS = { 'Content-Type': 'application/msgpack', Vary: NEGOTIATED, ...COMMON_HEADERS };

const PREFLIGHT_MAX_AGE_SECONDS = 86_400;

/** @param body JSON text, or its bytes */
export function jsonResponse(
  status: number,
  body: string | Uint8Array<ArrayBuffer>,
  headers?: Readonly<Record<string, string>>,
): Answer {
  return { status, headers: headers ? { ...JSON_HEADERS, ...headers } : JSON_HEADERS, body };
}

/** A JSON answer of an operation that also answers in other formats. */
export function negotiatedJson(body: string | Uint8Array<ArrayBuffer>): Answer {
  return { status: 200, headers: NEGOTIATED_JSON_HEADERS, body };
}

/** An answer in MessagePack, which the client requested. */
export function msgpackResponse(body: Uint8Array<ArrayBuffer>): Answer {
  return { status: 200, headers: MSGPACK_HEADERS, body };
}

/** @param mediaType without a charset: the body is UTF-8 */
export function textResponse(mediaType: string, body: string, headers?: Readonly<Record<string, string>>): Answer {
  return {
    status: 200,
    headers: { 'Content-Type': `${mediaType}; charset=utf-8`, ...COMMON_HEADERS, ...headers },
    body,
  };
}

/** @param contentType with its charset, if it has one */
export function bytesResponse(
  contentType: string,
  body: Uint8Array<ArrayBuffer>,
  headers?: Readonly<Record<string, string>>,
): Answer {
  return { status: 200, headers: { 'Content-Type': contentType, ...COMMON_HEADERS, ...headers }, body };
}

export function xmlResponse(text: string, headers?: Readonly<Record<string, string>>): Answer {
  return bytesResponse('text/xml', new TextEncoder().encode(text), headers);
}

const EVENT_HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-store',
  // Otherwise nginx would buffer events before it sends them on.
  'X-Accel-Buffering': 'no',
  ...COMMON_HEADERS,
};

/** @param headers with the Content-Type */
export function wholeResponse(headers: Readonly<Record<string, string>>, body: Uint8Array<ArrayBuffer>): Answer {
  return { status: 200, headers: { ...COMMON_HEADERS, ...headers }, body };
}

/** A response whose body is still being written while it is sent. */
export function streamedResponse(headers: Readonly<Record<string, string>>, stream: StreamedBody): Answer {
  return { status: 200, headers: { ...COMMON_HEADERS, ...headers }, body: null, stream };
}

/** Server-sent events. */
export function eventResponse(stream: StreamedBody): Answer {
  return { status: 200, headers: EVENT_HEADERS, body: null, stream };
}

/** The body of an answer in the form that `Response` needs. */
export function webBody({ body, stream }: Answer): Answer['body'] | ReadableStream {
  if (!stream) return body;
  return new ReadableStream<Uint8Array<ArrayBuffer>>({
    start: controller =>
      stream.begin({
        write: bytes => controller.enqueue(bytes),
        end: () => {
          controller.close();
          stream.gone();
        },
        fail: () => controller.error(new Error('the answer could not be written completely')),
      }),
    pull: () => stream.written(),
    cancel: () => stream.gone(),
  });
}

/** A response without a body. */
export function emptyResponse(status: number, headers: Readonly<Record<string, string>>): Answer {
  return { status, headers: { ...COMMON_HEADERS, ...headers }, body: null };
}

/** Whether an `If-None-Match` names the ETag (RFC 9110, section 13.1.2: compared weakly). */
export function isUnchanged({ headers }: IncomingRequest, etag: string): boolean {
  const tags = headers.get('If-None-Match')?.split(',') ?? [];
  return tags.some(tag => ['*', etag].includes(tag.trim().replace(/^W\//, '')));
}

/** Whether the request is a browser's preflight for another request. */
export function isPreflight(request: IncomingRequest): boolean {
  return (
    request.method === 'OPTIONS' &&
    request.headers.has('Origin') &&
    request.headers.has('Access-Control-Request-Method')
  );
}

/** @param methods the methods of the path, as in `Allow` */
export function preflightResponse(request: IncomingRequest, methods: string): Answer {
  return emptyResponse(204, {
    'Access-Control-Allow-Methods': methods,
    'Access-Control-Allow-Headers': request.headers.get('Access-Control-Request-Headers') ?? 'Content-Type',
    'Access-Control-Max-Age': `${PREFLIGHT_MAX_AGE_SECONDS}`,
  });
}
