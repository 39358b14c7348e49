/** The connections of one server, their open requests, and the limits on their resources. */
import { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { isReserved, letGo } from '../answers/answer_memory.ts';
import { ClientRoom } from '../base/client_room.ts';
import { Unavailable } from '../base/refusal.ts';
import { Share } from '../base/share.ts';
import type { Answer } from '../http/respond.ts';
import type { ThreadMetrics } from '../metrics/thread_metrics.ts';
import { Chunks } from './node_request.ts';
import type { PlainGet } from './plain_get.ts';
import type { ServerLimits } from './server_limits.ts';

const SWEEP_MS = 1000;
/** The time in which new connections are counted. */
const ACCEPT_MS = 1000;

/** A request that is not answered, or whose answer is not completely written. */
export class OpenRequest {
  readonly incoming: IncomingMessage | PlainGet;
  readonly connection: Connection;
  /** The number of chunks of the body so far. Deno parses 64 KiB of them before it continues. */
  readonly chunks: Chunks | undefined;
  /** Whether the request is still open. */
  isOpen = true;
  isAdmitted = false;
  isAnswered = false;
  /** The body of the answer; its memory is freed once the answer is written. */
  body: Answer['body'] = null;
  /** The client to which its bytes are charged, once it has any. */
  client = '';
  /** The held bytes of the request's body. */
  bodyBytes = 0;
  /** The bytes of the answer that the client has not read yet, and how many of them have no reserved memory. */
  unreadBytes = 0;
  unreservedBytes = 0;
  /**
   * The deadline for reading the unread bytes, by `performance.now()`; and the earlier deadline that applies while
   * other queries wait for memory.
   */
  readByMs = 0;
  readFastByMs = 0;

  constructor(incoming: IncomingMessage | PlainGet, connection: Connection) {
    if (incoming instanceof IncomingMessage && incoming.headers['transfer-encoding'] !== undefined)
      this.chunks = new Chunks(incoming);
    this.incoming = incoming;
    this.connection = connection;
  }
}

class Connection {
  readonly socket: Socket;
  /**
   * The open requests, nearly always one. This is a list, because the old hash tables of a growing set would keep
   * answered requests alive.
   */
  readonly requests: OpenRequest[] = [];
  /** The number of open requests that have had their turn. */
  running = 0;
  /** Functions that give a waiting request its turn, in the order of the requests. */
  readonly waiting: (() => void)[] = [];
  /** The unread bytes of the answers to all requests of the connection. */
  unreadBytes = 0;
  /** Ends the connection when no request is open any more. */
  last: (() => void) | undefined;

  constructor(socket: Socket) {
    this.socket = socket;
  }
}

/**
 * Ends a connection. If an answer is not completely written, resets it: a client of HTTP/1.0 would take the end of the
 * connection for the end of an answer without a length.
 */
export function cut({ requests, socket }: Connection): void {
  if (requests.length > 0) socket.resetAndDestroy();
  else socket.destroy();
}

export class Connections {
  readonly #limits: ServerLimits;
  readonly #all = new Map<Socket, Connection>();
  /**
   * The connections without an open request; the one that has been idle longest comes first. A connection that sends a
   * request's headers byte by byte counts as idle.
   */
  readonly #idle = new Set<Connection>();
  /** The requests whose answers are handed over but not completely written, the oldest first. */
  readonly #unread = new Set<OpenRequest>();
  /** Those without reserved memory, and their bytes, by client. */
  readonly #unreserved = new Map<string, { bytes: number; readonly requests: Set<OpenRequest> }>();
  #unreservedBytes = 0;
  #open = 0;
  readonly #bodies: ClientRoom;
  readonly #shareOf: (peerAddress: string) => string | undefined;
  /** The new connections since this time, by `performance.now()`. */
  #accepted = new Share(0);
  #acceptedSinceMs = Number.NEGATIVE_INFINITY;
  readonly #metrics: ThreadMetrics;
  readonly #isMemoryWanted: () => boolean;
  #sweeper: ReturnType<typeof setInterval> | undefined;

  /**
   * @param metrics the metrics that the connections update
   * @param isMemoryWanted whether clients with long answers must read faster
   * @param shareOf the client to which a new connection is charged; undefined for a proxy, which connects for others
   */
  constructor(
    limits: ServerLimits,
    metrics: ThreadMetrics,
    isMemoryWanted: () => boolean,
    shareOf: (peerAddress: string) => string | undefined,
  ) {
    this.#limits = limits;
    this.#shareOf = shareOf;
    this.#bodies = new ClientRoom({
      maxBytes: limits.maxBodyBytes,
      isFull: 'too many large requests are being read',
      isHalf: 'the requests of this client use half of the memory for requests that are being read',
    });
    this.#metrics = metrics;
    this.#isMemoryWanted = isMemoryWanted;
  }

  get size(): number {
    return this.#all.size;
  }

  /** Requests that are not answered, or whose answers are not completely written. */
  get open(): number {
    return this.#open;
  }

  /** The total size of the body parts held in memory. */
  get bodyBytes(): number {
    return this.#bodies.held;
  }

  /**
   * The number of connections that the server has ended since its start: to make room, or because their clients did not
   * read.
   */
  get evicted(): number {
    return this.#metrics.get('connectionsEvicted');
  }

  /**
   * Adds a connection. If there are too many, ends the connection that has been idle longest or, if none is idle, the
   * new one.
   */
  add(socket: Socket): void {
    if (!this.#mayConnect(socket.remoteAddress ?? '')) {
      this.#metrics.add('connectionsTotal', 1);
      this.#metrics.add('connectionsEvicted', 1);
      socket.resetAndDestroy();
      return;
    }
    const connection = new Connection(socket);
    this.#all.set(socket, connection);
    this.#idle.add(connection);
    this.#metrics.add('connectionsTotal', 1);
    this.#metrics.set('connections', this.#all.size);
    socket.once('close', () => {
      this.#all.delete(socket);
      this.#idle.delete(connection);
      this.#metrics.set('connections', this.#all.size);
      // Deno 2.9.5 reports only the end of the first request.
      for (const request of [...connection.requests]) this.end(request);
    });
    if (this.#all.size > this.#limits.maxConnections) this.#evict(this.#idle.values().next().value ?? connection);
  }

  #mayConnect(peerAddress: string): boolean {
    const client = this.#shareOf(peerAddress);
    if (client === undefined) return true;
    const nowMs = performance.now();
    if (nowMs >= this.#acceptedSinceMs + ACCEPT_MS) {
      this.#acceptedSinceMs = nowMs;
      this.#accepted = new Share(this.#limits.maxNewConnections);
    }
    if (this.#accepted.left(client) < 1) return false;
    this.#accepted.add(client);
    return true;
  }

  /**
   * Begins a request of a connection; undefined if the connection has ended. If too many requests are open in total, a
   * connection with several open requests is ended: had it sent one request after another, they would have been
   * answered.
   */
  begin(incoming: IncomingMessage | PlainGet): OpenRequest | undefined {
    const connection = this.#all.get(incoming.socket);
    if (!connection || connection.socket.destroyed) return undefined;
    if (this.#open >= this.#limits.maxOpen && connection.requests.length > 0) {
      this.#evict(connection);
      return undefined;
    }
    const request = new OpenRequest(incoming, connection);
    this.#metrics.set('openRequests', ++this.#open);
    if (connection.requests.push(request) === 1) this.#idle.delete(connection);
    return request;
  }

  /**
   * Whether a request may be answered now; if so, it has its turn. A request behind others of its connection must wait,
   * with `waitForAdmission`. (It would be simpler not to read from the connection, but node:http resumes a socket
   * whenever it has written to it.)
   */
  admits(request: OpenRequest): boolean {
    const { connection } = request;
    if (connection.waiting.length > 0 || !this.#hasRoom(connection)) return false;
    connection.running++;
    request.isAdmitted = true;
    return true;
  }

  #hasRoom({ running, unreadBytes }: Connection): boolean {
    return running < this.#limits.maxPipelined && unreadBytes < this.#limits.maxUnreadOfOne;
  }

  /**
   * Resolves when the request has its turn; never resolves if its connection has ended before.
   * @throws Unavailable if too many requests are ahead of it
   */
  waitForAdmission(request: OpenRequest): Promise<void> {
    const { waiting } = request.connection;
    if (waiting.length >= this.#limits.maxWaiting) throw new Unavailable('too many requests wait on this connection');
    return new Promise(resolve => {
      waiting.push(() => {
        request.isAdmitted = true;
        resolve();
      });
    });
  }

  /** Marks a request whose answer has no end: later requests of its connection never get their turn. */
  keepFor({ connection }: OpenRequest): void {
    connection.running = Number.POSITIVE_INFINITY;
  }

  /** Ends a request whose answer is written, or never will be. */
  end(request: OpenRequest): void {
    if (!request.isOpen) return;
    request.isOpen = false;
    const { connection, isAdmitted } = request;
    connection.requests.splice(connection.requests.indexOf(request), 1);
    if (request.bodyBytes > 0) this.#bodies.free(request.client, request.bodyBytes);
    letGo(request.body);
    request.body = null;
    this.untrack(request);
    this.#metrics.set('openRequests', --this.#open);
    if (connection.socket.destroyed) return;
    if (isAdmitted) connection.running--;
    while (connection.waiting.length > 0 && this.#hasRoom(connection)) {
      connection.running++;
      connection.waiting.shift()!();
    }
    if (connection.requests.length > 0) return;
    if (connection.last) connection.last();
    else this.#idle.add(connection);
  }

  /**
   * Ends a connection from which nothing more can be read. First every complete request is answered. Then `last`
   * answers the incomplete one, and ends the connection.
   */
  endWith(socket: Socket, last: () => void): void {
    const connection = this.#all.get(socket);
    if (!connection || connection.last) return;
    const broken = connection.requests.find(({ incoming }) => !incoming.complete);
    // The last request was answered before it had arrived completely.
    connection.last = broken?.isAnswered ? () => socket.destroySoon() : last;
    if (broken && !broken.isAnswered) this.end(broken);
    else if (connection.requests.length === 0) last();
  }

  /**
   * Counts a part of a body that is being held until its request has ended.
   * @param client the same name for all parts of a request
   * @throws Unavailable if there is no memory left, or the client already uses half of it
   */
  holdBody(request: OpenRequest, bytes: number, client: string): void {
    if (!request.isOpen || bytes === 0) return;
    this.#bodies.take(client, bytes);
    request.bodyBytes += bytes;
    request.client = client;
  }

  /**
   * Tracks an answer that was handed over but not completely written: the client must read it, and all answers before
   * it, in time. If all clients have too many unread bytes, those of the client with the most are dropped, the oldest
   * first.
   */
  track(request: OpenRequest, bytes: number, client: string): void {
    const { readGraceMs, minReadRate, wantedGraceMs, wantedReadRate, maxUnreadBytes } = this.#limits;
    const { connection } = request;
    const nowMs = performance.now();
    request.unreadBytes = bytes;
    request.unreservedBytes = isReserved(request.body) ? 0 : bytes;
    connection.unreadBytes += bytes;
    request.readByMs = nowMs + readGraceMs + (1000 * connection.unreadBytes) / minReadRate;
    request.readFastByMs = nowMs + wantedGraceMs + (1000 * connection.unreadBytes) / wantedReadRate;
    this.#unread.add(request);
    if (request.unreservedBytes > 0) this.#count(request, client);
    this.#sweeper ??= setInterval(() => this.#giveUpSlowReaders(), SWEEP_MS);
    while (this.#unreservedBytes > maxUnreadBytes) {
      const [most] = [...this.#unreserved.values()].sort((a, b) => b.bytes - a.bytes);
      this.#giveUp(most!.requests.values().next().value!);
    }
  }

  #count(request: OpenRequest, client: string): void {
    const own = this.#unreserved.get(client) ?? { bytes: 0, requests: new Set() };
    own.bytes += request.unreservedBytes;
    own.requests.add(request);
    this.#unreserved.set(client, own);
    request.client = client;
    this.#unreservedBytes += request.unreservedBytes;
  }

  #giveUpSlowReaders(): void {
    const nowMs = performance.now();
    const isWanted = this.#isMemoryWanted();
    for (const request of this.#unread)
      if (request.readByMs < nowMs || (isWanted && isReserved(request.body) && request.readFastByMs < nowMs))
        this.#giveUp(request);
    if (this.#unread.size > 0) return;
    clearInterval(this.#sweeper);
    this.#sweeper = undefined;
  }

  #giveUp({ connection }: OpenRequest): void {
    this.#evict(connection);
    for (const request of connection.requests) this.untrack(request);
  }

  /** Stops counting a request's unread bytes, because the operating system has accepted its whole answer. */
  untrack(request: OpenRequest): void {
    if (!this.#unread.delete(request)) return;
    const own = this.#unreserved.get(request.client);
    if (own?.requests.delete(request)) {
      own.bytes -= request.unreservedBytes;
      this.#unreservedBytes -= request.unreservedBytes;
      if (own.requests.size === 0) this.#unreserved.delete(request.client);
    }
    request.connection.unreadBytes -= request.unreadBytes;
  }

  #evict(connection: Connection): void {
    this.#metrics.add('connectionsEvicted', 1);
    this.#idle.delete(connection);
    cut(connection);
  }

  /** Ends a connection on which there was no byte for too long. */
  expire(socket: Socket): void {
    const connection = this.#all.get(socket);
    if (connection) cut(connection);
    else socket.destroy();
  }

  endAll(): void {
    for (const connection of this.#all.values()) cut(connection);
  }

  /** Ends the connections without an open request. */
  endIdle(): void {
    for (const { socket } of this.#idle) socket.destroy();
  }
}
