/**
 * Recognises the GET requests that most clients send, in the bytes of a connection. The grammar is a strict part of
 * HTTP/1.1 (RFC 9112): a target that `URL` would not change, known headers, each at most once, none about a body.
 * Whatever else arrives is for `node:http`.
 */
import type { Socket } from 'node:net';
import { type IncomingHeaders, type IncomingRequest, PlainHeaders } from '../http/incoming.ts';
import { isHost, isPlainTarget, whenGone } from './node_request.ts';

const REQUEST_LINE = /GET (\/[!-~]*) HTTP\/1\.1\r\n/y;
/** A name, and a value without surrounding blanks. */
const HEADER = /([A-Za-z-]+): ([!-~](?:[ -~]*[!-~])?)\r\n/y;
const END = '\r\n';
const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
/** Most clients and proxies send only these. None of them changes where a request ends. */
const KNOWN_HEADERS = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'access-control-request-headers',
  'access-control-request-method',
  'authorization',
  'cache-control',
  'connection',
  'cookie',
  'dnt',
  'forwarded',
  'from',
  'host',
  'if-modified-since',
  'if-none-match',
  'origin',
  'pragma',
  'priority',
  'referer',
  'sec-ch-ua',
  'sec-ch-ua-mobile',
  'sec-ch-ua-platform',
  'sec-fetch-dest',
  'sec-fetch-mode',
  'sec-fetch-site',
  'sec-fetch-user',
  'sec-gpc',
  'traceparent',
  'tracestate',
  'upgrade-insecure-requests',
  'user-agent',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-log-position',
  'x-real-ip',
  'x-request-id',
]);

/** The headers of a request. A client nearly always sends the same again. */
export interface PlainHead {
  /** The bytes of the headers, with the blank line after them. */
  readonly text: string;
  readonly origin: string;
  readonly headers: IncomingHeaders;
  /** Whether the connection stays open after the answer. */
  readonly keepsAlive: boolean;
}

export interface FoundGet {
  readonly target: string;
  readonly head: PlainHead;
  /** The number of its bytes. */
  readonly length: number;
}

/**
 * The GET request at the beginning; undefined if it is not complete, or not a plain one.
 * @param text received bytes, one character per byte
 * @param last the headers of the connection's last request
 */
export function findPlainGet(text: string, last: PlainHead | undefined): FoundGet | undefined {
  REQUEST_LINE.lastIndex = 0;
  const target = REQUEST_LINE.exec(text)?.[1];
  if (target === undefined || !isPlainTarget(target)) return undefined;
  const at = REQUEST_LINE.lastIndex;
  const head = last && text.startsWith(last.text, at) ? last : headAt(text, at);
  return head && { target, head, length: at + head.text.length };
}

function headAt(received: string, start: number): PlainHead | undefined {
  const blank = received.indexOf(`${END}${END}`, start);
  if (blank < 0) return undefined;
  // A copy: a part of a string, which each value is, would keep the whole string in memory.
  const text = Buffer.from(received.slice(start, blank + 2 * END.length), 'latin1').toString('latin1');
  const values = new Map<string, string>();
  let at = 0;
  for (; !text.startsWith(END, at); at = HEADER.lastIndex) {
    HEADER.lastIndex = at;
    const [, anyCase, value] = HEADER.exec(text) ?? [];
    const name = anyCase?.toLowerCase();
    if (name === undefined || !KNOWN_HEADERS.has(name) || values.has(name)) return undefined;
    values.set(name, value!);
  }
  const host = values.get('host');
  const connection = values.get('connection')?.toLowerCase() ?? 'keep-alive';
  if (host === undefined || !isHost(host)) return undefined;
  if (connection !== 'keep-alive' && connection !== 'close') return undefined;
  return {
    text,
    origin: `http://${host}`,
    headers: new PlainHeaders(values),
    keepsAlive: connection === 'keep-alive',
  };
}

/** A plain GET request, which has arrived completely. */
export class PlainGet implements IncomingRequest {
  readonly method = 'GET';
  readonly body = null;
  readonly complete = true;
  readonly socket: Socket;
  readonly url: string;
  readonly headers: IncomingHeaders;

  constructor(socket: Socket, { target, head }: FoundGet) {
    this.socket = socket;
    this.url = head.origin + target;
    this.headers = head.headers;
  }

  onGone(act: () => void): () => void {
    return whenGone(this.socket, this, act);
  }
  /** The request is the only one of its connection that is being answered. */
  writeContinue(): void {
    this.socket.write(CONTINUE, 'latin1');
  }
}
