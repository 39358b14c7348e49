/** Decides whether a query ran out of memory because of its own needs or because of other queries. */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DuckDBConnection } from '@duckdb/node-api';
import { residentBytes } from '../../core/base/processes.ts';

/**
 * How long the memory of the other queries is watched, because it changes with each block of rows. By then, the
 * failures of all queries that ran out of memory at the same moment are known.
 */
const WATCHED_MS = 250;
const INTERVAL_MS = 5;
/** Queries that ended within this time of a failure may have caused it. A busy machine reports failures seconds late. */
const ONE_CAUSE_MS = 3000;

/**
 * The native memory that the allocators keep when queries have ended. Up to 52 MiB were measured. Without this
 * allowance it counts as that of other queries, and a query that takes all memory is blamed on them.
 */
const RETAINED_BYTES = 48 * 2 ** 20;

/** The engine frees cached parts of tables when a query needs memory. */
const CACHE = `tag IN ('BASE_TABLE', 'EXTERNAL_FILE_CACHE', 'OBJECT_CACHE')`;
const MEMORY = `SELECT coalesce(sum(memory_usage_bytes) FILTER (${CACHE}), 0)::DOUBLE,
  coalesce(sum(memory_usage_bytes) FILTER (NOT ${CACHE}), 0)::DOUBLE FROM duckdb_memory()`;

interface Use {
  /** The bytes that the engine counts, without its caches. */
  readonly counted: number;
  /**
   * The own bytes of the process, without JavaScript objects and the engine's caches. They are needed because the engine
   * does not count computed strings. 0 if the system does not report them.
   */
  readonly native: number;
}

/** The end of a query that may have taken the memory. */
interface End {
  /** In the time of `performance.now()`. */
  readonly atMs: number;
}

export class EngineMemory {
  readonly #connection: DuckDBConnection;
  readonly #maxBytes: number;
  /** The memory in use without queries. */
  #idle: Use;
  /** The same before the first query. */
  readonly #first: Use;
  /** Queries that failed or were interrupted, and may have taken the memory. */
  #ends: readonly End[] = [];

  private constructor(connection: DuckDBConnection, maxBytes: number, first: Use) {
    this.#connection = connection;
    this.#maxBytes = maxBytes;
    this.#idle = this.#first = first;
  }

  /**
   * Call it before the first query.
   * @param memoryMib the engine's memory
   */
  static async open(connection: DuckDBConnection, memoryMib: number): Promise<EngineMemory> {
    return new EngineMemory(connection, memoryMib * 2 ** 20, await useOf(connection));
  }

  close(): void {
    this.#connection.closeSync();
  }

  /** Measures the memory that is in use without queries. */
  async noteIdle(): Promise<void> {
    this.#idle = await useOf(this.#connection);
  }

  /**
   * Whether half of the memory is lost although no query runs: the allocators cannot return freed memory in small pieces.
   * Only a new process has it again.
   */
  async isWorn(): Promise<boolean> {
    const use = await useOf(this.#connection).catch(() => undefined);
    return !use || use.native - this.#first.native >= this.#maxBytes / 2;
  }

  /** Call it when an interrupted query has released its memory. */
  noteInterrupted(): void {
    this.#note();
  }

  #note(): End {
    const end = { atMs: performance.now() };
    this.#ends = [...this.#recentEnds(), end];
    return end;
  }

  /**
   * Whether the query that just found no memory took at least half of it. It did if the other queries hold less than
   * half, and none of them failed or was interrupted at the same time. Call it after the connection of the failed query is closed.
   */
  async isTaken(): Promise<boolean> {
    const failure = this.#note();
    globalThis.gc?.();
    while (performance.now() < failure.atMs + WATCHED_MS) {
      if ((await this.#heldByOthers()) >= this.#maxBytes / 2) {
        this.#ends = this.#ends.filter(each => each !== failure);
        return false;
      }
      await sleep(INTERVAL_MS);
    }
    return this.#recentEnds().every(each => each === failure);
  }

  #recentEnds(): readonly End[] {
    const since = performance.now() - ONE_CAUSE_MS;
    return this.#ends.filter(({ atMs }) => atMs > since);
  }

  /** Counts all memory as used if the engine has no memory even for this question. */
  async #heldByOthers(): Promise<number> {
    try {
      const { counted, native } = await useOf(this.#connection);
      return Math.max(counted - this.#idle.counted, native - this.#idle.native - RETAINED_BYTES);
    } catch {
      return this.#maxBytes;
    }
  }
}

async function useOf(connection: DuckDBConnection): Promise<Use> {
  const [cached, counted] = (await connection.runAndReadAll(MEMORY)).getRows()[0] as [number, number];
  // On a system that does not report it, process.memoryUsage() throws, too.
  const own = ownBytes();
  const native = own === undefined ? 0 : own - process.memoryUsage().heapTotal - cached;
  return { counted, native };
}

/**
 * Memory of this process that is not mapped from files, such as the database, bytes. Where the system does not tell it
 * apart (Deno denies /proc), all resident memory; undefined if that is not reported either.
 */
function ownBytes(): number | undefined {
  try {
    const [, kib] = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))!;
    return 1024 * Number(kib);
  } catch {
    return residentBytes();
  }
}
