/** Crossmatches of tables as jobs: from file to file, on a thread that the other tables do not wait for. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../config/config.ts';
import { TABLE_FORMATS } from '../contract/formats.ts';
import { crossmatchPool } from '../crossmatch/pool.ts';
import type { Job, JobResult } from '../jobs/job.ts';
import { JobError, type JobPaths } from '../jobs/job_queue.ts';
import type { JobStore } from '../jobs/job_store.ts';
import type { Pool } from '../pool/pool.ts';
import type { PublishedGeneration } from '../publish/tasks.ts';
import type { TableFileTask, TableRequest } from './match_task.ts';
import { progressOf, sharedProgress } from './progress.ts';
import { MAX_HEAP_MIB } from './table_matches.ts';

export const TABLE_JOB = 'crossmatch';

const PROGRESS_MS = 1000;
/** After a start, the index is soon ready. */
const INDEX_MS = 200;

export class TableJobs {
  readonly #config: Config;
  readonly #generation: () => PublishedGeneration | undefined;
  readonly #store: JobStore;
  #pool: Pool | undefined;

  constructor(config: Config, generation: () => PublishedGeneration | undefined, store: JobStore) {
    this.#config = config;
    this.#generation = generation;
    this.#store = store;
  }

  /** See `JobRunner`. */
  async run({ id, request }: Job, paths: JobPaths, ends: AbortSignal): Promise<JobResult> {
    while (!this.#generation()) await sleep(INDEX_MS, undefined, { signal: ends });
    this.#pool ??= crossmatchPool(this.#config, 1, { isBackground: true, maxHeapMib: MAX_HEAP_MIB });
    const { API_MAX_TABLE_ROWS: maxRows, API_MAX_TABLE_MIB: maxMib } = this.#config;
    const progress = sharedProgress();
    const timer = setInterval(() => {
      try {
        if (this.#store.read(id)) this.#store.setProgress(id, progressOf(progress));
      } catch {
        // A disk without room shows itself where the result is written.
      }
    }, PROGRESS_MS);
    try {
      const limits = { maxRows, maxBytes: maxMib * 2 ** 20 };
      const task: Omit<TableFileTask, 'kind'> = {
        ...(request as TableRequest),
        ...paths,
        limits,
        generation: this.#generation(),
        progress,
      };
      const run = { ends, timeoutMs: Number.POSITIVE_INFINITY };
      const { begun, bytes } = await this.#pool.run({ kind: 'tableFile', ...task } as TableFileTask, run);
      if (begun.outcome !== 'begun')
        throw new JobError(begun.outcome === 'refused' ? begun.message : 'it takes too long');
      const { mediaType } = TABLE_FORMATS.find(({ name }) => name === begun.format)!;
      return { mediaType, bytes, about: begun };
    } finally {
      clearInterval(timer);
    }
  }

  async close(): Promise<void> {
    await this.#pool?.close();
  }
}
