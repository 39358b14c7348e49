/** Where a service has its generations from: the publisher of its own process, or, in a further thread, that of the main thread. */
import { Pool, PoolError } from '../../workers/pool.ts';
import type { MetricsAnswer, ProbeAnswer, PublishedGeneration } from '../../workers/tasks.ts';
import { messageOf } from '../error_text.ts';
import type { Log } from '../log.ts';
import { withinMs } from '../within.ts';
import { Publisher } from './publisher.ts';

export interface IndexSource {
  /** What queries are answered from now; undefined while there is none. */
  readonly current: PublishedGeneration | undefined;
  /** Drops the index that a generation came from, as it is not of this database; it is built anew. */
  discard(generation: number): void;
  /** What the database says when it is looked at now; undefined when it cannot be read. */
  probe(): Promise<ProbeAnswer | undefined>;
}

/** The longest that the database may take to show that it can be read. */
const PROBE_MS = 1000;
/** One follows the journal while the other merges. */
const INDEX_THREADS = 2;

/** The index of this process, and the threads that keep it and that no query keeps busy. */
export class LocalIndex implements IndexSource {
  readonly publisher: Publisher;
  readonly #pool: Pool;
  readonly #log: Log;
  #probe: Promise<ProbeAnswer | undefined> | undefined;
  #measure: Promise<MetricsAnswer | undefined> | undefined;

  /** @param onChange called when `current` is another one */
  constructor(dataDir: string, log: Log, onChange: () => void = () => {}) {
    this.#log = log;
    this.#pool = new Pool({ threads: INDEX_THREADS, dataDir });
    this.publisher = new Publisher({ dataDir, pool: this.#pool, log, onChange });
    this.publisher.start();
  }

  get current(): PublishedGeneration | undefined {
    return this.publisher.current;
  }

  discard(generation: number): void {
    this.publisher.discard(generation);
  }

  /** Callers at the same time share one look. */
  probe(): Promise<ProbeAnswer | undefined> {
    this.#probe ??= this.#look(this.#pool.run({ kind: 'probe' })).finally(() => {
      this.#probe = undefined;
    });
    return this.#probe;
  }

  /** The same, with all that is to be watched: the threads are the index's, too. */
  measure(): Promise<MetricsAnswer | undefined> {
    this.#measure ??= this.#look(this.#pool.run({ kind: 'metrics' })).finally(() => {
      this.#measure = undefined;
    });
    return this.#measure;
  }

  async #look<T>(looking: Promise<T>): Promise<T | undefined> {
    const seen = looking.catch(error => {
      this.#log(error instanceof PoolError ? 'pool_failed' : 'database_unreadable', { error: messageOf(error) });
      return undefined;
    });
    return await withinMs(seen, PROBE_MS);
  }

  /** Saves the index and ends the threads. */
  async close(): Promise<void> {
    await this.publisher.close();
    await this.#pool.close();
  }
}
