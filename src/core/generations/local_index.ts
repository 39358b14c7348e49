/** The index of this process, and the threads that maintain it. Queries never use these threads. */

import { messageOf } from '../base/error_text.ts';
import type { Log } from '../base/log.ts';
import { withTimeout } from '../base/timeout.ts';
import { Pool } from '../pool/pool.ts';
import { PoolError } from '../pool/pool_error.ts';
import type { MetricsAnswer, MetricsTask } from '../store/metrics_task.ts';
import { Indexer, type IndexFailure, type IndexStatus } from './indexer.ts';
import type { PublishedGeneration } from './tasks.ts';

/** A thread that reads the database for this long counts as hung. */
const TIMEOUT_MS = 30_000;
/** The maximum time that opening the database may take to show that it is readable. */
const MEASURE_MS = 1000;
/** One thread follows the journal while the other one merges. */
const INDEX_THREADS = 2;

export class LocalIndex {
  readonly #indexer: Indexer;
  readonly #pool: Pool;
  readonly #log: Log;
  #measure: Promise<MetricsAnswer | undefined> | undefined;

  /** @param onChange called after each change of `current` */
  constructor(dataDir: string, log: Log, onChange: () => void = () => {}) {
    this.#log = log;
    this.#pool = new Pool({ threads: INDEX_THREADS, threadData: { dataDir } });
    this.#indexer = new Indexer({ dataDir, pool: this.#pool, log, onChange });
    this.#indexer.start();
  }

  /** The generation that answers queries now; undefined while there is none. */
  get current(): PublishedGeneration | undefined {
    return this.#indexer.current;
  }

  get status(): IndexStatus | undefined {
    return this.#indexer.status;
  }

  get failure(): IndexFailure | undefined {
    return this.#indexer.failure;
  }

  /** Drops the index that a generation came from, because it does not belong to this database, and builds a new one. */
  discard(generation: number): void {
    this.#indexer.discard(generation);
  }

  /** The metrics of the database; undefined if they cannot be read. Concurrent callers share one read. */
  measure(): Promise<MetricsAnswer | undefined> {
    this.#measure ??= this.#look().finally(() => {
      this.#measure = undefined;
    });
    return this.#measure;
  }

  async #look(): Promise<MetricsAnswer | undefined> {
    const task: MetricsTask = { module: 'src/core/store/metrics_task', kind: 'metrics' };
    const seen = this.#pool.run(task, { timeoutMs: TIMEOUT_MS }).catch(error => {
      this.#log(error instanceof PoolError ? 'pool_failed' : 'database_unreadable', { error: messageOf(error) });
      return undefined;
    });
    return await withTimeout(seen, MEASURE_MS);
  }

  /** Saves the index and stops the threads. */
  async close(): Promise<void> {
    await this.#indexer.close();
    await this.#pool.close();
  }
}
