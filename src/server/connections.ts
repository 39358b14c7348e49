/** The connections of one server, and the bounds on what they hold. */
import type { Socket } from 'node:net';
import { unavailable } from '../http/errors.ts';
import type { ThreadMetrics } from '../metrics/thread_metrics.ts';
import type { ServerLimits } from './limits.ts';

/** Answers up to this size are not tracked: a connection cannot hold many of them. */
const LARGE_BYTES = 16_384;
const SWEEP_MS = 1000;

interface Unread {
  readonly socket: Socket;
  readonly bytes: number;
  readonly deadlineMs: number;
}

/** One connection. */
export class Connection {
  readonly socket: Socket;
  /** Requests that are not answered, or whose answers are not written out. */
  open = 0;
  /** Of those, the ones that have had their turn. */
  running = 0;
  /** Give those that have not their turn, the first one first. */
  readonly waiting: (() => void)[] = [];

  constructor(socket: Socket) {
    this.socket = socket;
  }
}

export class Connections {
  readonly #limits: ServerLimits;
  readonly #all = new Map<Socket, Connection>();
  /** Those without an open request, the longest idle first. One that sends a request's headers byte by byte is idle, too. */
  readonly #idle = new Set<Connection>();
  /** Large answers that are handed over and not written out, the oldest first. */
  readonly #unread = new Set<Unread>();
  #unreadBytes = 0;
  #bodyBytes = 0;
  #open = 0;
  readonly #metrics: ThreadMetrics;
  #sweeper: ReturnType<typeof setInterval> | undefined;

  /** @param metrics what is kept up to date with them */
  constructor(limits: ServerLimits, metrics: ThreadMetrics) {
    this.#limits = limits;
    this.#metrics = metrics;
  }

  /** How many there are. */
  get size(): number {
    return this.#all.size;
  }

  /** Requests that are not answered, or whose answers are not written out. */
  get open(): number {
    return this.#open;
  }

  /** Parts of bodies that are being held, together. */
  get bodyBytes(): number {
    return this.#bodyBytes;
  }

  /** How many were ended from here since the start: to make room, or as their clients did not read. */
  get evicted(): number {
    return this.#metrics.get('connectionsEvicted');
  }

  /** A new connection; where there are too many, the one that has been idle longest goes, or, where none is idle, this one. */
  add(socket: Socket): void {
    const connection = new Connection(socket);
    this.#all.set(socket, connection);
    this.#idle.add(connection);
    this.#metrics.add('connectionsTotal', 1);
    this.#metrics.set('connections', this.#all.size);
    socket.once('close', () => {
      this.#all.delete(socket);
      this.#idle.delete(connection);
      this.#metrics.set('connections', this.#all.size);
    });
    if (this.#all.size > this.#limits.maxConnections) this.#evict(this.#idle.values().next().value ?? connection);
  }

  /** Whether a request of the connection is open. */
  isAnswering(socket: Socket): boolean {
    return (this.#all.get(socket)?.open ?? 0) > 0;
  }

  /** A request of a connection begins. */
  begin(socket: Socket): Connection {
    const connection = this.#all.get(socket)!;
    this.#metrics.set('openRequests', ++this.#open);
    if (++connection.open === 1) this.#idle.delete(connection);
    return connection;
  }

  /**
   * Whether a request may be answered now; then it has its turn. Where others of its connection are in front, see `waitForTurn`. (Not to read
   * from the connection would be simpler, but node:http resumes a socket whenever it has written to it.)
   */
  takesTurn(connection: Connection): boolean {
    if (connection.running >= this.#limits.maxPipelined) return false;
    connection.running++;
    return true;
  }

  /**
   * Resolves when the request has its turn.
   * @throws ApiError when there are too many in front
   */
  waitForTurn({ waiting }: Connection): Promise<void> {
    if (waiting.length >= this.#limits.maxWaiting) throw unavailable('too many requests wait on this connection');
    return new Promise(resolve => waiting.push(resolve));
  }

  /** A request's answer is written out, or never will be. */
  end(connection: Connection, hadTurn: boolean): void {
    if (hadTurn) {
      const next = connection.waiting.shift();
      if (next) next();
      else connection.running--;
    }
    this.#metrics.set('openRequests', --this.#open);
    connection.open--;
    if (connection.open === 0 && !connection.socket.destroyed) this.#idle.add(connection);
  }

  /** Counts parts of bodies that are being held; negative when they are let go. */
  holdBody(bytes: number): void {
    if (bytes > 0 && this.#bodyBytes + bytes > this.#limits.maxBodyBytes)
      throw unavailable('too many large requests are being read');
    this.#bodyBytes += bytes;
  }

  /**
   * An answer has been handed over to be written.
   * @returns what to call when it is written out, or never will be
   */
  track(socket: Socket, bytes: number): () => void {
    if (bytes <= LARGE_BYTES) return () => {};
    const { readGraceMs, minReadRate, maxUnreadBytes } = this.#limits;
    const deadlineMs = performance.now() + readGraceMs + (1000 * bytes) / minReadRate;
    const unread = { socket, bytes, deadlineMs };
    this.#unread.add(unread);
    this.#unreadBytes += bytes;
    this.#sweeper ??= setInterval(() => this.#giveUpSlowReaders(), SWEEP_MS);
    while (this.#unreadBytes > maxUnreadBytes) this.#giveUp(this.#unread.values().next().value!);
    return () => this.#forget(unread);
  }

  #giveUpSlowReaders(): void {
    const now = performance.now();
    for (const unread of this.#unread) if (unread.deadlineMs < now) this.#giveUp(unread);
  }

  #giveUp(unread: Unread): void {
    this.#forget(unread);
    this.#metrics.add('connectionsEvicted', 1);
    unread.socket.destroy();
  }

  #forget(unread: Unread): void {
    if (!this.#unread.delete(unread)) return;
    this.#unreadBytes -= unread.bytes;
    if (this.#unread.size > 0) return;
    clearInterval(this.#sweeper);
    this.#sweeper = undefined;
  }

  #evict(connection: Connection): void {
    this.#metrics.add('connectionsEvicted', 1);
    this.#idle.delete(connection);
    connection.socket.destroy();
  }

  /** Ends those without an open request. */
  endIdle(): void {
    for (const { socket } of this.#idle) socket.destroy();
  }
}
