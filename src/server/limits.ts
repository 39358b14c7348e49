/** The limits of one server, which is one thread, on the work for its clients. */
import { readFileSync } from 'node:fs';

export interface ServerLimits {
  /** Connections at once; beyond them, the one that has been idle longest makes room. */
  readonly maxConnections: number;
  /**
   * The time that a client may take for a request's headers, from its first byte or the connection's start;
   * milliseconds.
   */
  readonly headersMs: number;
  /** The time that a client may take for a whole request, likewise; milliseconds. */
  readonly requestMs: number;
  /** The time that a connection may stay without a request, after an answer; milliseconds. */
  readonly keepAliveMs: number;
  /** The time that a connection may stay without a byte in either direction, milliseconds. */
  readonly inactivityMs: number;
  readonly maxHeaderBytes: number;
  /** The requests of one connection that are answered at once. Further requests wait for their turn. */
  readonly maxPipelined: number;
  /** Requests of one connection that may wait for their turn; beyond them, they are refused. */
  readonly maxWaiting: number;
  /** Requests of all connections that are open; beyond them, a connection may have one and no more. */
  readonly maxOpen: number;
  /** Bodies of requests that are held together, bytes; beyond them, requests are refused. */
  readonly maxBodyBytes: number;
  /** The largest body that is written to disk as it arrives, bytes. */
  readonly maxSpooledBytes: number;
  /**
   * Answers without memory of their own that wait for their clients to read, bytes together; beyond them, the oldest is
   * given up.
   */
  readonly maxUnreadBytes: number;
  /**
   * The bytes of one connection's answers that wait for the client; beyond them, its next requests wait for their turn.
   */
  readonly maxUnreadOfOne: number;
  /** The rate below which a client that reads its answers is given up, bytes a second. */
  readonly minReadRate: number;
  /** The time that every client has before that rate counts, milliseconds. */
  readonly readGraceMs: number;
  /** The same rate and time for a long answer, while queries wait for the memory that it takes. */
  readonly wantedReadRate: number;
  readonly wantedGraceMs: number;
}

const MIB = 2 ** 20;
/** The open files of the process that are not for clients: the database, catalogs, threads. */
const OWN_FILES = 256;

/** The requests that may be open beyond one a connection; each takes some 7 KiB. */
const MAX_PIPELINED = 16_384;

/**
 * @param threads servers of this process that share its limits
 * @param tableMib the largest table
 */
export function serverLimits(
  maxConnections: number,
  budgetSeconds: number,
  threads: number,
  tableMib = 0,
): ServerLimits {
  const openable = Math.max(64, (maxOpenFiles() ?? Number.POSITIVE_INFINITY) - OWN_FILES);
  const connections = Math.ceil(Math.min(maxConnections, openable) / threads);
  return {
    maxConnections: connections,
    headersMs: 10_000,
    requestMs: 60_000,
    keepAliveMs: 75_000,
    inactivityMs: Math.max(60_000, 2000 * budgetSeconds),
    maxHeaderBytes: 16_384,
    maxPipelined: 128,
    maxWaiting: 1024,
    maxOpen: connections + Math.ceil(MAX_PIPELINED / threads),
    maxBodyBytes: Math.ceil((256 * MIB) / threads),
    maxSpooledBytes: tableMib * MIB,
    maxUnreadBytes: Math.ceil((128 * MIB) / threads),
    maxUnreadOfOne: MIB,
    minReadRate: 16_384,
    readGraceMs: Math.max(20_000, 4000 * budgetSeconds),
    wantedReadRate: MIB,
    wantedGraceMs: 1000,
  };
}

/**
 * The number of files that this process may have open; undefined where it cannot be read: Deno keeps /proc from the
 * program, and only Linux has it.
 */
export function maxOpenFiles(): number | undefined {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    return undefined;
  }
}
