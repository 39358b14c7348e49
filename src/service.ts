/** What the operations answer from: the settings, the index, the query pool. */
import { Pool } from '../workers/pool.ts';
import type { ProbeAnswer, ServiceFacts } from '../workers/tasks.ts';
import type { Config } from './config.ts';
import type { Log } from './log.ts';
import { ThreadMetrics } from './metrics/thread_metrics.ts';
import { currentProvenance, PROVENANCE_RECORDING_RELEASE, type Provenance } from './provenance.ts';
import type { IndexSource } from './publish/index_source.ts';
import { Batcher, QUERY_TASKS_PER_THREAD } from './query/batcher.ts';
import { QueryGate } from './query/gate.ts';
import { SkyMap } from './sky_map/sky_map.ts';

/** For how much longer than its budget a query may be in a thread before that counts as hung. */
const HUNG_MS = 5000;

export interface ServiceOptions {
  readonly config: Config;
  readonly log: Log;
  readonly index: IndexSource;
  /** Threads of its query pool. */
  readonly workers: number;
  readonly metrics?: ThreadMetrics;
  /** The module of the query threads, where a test wants some that misbehave. */
  readonly entry?: URL;
}

export class Service {
  readonly config: Config;
  readonly log: Log;
  readonly provenance: Provenance;
  readonly metrics: ThreadMetrics;
  readonly index: IndexSource;
  readonly queries: QueryGate;
  /** Of the one service in a process that is asked for it. */
  readonly skyMap: SkyMap;
  readonly #pool: Pool;
  #isStopping = false;

  constructor({ config, log, index, workers, metrics = new ThreadMetrics(), entry }: ServiceOptions) {
    this.config = config;
    this.log = log;
    this.index = index;
    this.metrics = metrics;
    this.provenance = currentProvenance(config);
    const dataDir = config.NEARSKY_DATA;
    const facts = this.#facts();
    this.#pool = new Pool({
      threads: workers,
      tasksPerThread: QUERY_TASKS_PER_THREAD,
      dataDir,
      facts,
      queryTimeoutMs: 1000 * config.API_REQUEST_BUDGET_SECONDS + HUNG_MS,
      maxHeapMib: config.NEARSKY_WORKER_HEAP_MIB,
      ...(entry && { entry }),
    });
    const batcher = new Batcher({
      pool: this.#pool,
      generation: () => index.current,
      onStaleIndex: generation => index.discard(generation),
      onBatch: queries => metrics.batchSizes.observe(queries),
      log: (event, fields) => {
        if (event === 'pool_failed') metrics.add('failedTasks', 1);
        log(event, fields);
      },
    });
    this.queries = new QueryGate(batcher, metrics);
    this.skyMap = new SkyMap({ dataDir, facts, log });
  }

  #facts(): ServiceFacts {
    return {
      provenance: this.provenance,
      recordingRelease: PROVENANCE_RECORDING_RELEASE,
      tnsUrlTemplate: this.config.TNS_OBJECT_URL_TEMPLATE,
      tnsSnapshotMaxAgeSeconds: this.config.TNS_SNAPSHOT_MAX_AGE_SECONDS,
    };
  }

  /** Whether the index can answer. */
  get indexReady(): boolean {
    return this.index.current !== undefined;
  }

  /** Starts the query threads, so that the first queries do not wait for them. */
  async warm(): Promise<void> {
    const { threads } = this.#pool;
    await Promise.allSettled(Array.from({ length: threads }, () => this.#pool.run({ kind: 'probe' })));
  }

  /** What the database says when it is looked at now; undefined when it cannot be read. */
  probe(): Promise<ProbeAnswer | undefined> {
    return this.index.probe();
  }

  /** Whether it has been told to stop: it answers, but wants no new clients. */
  get isStopping(): boolean {
    return this.#isStopping;
  }

  stop(): void {
    this.#isStopping = true;
  }

  /** Finishes what is running and ends the threads. */
  async close(): Promise<void> {
    await Promise.all([this.#pool.close(), this.skyMap.close()]);
  }
}
