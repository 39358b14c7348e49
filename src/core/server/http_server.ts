/**
 * Serves HTTP/1.1 over `node:http`. Deno has it, too, where it is as fast as `Deno.serve` (17 µs of CPU against 19 for
 * 500 bytes, Deno 2.9.5). So clients have the same limits under both runtimes.
 */
import { createServer, IncomingMessage, type Server, ServerResponse } from 'node:http';
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { latin1 } from '@nearsky/astrotables/bytes';
import { letGo } from '../answers/answer_memory.ts';
import type { StreamedBody } from '../answers/body.ts';
import { listenError } from '../base/ports.ts';
import { isHttpOverSockets, outsideParser } from '../base/runtime.ts';
import { MAX_BODY_BYTES } from '../contract/limits.ts';
import type { BodyLimits } from '../host.ts';
import { ApiError, errorResponse, expectedErrorOf, methodNotAllowed } from '../http/errors.ts';
import { type IncomingRequest, PlainRequest } from '../http/incoming.ts';
import { type Answer, ownHeaders } from '../http/respond.ts';
import { ThreadMetrics } from '../metrics/thread_metrics.ts';
import { Connections, cut, type OpenRequest } from './connections.ts';
import { NodeHeaders, NodeRequest } from './node_request.ts';
import { PlainConnection, type PlainResponse } from './plain_connection.ts';
import type { PlainGet } from './plain_get.ts';
import { rawAnswer, refusalOf, type UnknownMethod } from './raw_answer.ts';
import type { ServerLimits } from './server_limits.ts';

export interface ListenOptions {
  /** Never throws or rejects. `peerAddress`: the IP address that the connection comes from. */
  readonly answer: (request: IncomingRequest, peerAddress?: string) => Answer | Promise<Answer>;
  /** The name to which a client's use of shared resources is charged; by default the address of its connection. */
  readonly clientOf?: (request: Pick<IncomingRequest, 'headers'>, peerAddress?: string) => string;
  /** The client to which a new connection is charged; undefined for a proxy. By default, none is charged. */
  readonly shareOf?: (peerAddress: string) => string | undefined;
  readonly host: string;
  /** The port; 0 chooses a free one. */
  readonly port: number;
  /** Whether other servers may listen on the same port, each for a share of the connections. */
  readonly reusePort?: boolean;
  readonly limits: ServerLimits;
  /** By default, all bodies are short JSON. */
  readonly bodies?: readonly BodyLimits[];
  /** Whether `node:http` reads only what is not a plain GET request; by default yes. */
  readonly plainGets?: boolean;
  /** The counts of the connections. */
  readonly metrics?: ThreadMetrics;
  /** Whether clients must read faster, because other queries wait for the memory of their answers. */
  readonly isMemoryWanted?: () => boolean;
}

type Outgoing = ServerResponse | PlainResponse;

/** The interval of checking whether all answers are written. */
const DRAIN_POLL_MS = 10;
/** The interval of checking the clients' time limits. */
const CHECK_MS = 1000;
/** How long the server continues to read a connection after an answer that was sent before the end of the request. */
const LINGER_MS = 1000;
/** The rest of an unwanted body is read if it has at most this size. */
const SKIPPED_BYTES = 262_144;
const BACKLOG = 4096;
/**
 * Bodies up to this size are sent together with their headers as one string, one character per byte: one write instead
 * of a gathered one.
 */
const MAX_TEXT_BYTES = 8192;

export class HttpServer {
  readonly connections: Connections;
  readonly #options: ListenOptions;
  readonly #server: Server;
  /** The last request of a connection, if it was answered before its body had arrived. */
  readonly #skipped = new WeakMap<Socket, IncomingMessage>();
  #isClosing = false;

