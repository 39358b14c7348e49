/** A `node:http` message as the operations see a request. */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { afterThisIteration, skipBody } from '../base/runtime.ts';
import { HOST } from '../http/base_url.ts';
import { invalidParameter, unknownTransferCoding, unsupportedVersion } from '../http/errors.ts';
import type { IncomingBody, IncomingChunk, IncomingHeaders, IncomingRequest } from '../http/incoming.ts';
import { invalidBody } from '../http/json_body.ts';

const PLAIN_TARGET = /^\/[\w!$&'()*+,./:;=?@~%-]*$/;
const DOT_SEGMENT = /\/(\.|%2e){1,2}(?:[/?]|$)/i;

/** Whether `URL` would not change a target. Nearly all targets are like this, and need no parsing. */
export function isPlainTarget(target: string): boolean {
  return PLAIN_TARGET.test(target) && !DOT_SEGMENT.test(target);
}

/** Whether this is the name or address of a host, as in the header `Host`. */
export function isHost(host: string): boolean {
  return HOST.test(host) && URL.canParse(`http://${host}`);
}

/** The host for HTTP/1.0 requests, which may omit it. */
const NO_HOST = 'localhost';

export class NodeRequest implements IncomingRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHeaders;
  readonly #incoming: IncomingMessage;
  readonly #outgoing: Continuable;
  readonly #onBytes: (bytes: number) => void;
  readonly #chunks: Chunks | undefined;

  /**
   * @param outgoing the answer
   * @param chunks the chunks of the body, if it is chunked
   * @param onBytes called with the size of each part of the body that is read; if it throws, reading stops
   * @throws ApiError for a request without a valid host, with an HTTP version other than 1.0 and 1.1, or with a body in
   * a coding that the service cannot decode
   */
  constructor(
    incoming: IncomingMessage,
    outgoing: Continuable,
    chunks: Chunks | undefined,
    onBytes: (bytes: number) => void,
  ) {
    this.#incoming = incoming;
    this.#outgoing = outgoing;
    this.#chunks = chunks;
    this.#onBytes = onBytes;
    if (incoming.httpVersionMajor !== 1) throw unsupportedVersion(incoming.httpVersion);
    const coding = incoming.headers['transfer-encoding'];
    if (coding !== undefined && coding.toLowerCase() !== 'chunked') throw unknownTransferCoding(coding);
    this.method = incoming.method!;
    this.headers = new NodeHeaders(incoming);
    this.url = urlOf(incoming);
  }

  get body(): IncomingBody {
    return { getReader: () => new BodyReader(this.#incoming, this.#onBytes, this.#chunks) };
  }

  onGone(act: () => void): () => void {
    const { socket, httpVersionMinor } = this.#incoming;
    return whenGone(socket, httpVersionMinor === 0 ? undefined : this.#outgoing, act);
  }
}

/** An answer before which an interim answer may be sent. */
interface Continuable {
  writeContinue(): void;
}

/** The pause after the first check whether a client that sends nothing more still reads; each further one is doubled. */
const FIRST_PROBE_MS = 10;
/** The longest pause between two checks. */
const PROBE_MS = 500;

/**
 * Calls `act` when a client closes its connection. A client that only stops sending looks the same, but still reads
 * interim answers (RFC 9110, section 15.2). The system of a client that has closed rejects them.
 * @param outgoing the answer to the client; undefined if the client does not know interim answers
 * @returns a function that cancels this
 */
export function whenGone(socket: Socket, outgoing: Continuable | undefined, act: () => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  // The first write makes the client's system reject the connection, a later one finds that.
  const probe = (pauseMs: number) => {
    outgoing?.writeContinue();
    timer = setTimeout(probe, pauseMs, Math.min(2 * pauseMs, PROBE_MS));
  };
  const begin = () => probe(FIRST_PROBE_MS);
  const cancel = () => {
    clearTimeout(timer);
    socket.off('end', begin);
    socket.off('close', gone);
  };
  const gone = () => {
    cancel();
    act();
  };
  socket.once('close', gone);
  if (socket.readableEnded) begin();
  else socket.once('end', begin);
  return cancel;
}

export class NodeHeaders implements IncomingHeaders {
  readonly #incoming: IncomingMessage;

  constructor(incoming: IncomingMessage) {
    this.#incoming = incoming;
  }

  get(name: string): string | null {
    const value = this.#incoming.headers[name.toLowerCase()];
    return (Array.isArray(value) ? value.join(', ') : value) ?? null;
  }

  has(name: string): boolean {
    return this.#incoming.headers[name.toLowerCase()] !== undefined;
  }

  *[Symbol.iterator](): Iterator<[string, string]> {
    for (const name of Object.keys(this.#incoming.headers)) yield [name, this.get(name)!];
  }
}

/** The last valid host. The next request nearly always has the same. */
let lastHost = NO_HOST;

function urlOf({ url, headers, httpVersionMinor }: IncomingMessage): string {
  const target = url!;
  const host = headers.host ?? (httpVersionMinor === 0 ? NO_HOST : '');
  if (host !== lastHost) {
    if (!isHost(host)) throw invalidParameter('Host', 'the name or address of a host', host);
    lastHost = host;
  }
  if (isPlainTarget(target)) return `http://${host}${target}`;
  return unusualUrl(target, host);
}

/** The URL for a target that `URL` would change, a whole URL (RFC 9112, section 3.2.2), or `*`. */
function unusualUrl(target: string, host: string): string {
  // Browsers treat a backslash as a slash, but in a request target it is an ordinary character. (The parser refuses
  // characters beyond ASCII.)
  const encoded = target.replaceAll('\\', '%5C');
  const isWhole = /^https?:\/\//i.test(encoded);
  const parsed = URL.parse(isWhole ? encoded : `http://${host}${encoded.startsWith('/') ? '' : '/'}${encoded}`);
  if (!parsed) throw invalidParameter('Host', 'the name or address of a host', target);
  return parsed.href;
}

/** The minimum mean size of a body's chunks, bytes, if it has more than this many. */
const LEAST_CHUNKS = [
  { moreThan: 10_000, meanBytes: 64 },
  { moreThan: 1000, meanBytes: 8 },
];
/** Chunks up to this size are gathered. In a stream, each takes 3 µs and 600 bytes, whatever its size. */
const GATHERED_BYTES = 512;

/** Counts the chunks of a body as they arrive, gathers small ones, and drops those beyond the limit. */
export class Chunks {
  #count = 0;
  #bytes = 0;
  #gathered: Uint8Array[] = [];
  #areTooSmall = false;
  #endSkip = () => {};

  constructor(incoming: IncomingMessage) {
    const push = incoming.push.bind(incoming);
    let wantsMore = true;
    const pass = () => {
      if (this.#gathered.length > 0) wantsMore = push(Buffer.concat(this.#gathered));
      this.#gathered = [];
    };
    incoming.push = (chunk: Uint8Array | null, encoding) => {
      if (chunk) {
        if (this.#areTooSmall) return false;
        this.#count++;
        this.#bytes += chunk.length;
        // The first chunk beyond a limit wakes the reader.
        this.#areTooSmall = this.#limit() !== undefined;
        if (this.#areTooSmall) this.#endSkip = skipBody(incoming.socket);
        else if (chunk.length <= GATHERED_BYTES) {
          if (this.#gathered.push(chunk) === 1) afterThisIteration(pass);
          return wantsMore;
        }
      } else this.#endSkip();
      pass();
      return push(chunk, encoding);
    };
  }

  /** The limit that the chunks exceed. A chunk that arrives in two packets counts twice. */
  #limit() {
    return LEAST_CHUNKS.find(
      ({ moreThan, meanBytes }) => this.#count > moreThan && 2 * this.#bytes < meanBytes * this.#count,
    );
  }

  /** @throws ApiError if there are too many small chunks */
  check(): void {
    if (!this.#areTooSmall) return;
    const { moreThan, meanBytes } = this.#limit()!;
    const mean = Math.round(this.#bytes / this.#count);
    throw invalidBody(
      `its chunks must have at least ${meanBytes} bytes on average if there are more than ${moreThan} (they have ${mean})`,
    );
  }
}

/** After a small part, all bytes that have arrived are read at once, because a client may send chunks of one byte. */
const SMALL_PART_BYTES = 512;

/** Reads a body as it arrives, no faster than the consumer requests it. */
class BodyReader {
  readonly #incoming: IncomingMessage;
  readonly #onBytes: (bytes: number) => void;
  readonly #chunks: Chunks | undefined;
  #isCancelled = false;
  #wasSmall = false;
  #wake = () => {};

  constructor(incoming: IncomingMessage, onBytes: (bytes: number) => void, chunks: Chunks | undefined) {
    this.#incoming = incoming;
    this.#onBytes = onBytes;
    this.#chunks = chunks;
  }

  async read(): Promise<IncomingChunk> {
    const incoming = this.#incoming;
    if (this.#wasSmall && !incoming.complete) await new Promise<void>(afterThisIteration);
    while (!this.#isCancelled) {
      // All bytes that have arrived: without a length, Deno reads one chunk.
      const value = incoming.read(incoming.readableLength || undefined) as Buffer | null;
      if (value !== null) {
        this.#chunks?.check();
        this.#onBytes(value.length);
        this.#wasSmall = value.length < SMALL_PART_BYTES;
        return { done: false, value };
      }
      if (incoming.readableEnded) break;
      if (incoming.destroyed) throw incoming.errored ?? new Error('the connection has ended');
      await this.#change();
    }
    return { done: true };
  }

  async cancel(): Promise<void> {
    this.#isCancelled = true;
    this.#wake();
  }

  /** Resolves when there is new data to read. */
  #change(): Promise<void> {
    const incoming = this.#incoming;
    return new Promise(resolve => {
      this.#wake = () => {
        for (const event of CHANGES) incoming.off(event, this.#wake);
        resolve();
      };
      for (const event of CHANGES) incoming.on(event, this.#wake);
    });
  }
}

const CHANGES = ['readable', 'end', 'error', 'close'] as const;
