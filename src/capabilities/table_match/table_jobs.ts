/** Runs the crossmatches of tables that are jobs. */

import { setTimeout as sleep } from 'node:timers/promises';
import { matchFormat } from '../../core/contract/formats.ts';
import type { RowProgress } from '../../core/contract/row_progress.ts';
import type { PublishedGeneration } from '../../core/generations/tasks.ts';
import type { Job, JobRequest, JobResult } from '../jobs/job.ts';
import { JobError, type JobPaths } from '../jobs/job_queue.ts';
import type { JobStore } from '../jobs/job_store.ts';
import type { TableRequest } from './match_task.ts';
import type { TableMatches } from './table_matches.ts';

export const TABLE_JOB = 'crossmatch';

/** The interval between checks whether the index is ready, which it soon is after a start. */
const INDEX_MS = 200;

export class TableJobs {
  readonly #tables: TableMatches;
  readonly #generation: () => PublishedGeneration | undefined;
  readonly #store: JobStore;

  constructor(tables: TableMatches, generation: () => PublishedGeneration | undefined, store: JobStore) {
    this.#tables = tables;
    this.#generation = generation;
    this.#store = store;
  }

  /** See `JobRunner`. */
  async run({ id, client, request }: Job & JobRequest, paths: JobPaths, ends: AbortSignal): Promise<JobResult> {
    while (!this.#generation()) await sleep(INDEX_MS, undefined, { signal: ends });
    const onProgress = (progress: RowProgress) => this.#store.noteProgress(id, progress);
    const asked = { client, request: request as TableRequest, ...paths, isKept: true, ends };
    const { begun, bytes } = await this.#tables.job(asked, onProgress);
    if (begun.outcome !== 'begun') throw new JobError(begun.message);
    const { mediaType } = matchFormat(begun.format);
    return { mediaType, bytes, about: begun };
  }
}