  constructor(options: ListenOptions) {
    const { limits, metrics = new ThreadMetrics(), isMemoryWanted = () => false, shareOf = () => undefined } = options;
    this.#options = options;
    this.connections = new Connections(limits, metrics, isMemoryWanted, shareOf);
    this.#server = createServer({
      headersTimeout: limits.headersMs,
      requestTimeout: limits.requestMs,
      keepAliveTimeout: limits.keepAliveMs,
      connectionsCheckingInterval: CHECK_MS,
      maxHeaderSize: limits.maxHeaderBytes,
      // The app itself answers a request without a host. It also answers a request with two hosts, which look like one
      // invalid host.
      requireHostHeader: false,
      joinDuplicateHeaders: true,
    });
    this.#server.timeout = limits.inactivityMs;
    // A client may close its sending side before it reads the answer.
    Object.assign(this.#server, { httpAllowHalfOpen: true });
    if (isHttpOverSockets && (options.plainGets ?? true)) this.#readPlainGets();
    this.#server.prependListener('connection', (socket: Socket) => this.connections.add(socket));
    this.#server
      .on('request', (incoming, outgoing) => this.#handle(incoming, outgoing))
      .on('checkContinue', (incoming, outgoing) => {
        if (!(Number(incoming.headers['content-length']) > this.#bodyOf(incoming.url!).maxBytes))
          outgoing.writeContinue();
        this.#handle(incoming, outgoing);
      })
      .on('checkExpectation', (incoming, outgoing) => this.#handle(incoming, outgoing))
      .on('connect', ({ method, url }, socket) => this.#refuse({ method: method!, target: url! }, socket as Socket))
      .on('timeout', socket => this.connections.expire(socket))
      .on('clientError', (error, socket) => this.#refuse(refusalOf(error), socket as Socket));
  }

  /** Reads plain GET requests first, and lets `node:http` read the rest of a connection. */
  #readPlainGets(): void {
    const [handOver] = this.#server.listeners('connection') as ((socket: Socket) => void)[];
    const owner = {
      limits: this.#options.limits,
      handle: (request: PlainGet, response: PlainResponse) => this.#handle(request, response),
      handOver: (socket: Socket) => handOver!.call(this.#server, socket),
    };
    this.#server.removeAllListeners('connection').on('connection', socket => new PlainConnection(socket, owner));
  }

  /**
   * Starts to listen, and returns the port.
   * @throws Error when the address cannot be listened on
   */
  async listen(): Promise<number> {
    const { host, port, reusePort = false } = this.#options;
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', error => reject(listenError(host, port, error)));
      this.#server.listen({ host, port, reusePort, backlog: BACKLOG }, resolve);
    });
    return (this.#server.address() as AddressInfo).port;
  }

  /**
   * Accepts no more connections, lets running requests finish, and after `drainMs` ends the remaining ones. An HTTP
   * server's own `close` would also end every connection whose answer was handed over, although most of the answer may
   * still wait for the client to read it.
   */
  async close(drainMs: number): Promise<void> {
    this.#isClosing = true;
    const closed = new Promise(resolve => NetServer.prototype.close.call(this.#server, resolve));
    const deadline = performance.now() + drainMs;
    this.connections.endIdle();
    while (this.connections.open > 0 && performance.now() < deadline) await sleep(DRAIN_POLL_MS);
    this.connections.endAll();
    await closed;
  }

  #handle(incoming: IncomingMessage | PlainGet, outgoing: Outgoing): void {
    const { connections } = this;
    const request = connections.begin(incoming);
    if (!request) return;
    outgoing.once('close', () => connections.end(request));
    outsideParser(() => {
      if (connections.admits(request)) this.#answer(request, outgoing);
      else void this.#answerWhenAdmitted(request, outgoing);
    });
  }

  async #answerWhenAdmitted(request: OpenRequest, outgoing: Outgoing): Promise<void> {
    try {
      await this.connections.waitForAdmission(request);
    } catch (error) {
      return this.#send(request, refusal(error), outgoing);
    }
    this.#answer(request, outgoing);
  }

  #answer(request: OpenRequest, outgoing: Outgoing): void {
    const { incoming } = request;
    let answer: Answer | Promise<Answer>;
    try {
      const message =
        incoming instanceof IncomingMessage
          ? this.#nodeRequest(request, incoming, outgoing as ServerResponse)
          : incoming;
      answer = this.#options.answer(message, incoming.socket.remoteAddress);
    } catch (error) {
      answer = refusal(error);
    }
    if (answer instanceof Promise) void answer.then(whole => this.#send(request, whole, outgoing));
    else this.#send(request, answer, outgoing);
  }

  /** A request whose body is charged to its client as it is read. */
  #nodeRequest(request: OpenRequest, incoming: IncomingMessage, outgoing: ServerResponse): NodeRequest {
    const most = this.#bodyOf(incoming.url!).maxHeldBytes;
    return new NodeRequest(incoming, outgoing, request.chunks, bytes =>
      this.connections.holdBody(request, Math.min(bytes, most - request.bodyBytes), this.#clientOf(request)),
    );
  }

  #clientOf({ incoming, client }: OpenRequest): string {
    if (client !== '') return client;
    const headers = incoming instanceof IncomingMessage ? new NodeHeaders(incoming) : incoming.headers;
    const { remoteAddress } = incoming.socket;
    return this.#options.clientOf?.({ headers }, remoteAddress) ?? `${remoteAddress}`;
  }

  #send(request: OpenRequest, answer: Answer, outgoing: Outgoing): void {
    if (!request.isOpen) {
      letGo(answer.body);
      answer.stream?.gone();
      return;
    }
    const { incoming } = request;
    request.isAnswered = true;
    request.body = answer.body;
    if (this.#isClosing) outgoing.shouldKeepAlive = false;
    if (incoming instanceof IncomingMessage && !incoming.complete && hasBody(incoming) && !this.#skipsBody(incoming))
      this.#endAfter(incoming, outgoing);
    const { stream } = answer;
    if (stream && incoming.method !== 'HEAD') {
      this.#stream(request, stream, answer, outgoing);
      return;
    }
    stream?.gone();
    send(answer, incoming.method, outgoing);
    if (outgoing.writableLength > 0) this.#track(request, answer.body?.length ?? 0);
  }

  #track(request: OpenRequest, bytes: number): void {
    this.connections.track(request, bytes, this.#clientOf(request));
  }

  /** The limits on clients that do not read apply to each part, too. */
  #stream(request: OpenRequest, stream: StreamedBody, answer: Answer, outgoing: Outgoing): void {
    this.connections.keepFor(request);
    outgoing.shouldKeepAlive = false;
    outgoing.once('close', () => stream.gone());
    // Otherwise the server would notice only at the next part that a client has disconnected.
    if (stream.isEndless) request.incoming.socket.once('end', () => outgoing.destroy());
    writeHead(answer, 'parts', outgoing);
    stream.begin({
      write: bytes => {
        outgoing.write(bytes, () => {
          this.connections.untrack(request);
          stream.written();
        });
        if (outgoing.writableLength > 0) this.#track(request, outgoing.writableLength);
      },
      end: () => {
        if (outgoing.writableLength > 0) outgoing.destroy();
        else outgoing.end();
      },
      fail: () => cut(request.connection),
    });
  }

  /**
   * Whether the rest of an unwanted body is short enough to be read, so that the connection stays usable; if so, starts
   * reading it.
   */
  #skipsBody(incoming: IncomingMessage): boolean {
    if (!(Number(incoming.headers['content-length']) <= SKIPPED_BYTES)) return false;
    this.#skipped.set(incoming.socket, incoming);
    incoming.resume();
    return true;
  }

  /**
   * Answers before the request has ended. The rest of the request is neither stored nor parsed. The connection is still
   * read for a while, because the system resets a connection with unread bytes, and the answer would be lost.
   */
  #endAfter(incoming: IncomingMessage, outgoing: Outgoing): void {
    const { socket } = incoming;
    outgoing.shouldKeepAlive = false;
    socket.destroySoon = () => {
      socket.end();
      // Without the parser's listener, later bytes are dropped.
      socket.removeAllListeners('data');
      socket.on('data', () => {});
      incoming.resume();
      const timer = setTimeout(() => socket.destroy(), LINGER_MS);
      socket.once('close', () => clearTimeout(timer));
    };
  }

  /** Answers a request that is not HTTP, arrived too slowly, or has an unknown method. Then ends the connection. */
  #refuse(refusal: ApiError | UnknownMethod | undefined, socket: Socket): void {
    // A connection that never sent anything gets no answer.
    if (!refusal || !socket.writable || socket.bytesRead === 0) {
      socket.destroy();
      return;
    }
    // If the client sends nothing more, `node:http` would end the connection with the answer before this one.
    socket.removeAllListeners('end');
    this.connections.endWith(socket, async () => {
      // No request is answered twice.
      if (this.#skipped.get(socket)?.complete === false) return socket.destroySoon();
      const answer = refusal instanceof ApiError ? errorResponse(refusal) : await this.#answerOther(refusal, socket);
      socket.end(rawAnswer(answer), () => socket.destroy());
    });
  }

  #bodyOf(target: string): Omit<BodyLimits, 'path'> {
    return this.#options.bodies?.find(({ path }) => target.startsWith(path)) ?? JSON_BODY;
  }

  /** Lets the app answer an unknown method, because it knows the methods of the path. A CONNECT has no path. */
  #answerOther({ method, target }: UnknownMethod, socket: Socket): Promise<Answer> | Answer {
    if (!target.startsWith('/')) return errorResponse(methodNotAllowed(method, METHODS_OF_ANY_PATH));
    const { href } = new URL(`http://localhost${target}`);
    return this.#options.answer(new PlainRequest(method, href, [], null), socket.remoteAddress);
  }
}

