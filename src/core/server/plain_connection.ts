/**
 * Reads plain GET requests from a connection and writes their answers, without the objects, events and timers of
 * `node:http`, which took a quarter of the CPU of an object. The first bytes that are anything else, or not a complete
 * request, and all later ones, go to `node:http`, unread.
 */
import { STATUS_CODES, validateHeaderValue } from 'node:http';
import type { Socket } from 'node:net';
import { type Answer, ownHeaders } from '../http/respond.ts';
import { findPlainGet, PlainGet, type PlainHead } from './plain_get.ts';
import type { ServerLimits } from './server_limits.ts';

interface Owner {
  readonly limits: ServerLimits;
  handle(request: PlainGet, response: PlainResponse): void;
  /** Lets `node:http` read the connection. */
  handOver(socket: Socket): void;
}

/** A longer head is not remembered, because an idle connection would hold it. */
const MAX_REMEMBERED = 2048;
const CR = 13;
const LF = 10;

export class PlainConnection {
  readonly socket: Socket;
  readonly #owner: Owner;
  #last: PlainHead | undefined;
  /** The answer that is not completely written. One request is answered at a time; later ones wait in the socket. */
  #response: PlainResponse | undefined;
  #hasEnded = false;
  /** Whether a request has been read. */
  #isUsed = false;
  /** Whether the connection ends after the current answer. What still arrives is dropped. */
  #isLast = false;
  /** Whether the current answer takes so long that the limit of inactivity applies. */
  #isSlow = false;

