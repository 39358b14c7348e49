/** What the operations answer from: the settings, the index, the query pool. */
import { Pool, PoolError } from '../workers/pool.ts';
import type { ProbeAnswer } from '../workers/tasks.ts';
import type { Config } from './config.ts';
import type { Log } from './log.ts';
import { currentProvenance, PROVENANCE_RECORDING_RELEASE, type Provenance } from './provenance.ts';
import { Publisher } from './publish/publisher.ts';
import { Batcher } from './query/batcher.ts';

/** The longest that the database may take to show that it can be read. */
const PROBE_MS = 1000;
/** One follows the journal while the other merges. */
const INDEX_THREADS = 2;
/** The next batch is in the thread when one is done. */
const QUERY_TASKS_PER_THREAD = 2;

export class Service {
  readonly config: Config;
  readonly log: Log;
  readonly provenance: Provenance;
  readonly queries: Batcher;
  readonly #queryPool: Pool;
  readonly #indexPool: Pool;
  readonly #publisher: Publisher;
  #probe: Promise<ProbeAnswer | undefined> | undefined;

  constructor(config: Config, log: Log) {
    this.config = config;
    this.log = log;
    this.provenance = currentProvenance(config);
    const dataDir = config.NEARSKY_DATA;
    const facts = {
      provenance: this.provenance,
      recordingRelease: PROVENANCE_RECORDING_RELEASE,
      tnsUrlTemplate: config.TNS_OBJECT_URL_TEMPLATE,
      tnsSnapshotMaxAgeSeconds: config.TNS_SNAPSHOT_MAX_AGE_SECONDS,
    };
    this.#queryPool = new Pool({
      threads: config.NEARSKY_WORKERS,
      tasksPerThread: QUERY_TASKS_PER_THREAD,
      dataDir,
      facts,
    });
    this.#indexPool = new Pool({ threads: INDEX_THREADS, dataDir });
    this.#publisher = new Publisher({ dataDir, pool: this.#indexPool, log });
    this.queries = new Batcher({
      pool: this.#queryPool,
      generation: () => this.#publisher.current,
      onStaleIndex: generation => this.#publisher.discard(generation),
      log,
    });
    this.#publisher.start();
  }

  /** Whether the index can answer. */
  get indexReady(): boolean {
    return this.#publisher.current !== undefined;
  }

  /** What the database says when it is looked at now; undefined when it cannot be read. Callers at the same time share one look. */
  probe(): Promise<ProbeAnswer | undefined> {
    this.#probe ??= this.#lookAtDatabase().finally(() => {
      this.#probe = undefined;
    });
    return this.#probe;
  }

  /** By the threads of the index, which no query keeps busy. */
  async #lookAtDatabase(): Promise<ProbeAnswer | undefined> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const tooLate = new Promise<undefined>(resolve => {
      timer = setTimeout(() => resolve(undefined), PROBE_MS);
    });
    const seen = this.#indexPool.run({ kind: 'probe' }).catch(error => {
      if (error instanceof PoolError) this.log('pool_failed', { error: error.message });
      return undefined;
    });
    return await Promise.race([seen, tooLate]).finally(() => clearTimeout(timer));
  }

  /** Finishes what is running, saves the index, and ends the threads. */
  async close(): Promise<void> {
    await this.#publisher.close();
    await Promise.all([this.#queryPool.close(), this.#indexPool.close()]);
  }
}
