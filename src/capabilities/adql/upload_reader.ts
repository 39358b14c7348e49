/** Reads the tables that come with queries, in another process. */
import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { Budget } from '../../core/base/budget.ts';
import { messageOf } from '../../core/base/error_text.ts';
import { discard } from '../../core/base/files.ts';
import type { Log } from '../../core/base/log.ts';
import { Unavailable } from '../../core/base/refusal.ts';
import type { Config } from '../../core/config/config.ts';
import { JobError } from '../jobs/job_queue.ts';
import { QUICK_TABLE, type Reading, type ReadingProcesses } from '../uploads/reading_processes.ts';
import { maxUploadBytes } from './limits.ts';
import type { EngineQuery, TapQuery } from './query_run.ts';
import type { ReadUploadsTask, UploadsRead } from './upload_task.ts';

const TOO_LARGE = 'the tables that came with the query take more memory than is allowed: send fewer rows or columns';

export class UploadReader {
  readonly #config: Config;
  readonly #log: Log;
  readonly #processes: ReadingProcesses;

  constructor(config: Config, log: Log, processes: ReadingProcesses) {
    this.#config = config;
    this.#log = log;
    this.#processes = processes;
  }

  /**
   * Reads the tables of a query whose client waits. The query keeps the rest of its time, at least a second.
   * @param gone fires when the client has gone
   * @throws JobError if the tables cannot be read
   * @throws Unavailable
   */
  async inTime(client: string, query: TapQuery, gone: AbortSignal): Promise<EngineQuery> {
    const budget = new Budget(query.seconds);
    const read = await this.#read(query, reading => this.#processes.inTime(client, reading, budget, gone));
    return { ...read, seconds: read.tables === undefined ? query.seconds : Math.max(1, budget.remainingMs / 1000) };
  }

  /**
   * Reads the tables of a query that runs as a job.
   * @param ends cancels the reading; the promise then rejects with the signal's reason
   * @throws JobError if the tables cannot be read
   * @throws Unavailable
   */
  async forJob(query: TapQuery, ends: AbortSignal): Promise<EngineQuery> {
    return await this.#read(query, reading => this.#processes.forJob(reading, ends), ends);
  }

  async #read(
    { uploads, uploadPath, ...query }: TapQuery,
    read: (reading: Reading<UploadsRead>) => Promise<UploadsRead | undefined>,
    ends?: AbortSignal,
  ): Promise<EngineQuery> {
    if (uploads.length === 0) return query;
    const { NEARSKY_DATA, API_MAX_TABLE_ROWS } = this.#config;
    const tables = join(NEARSKY_DATA, 'tap', `${process.pid}-${randomUUID()}`);
    const limits = { maxRows: API_MAX_TABLE_ROWS, maxBytes: maxUploadBytes(this.#config) };
    const task: ReadUploadsTask = {
      module: 'src/capabilities/adql/upload_task',
      kind: 'readUploads',
      uploads,
      input: uploadPath,
      output: tables,
      limits,
    };
    const reading: Reading<UploadsRead> = {
      kind: 'table',
      task,
      quickTask: { ...task, quick: QUICK_TABLE } as ReadUploadsTask,
      inputBytes: bytesOf(uploadPath),
      isTooLarge: ({ outcome }) => outcome === 'tooLarge',
      tooLarge: { outcome: 'tooLarge' },
    };
    try {
      const result = await read(reading);
      if (!result) throw new Unavailable('reading the tables that came with the query takes too long');
      if (result.outcome === 'tooLarge') throw new JobError(TOO_LARGE);
      if (result.outcome === 'refused') throw new JobError(result.message);
      return { ...query, tables };
    } catch (error) {
      discard(tables);
      ends?.throwIfAborted();
      if (error instanceof Unavailable || error instanceof JobError) throw error;
      this.#log('tap_upload_failed', { error: messageOf(error) });
      throw new Unavailable('the tables that came with the query cannot be read');
    }
  }
}

export function removeDirectory(path: string | undefined): void {
  if (path !== undefined) discard(path);
}

/** The size of a file; 0 if it does not exist. */
function bytesOf(path: string | undefined): number {
  return path === undefined ? 0 : (statSync(path, { throwIfNoEntry: false })?.size ?? 0);
}