  constructor(socket: Socket, owner: Owner) {
    this.socket = socket;
    this.#owner = owner;
    socket.on('data', this.#read).on('end', this.#end).on('close', this.#close).on('error', ignore);
    // A function given to `setTimeout` would be called only once.
    socket.on('timeout', this.#expire).setTimeout(owner.limits.headersMs);
  }

  readonly #read = (chunk: Buffer): void => {
    const { maxHeaderBytes, keepAliveMs } = this.#owner.limits;
    let start = 0;
    while (start < chunk.length && !this.#response) {
      // An empty line after a request begins no other one (RFC 9112, section 2.2).
      if (this.#isUsed && chunk[start] === CR && chunk[start + 1] === LF) {
        start += 2;
        continue;
      }
      const text = chunk.toString('latin1', start, Math.min(start + maxHeaderBytes, chunk.length));
      const found = findPlainGet(text, this.#last);
      if (!found) {
        this.#handOver(chunk.subarray(start));
        return;
      }
      if (!this.#isUsed) this.socket.setTimeout(keepAliveMs);
      this.#isUsed = true;
      this.#last = found.head.text.length <= MAX_REMEMBERED ? found.head : undefined;
      start += found.length;
      this.#response = new PlainResponse(this, found.head.keepsAlive, keepAliveMs);
      this.#owner.handle(new PlainGet(this.socket, found), this.#response);
    }
    if (start >= chunk.length || this.socket.destroyed || this.#isLast) return;
    this.socket.pause();
    this.socket.unshift(chunk.subarray(start));
  };

  /** The current answer is written: the next request may be read. */
  next(): void {
    this.#response = undefined;
    if (this.#isSlow) this.socket.setTimeout(this.#owner.limits.keepAliveMs);
    this.#isSlow = false;
    if (this.#hasEnded) this.socket.end();
    else if (this.socket.isPaused()) this.socket.resume();
  }

  /** Makes the current answer the last one. Reading continues, because otherwise a disconnect would not be noticed. */
  dropRest(): void {
    this.#isLast = true;
    if (this.socket.isPaused()) this.socket.resume();
  }

  readonly #end = (): void => {
    this.#hasEnded = true;
    if (!this.#response) this.socket.end();
  };

  readonly #close = (): void => this.#response?.close();

  readonly #expire = (): void => {
    if (!this.#response || this.#isSlow) this.socket.destroy();
    else {
      this.#isSlow = true;
      this.socket.setTimeout(this.#owner.limits.inactivityMs);
    }
  };

  #handOver(chunk: Buffer): void {
    const { socket } = this;
    socket.off('data', this.#read).off('end', this.#end).off('close', this.#close).off('error', ignore);
    socket.off('timeout', this.#expire).setTimeout(0);
    socket.pause();
    socket.unshift(chunk);
    this.#owner.handOver(socket);
    socket.resume();
  }
}

function ignore(): void {}

/** The part of node's `ServerResponse` that the server uses. */
export class PlainResponse {
  shouldKeepAlive: boolean;
  readonly #connection: PlainConnection;
  readonly #keepAliveMs: number;
  readonly #closers: (() => void)[] = [];
  #head = '';
  #hasBody = true;
  #isChunked = false;

  constructor(connection: PlainConnection, keepsAlive: boolean, keepAliveMs: number) {
    this.#connection = connection;
    this.shouldKeepAlive = keepsAlive;
    this.#keepAliveMs = keepAliveMs;
  }

  /** The number of bytes that the system has not accepted yet. */
  get writableLength(): number {
    return this.#connection.socket.writableLength;
  }

  once(_event: 'close', act: () => void): void {
    this.#closers.push(act);
  }

  /**
   * @param length the length of the body; undefined without a body; 'parts' if the body is written in parts. They are
   * chunks unless the headers have a `Content-Length`
   */
  writeHead(answer: Answer, length: number | 'parts' | undefined): void {
    this.#hasBody = answer.status !== 204 && answer.status !== 304;
    this.#isChunked = length === 'parts' && answer.headers['Content-Length'] === undefined;
    if (!this.shouldKeepAlive) this.#connection.dropRest();
    const own = ownHeaders(answer);
    let head = `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status]}\r\n${sharedHead(answer.headers)}`;
    for (let i = 0; i < own.length; i += 2) head += `${own[i]}: ${own[i + 1]}\r\n`;
    if (typeof length === 'number') head += `Content-Length: ${length}\r\n`;
    head += `Date: ${date()}\r\n`;
    head += this.shouldKeepAlive
      ? `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(this.#keepAliveMs / 1000)}\r\n`
      : 'Connection: close\r\n';
    this.#head = `${head}${this.#isChunked ? 'Transfer-Encoding: chunked\r\n' : ''}\r\n`;
  }

  /** Writes a part of a body. */
  write(bytes: Uint8Array, written: () => void): void {
    const { socket } = this.#connection;
    socket.cork();
    const size = this.#isChunked ? `${bytes.length.toString(16)}\r\n` : '';
    socket.write(this.#takeHead() + size, 'latin1');
    socket.write(bytes);
    socket.write(this.#isChunked ? '\r\n' : '', 'latin1', written);
    socket.uncork();
  }

  end(body?: string | Uint8Array, encoding?: BufferEncoding): void {
    const { socket } = this.#connection;
    const head = this.#takeHead();
    if (!this.#hasBody) socket.write(head, 'latin1');
    else if (typeof body === 'string' && encoding === 'latin1') socket.write(head + body, encoding);
    else if (body) {
      socket.cork();
      socket.write(head, 'latin1');
      socket.write(body, encoding);
      socket.uncork();
    } else socket.write(this.#isChunked ? `${head}0\r\n\r\n` : head, 'latin1');
    if (!this.shouldKeepAlive) socket.destroySoon();
    else if (socket.writableLength > 0) socket.write('', () => this.close());
    else this.close();
  }

  destroy(): void {
    this.#connection.socket.destroy();
  }

  /** Called when the answer is written, or never will be. */
  close(): void {
    for (const act of this.#closers.splice(0)) act();
    if (!this.#connection.socket.destroyed) this.#connection.next();
  }

  #takeHead(): string {
    const head = this.#head;
    this.#head = '';
    return head;
  }
}

const heads = new WeakMap<Answer['headers'], string>();

/** @throws TypeError for a character that a header must not have */
function sharedHead(headers: Answer['headers']): string {
  let found = heads.get(headers);
  if (found === undefined) {
    found = '';
    for (const [name, value] of Object.entries(headers)) {
      validateHeaderValue(name, value);
      found += `${name}: ${value}\r\n`;
    }
    heads.set(headers, found);
  }
  return found;
}

let second = 0;
let shownDate = '';

/** The time as in `Date` (RFC 9110, section 5.6.7). */
function date(): string {
  const now = Math.floor(Date.now() / 1000);
  if (now !== second) {
    second = now;
    shownDate = new Date(now * 1000).toUTCString();
  }
  return shownDate;
}