/** Bodies of JSON are held in memory. */
const JSON_BODY = { maxBytes: MAX_BODY_BYTES, maxHeldBytes: MAX_BODY_BYTES };

/** The value of the `Allow` header for a request without a path. */
const METHODS_OF_ANY_PATH = 'GET, HEAD, POST, OPTIONS';

function refusal(error: unknown): Answer {
  const expected = expectedErrorOf(error);
  if (!expected) throw error;
  return errorResponse(expected);
}

/**
 * Whether a body follows the headers. Node marks a request without a body as complete only in the turn after its
 * headers.
 */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
}

/** Header lines, name and value in turn, of the headers that most answers share. */
const lines = new WeakMap<Answer['headers'], readonly string[]>();

function linesOf(headers: Answer['headers']): readonly string[] {
  let found = lines.get(headers);
  if (!found) {
    found = Object.entries(headers).flat();
    lines.set(headers, found);
  }
  return found;
}

/** @param length the length of the body; undefined without a body; 'parts' if the body is written in parts */
function writeHead(answer: Answer, length: number | 'parts' | undefined, outgoing: Outgoing): void {
  if (!(outgoing instanceof ServerResponse)) {
    outgoing.writeHead(answer, length);
    return;
  }
  const all = [...linesOf(answer.headers), ...ownHeaders(answer)];
  if (typeof length === 'number') all.push('Content-Length', `${length}`);
  outgoing.writeHead(answer.status, all);
}

function send(answer: Answer, method: string | undefined, outgoing: Outgoing): void {
  const { status, body } = answer;
  const length = body === null ? 0 : typeof body === 'string' ? Buffer.byteLength(body) : body.length;
  // The length of the body that a 204, a 304 or HEAD omits may be unknown here.
  const isUnknown = status === 204 || status === 304 || (body === null && method === 'HEAD');
  writeHead(answer, isUnknown ? undefined : length, outgoing);
  if (body === null) outgoing.end();
  // Nearly always ASCII, which needs no encoding.
  else if (typeof body === 'string') outgoing.end(body, length === body.length ? 'latin1' : 'utf8');
  else if (length > MAX_TEXT_BYTES) outgoing.end(body);
  else outgoing.end(latin1(body), 'latin1');
}
