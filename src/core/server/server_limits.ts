/** The limits of one server (one thread) on the work for its clients. */
import { readFileSync } from 'node:fs';
import type { BodyLimits } from '../host.ts';

export interface ServerLimits {
  /** The maximum number of connections; beyond it, the connection that has been idle longest is closed. */
  readonly maxConnections: number;
  /** The maximum number of new connections per second, half of it from one address. Beyond it, they are reset at once. */
  readonly maxNewConnections: number;
  /**
   * The time limit for a client to send a request's headers, from its first byte or the connection's start;
   * milliseconds.
   */
  readonly headersMs: number;
  /** The time limit for a client to send a whole request, from the same start; milliseconds. */
  readonly requestMs: number;
  /** How long a connection may stay open without a request, after an answer; milliseconds. */
  readonly keepAliveMs: number;
  /** How long a connection may stay open without a byte in either direction, milliseconds. */
  readonly inactivityMs: number;
  readonly maxHeaderBytes: number;
  /** The number of concurrently answered requests of one connection. Further requests wait. */
  readonly maxPipelined: number;
  /** The maximum number of waiting requests of one connection; further ones are refused. */
  readonly maxWaiting: number;
  /** The maximum number of open requests of all connections; beyond it, each connection may have only one. */
  readonly maxOpen: number;
  /** The maximum total size of request bodies in memory, bytes; beyond it, requests are refused. */
  readonly maxBodyBytes: number;
  /**
   * The maximum total size of unread answers without reserved memory, bytes; beyond it, the oldest answer of the client
   * that has the most is dropped.
   */
  readonly maxUnreadBytes: number;
  /** The maximum unread bytes of one connection's answers; beyond it, its next requests wait. */
  readonly maxUnreadOfOne: number;
  /** The minimum rate at which a client must read its answers, bytes per second. Slower clients are disconnected. */
  readonly minReadRate: number;
  /** The time before that rate applies, milliseconds. */
  readonly readGraceMs: number;
  /** The stricter rate and time for a long answer while queries wait for memory. */
  readonly wantedReadRate: number;
  readonly wantedGraceMs: number;
}

const MIB = 2 ** 20;
/** The number of open files of the process that do not belong to clients: the database, catalogs, threads. */
const OWN_FILES = 256;

/**
 * Two cores can accept and answer seven times as many: a new connection with one request for /api/status takes 0.29 ms.
 */
const NEW_CONNECTIONS = 1000;

/** The maximum number of open requests beyond one per connection; each takes some 7 KiB. */
const MAX_PIPELINED = 16_384;

/**
 * @param threads the number of servers in this process, which share its limits
 * @param waits how long clients may wait for answers: their connections must not end earlier
 */
export function serverLimits(
  maxConnections: number,
  budgetSeconds: number,
  threads: number,
  waits: readonly Pick<BodyLimits, 'maxWaitSeconds'>[] = [],
): ServerLimits {
  const waitSeconds = Math.max(60, 2 * budgetSeconds, ...waits.map(({ maxWaitSeconds = 0 }) => maxWaitSeconds));
  const openable = Math.max(64, (maxOpenFiles() ?? Number.POSITIVE_INFINITY) - OWN_FILES);
  const connections = Math.ceil(Math.min(maxConnections, openable) / threads);
  return {
    maxConnections: connections,
    maxNewConnections: Math.ceil(NEW_CONNECTIONS / threads),
    headersMs: 10_000,
    requestMs: 60_000,
    keepAliveMs: 75_000,
    inactivityMs: 1000 * waitSeconds,
    maxHeaderBytes: 16_384,
    maxPipelined: 128,
    maxWaiting: 1024,
    maxOpen: connections + Math.ceil(MAX_PIPELINED / threads),
    maxBodyBytes: Math.ceil((256 * MIB) / threads),
    maxUnreadBytes: Math.ceil((128 * MIB) / threads),
    maxUnreadOfOne: MIB,
    minReadRate: 16_384,
    readGraceMs: Math.max(20_000, 4000 * budgetSeconds),
    wantedReadRate: MIB,
    wantedGraceMs: 1000,
  };
}

/**
 * The number of files that this process may have open; undefined if unknown, because only Linux has /proc, and Deno
 * hides it from the program.
 */
export function maxOpenFiles(): number | undefined {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    return undefined;
  }
}
