/** The index of this process, and the threads that keep it and that no query keeps busy. */

import { messageOf } from '../base/error_text.ts';
import type { Log } from '../base/log.ts';
import { withTimeout } from '../base/timeout.ts';
import { Pool, PoolError } from '../pool/pool.ts';
import type { MetricsAnswer, MetricsTask } from '../store/metrics_task.ts';
import { type IndexStatus, Publisher } from './publisher.ts';
import type { PublishedGeneration } from './tasks.ts';

/** After how long a thread that looks at the database counts as hung. */
const TIMEOUT_MS = 30_000;
/** The longest that the database may take to show that it can be read. */
const MEASURE_MS = 1000;
/** One follows the journal while the other merges. */
const INDEX_THREADS = 2;

export class LocalIndex {
  readonly #publisher: Publisher;
  readonly #pool: Pool;
  readonly #log: Log;
  #measure: Promise<MetricsAnswer | undefined> | undefined;

  /** @param onChange called when `current` is another one */
  constructor(dataDir: string, log: Log, onChange: () => void = () => {}) {
    this.#log = log;
    this.#pool = new Pool({ threads: INDEX_THREADS, threadData: { dataDir } });
    this.#publisher = new Publisher({ dataDir, pool: this.#pool, log, onChange });
    this.#publisher.start();
  }

  /** What queries are answered from now; undefined while there is none. */
  get current(): PublishedGeneration | undefined {
    return this.#publisher.current;
  }

  get status(): IndexStatus | undefined {
    return this.#publisher.status;
  }

  /** Drops the index that a generation came from, as it is not of this database; it is built anew. */
  discard(generation: number): void {
    this.#publisher.discard(generation);
  }

  /** What is to be watched of the database; undefined when it cannot be read. Callers at the same time share one look. */
  measure(): Promise<MetricsAnswer | undefined> {
    this.#measure ??= this.#look().finally(() => {
      this.#measure = undefined;
    });
    return this.#measure;
  }

  async #look(): Promise<MetricsAnswer | undefined> {
    const task: MetricsTask = { kind: 'metrics' };
    const seen = this.#pool.run(task, { timeoutMs: TIMEOUT_MS }).catch(error => {
      this.#log(error instanceof PoolError ? 'pool_failed' : 'database_unreadable', { error: messageOf(error) });
      return undefined;
    });
    return await withTimeout(seen, MEASURE_MS);
  }

  /** Saves the index and ends the threads. */
  async close(): Promise<void> {
    await this.#publisher.close();
    await this.#pool.close();
  }
}
