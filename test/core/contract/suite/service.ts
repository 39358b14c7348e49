/** The service under test, accessed only over HTTP. */
import { connect } from 'node:net';
import { request } from 'undici';

// biome-ignore lint/suspicious/noExplicitAny: a check reads any key of an answer and fails where it is not there
export type Json = any;

export interface Answer {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Parsed, where it is JSON; integers beyond 2^53 are bigints. */
  readonly body: Json;
}

export interface Sending {
  readonly headers?: Record<string, string>;
  readonly body?: string | Uint8Array;
  /**
   * Whether the connection is used for this request only, because a service may close one instead of reading a refused
   * body.
   */
  readonly alone?: boolean;
}

export type Parameters = Readonly<Record<string, string | number>>;

const LARGE_BODY = 1_000_000;

export class Service {
  readonly #base: string;
  /** Every answer so far. */
  readonly seen: Answer[] = [];

  constructor(base: string) {
    this.#base = base.replace(/\/$/, '');
  }

  /** @param path sent unchanged */
  async send(method: string, path: string, { headers = {}, body: sent, alone = false }: Sending = {}): Promise<Answer> {
    const answer = await request(`${this.#base}${path}`, {
      method: method as 'GET',
      headers,
      body: sent ?? null,
      reset: alone,
    });
    const text = await answer.body.text();
    const received = new Headers();
    for (const [name, value] of Object.entries(answer.headers)) received.set(name, `${value}`);
    const isJson = received.get('Content-Type')?.startsWith('application/json') && text !== '';
    const body = isJson ? parseExact(text) : undefined;
    const seen = { method, path, status: answer.statusCode, headers: received, text, body };
    this.seen.push(seen);
    return seen;
  }

  /**
   * Sends these lines unchanged on a new connection, with `Host` after the first one. Returns all bytes of the answer.
   */
  async raw(requestLine: string, ...lines: readonly string[]): Promise<Omit<Answer, 'method' | 'path'>> {
    const { hostname, port, host } = new URL(this.#base);
    const socket = connect({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 80), allowHalfOpen: true });
    const chunks: Buffer[] = [];
    socket.on('data', chunk => chunks.push(chunk as Buffer));
    socket.write([requestLine, `Host: ${host}`, 'Connection: close', ...lines, '', ''].join('\r\n'));
    await new Promise<void>(resolve => {
      for (const event of ['end', 'error', 'close'] as const) socket.on(event, () => resolve());
    });
    socket.destroy();
    const [head = '', ...rest] = Buffer.concat(chunks).toString('utf8').split('\r\n\r\n');
    const [statusLine = '', ...fields] = head.split('\r\n');
    const text = rest.join('\r\n\r\n');
    return {
      status: Number(statusLine.split(' ')[1]),
      headers: new Headers(fields.map(field => field.split(/: ?(.*)/s).slice(0, 2) as [string, string])),
      text,
      body: text.startsWith('{') ? parseExact(text) : undefined,
    };
  }

  /** @param query the query string, or its parameters */
  get(path: string, query: string | Parameters = ''): Promise<Answer> {
    const text = typeof query === 'string' ? query : `${new URLSearchParams(query as Record<string, string>)}`;
    return this.send('GET', text === '' ? path : `${path}?${text}`);
  }

  /** The body of an answer that must be a 200. */
  async ok(path: string, query: string | Parameters = ''): Promise<Json> {
    return bodyOf(await this.get(path, query), 200);
  }

  /** The code, and the parameters at fault: `param` or `params`. */
  async refused(path: string, query: string | Parameters, status = 400): Promise<readonly [string, Json]> {
    return faultOf(bodyOf(await this.get(path, query), status));
  }

  /** @param body sent unchanged if it is a string or bytes, else as JSON */
  post(body: unknown, type: string | null = 'application/json'): Promise<Answer> {
    const text = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
    const headers: Record<string, string> = type === null ? {} : { 'Content-Type': type };
    return this.send('POST', '/api/lookup', { body: text, headers, alone: text.length > LARGE_BODY });
  }

  /** The answer to a lookup of these inputs. */
  async lookup(inputs: readonly unknown[], fields: object = {}): Promise<Json> {
    return bodyOf(await this.post({ inputs, ...fields }), 200);
  }

  /** Posts a lookup with this body, which must be refused; returns its fault. */
  async lookupRefused(body: unknown, type?: string | null): Promise<readonly [string, Json]> {
    return faultOf(bodyOf(await this.post(body, type), 400));
  }
}

function faultOf({ code, param, params }: Json): readonly [string, Json] {
  return [code, params ?? param];
}

function bodyOf({ status, text, body, method, path }: Answer, expected: number): Json {
  if (status !== expected || body === undefined)
    throw new Error(`${method} ${path} must give ${expected} and JSON: it gave ${status}: ${text.slice(0, 500)}`);
  return body;
}

export function parseExact(text: string): unknown {
  // Most answers have no such integer, and a reviver takes ten times as long.
  if (!/\d{16}/.test(text)) return JSON.parse(text);
  return JSON.parse(text, (_key: string, value: unknown, context?: { source?: string }) => {
    const source = context?.source ?? '';
    const isWide = typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source);
    return isWide ? BigInt(source) : value;
  });
}
