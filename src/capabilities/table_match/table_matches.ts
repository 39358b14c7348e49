/** Runs the crossmatches of tables. Another process reads each table, and writes its answer. */

import type { Budget } from '../../core/base/budget.ts';
import { messageOf } from '../../core/base/error_text.ts';
import type { Log } from '../../core/base/log.ts';
import { Unavailable } from '../../core/base/refusal.ts';
import { withTimeout } from '../../core/base/timeout.ts';
import type { Config } from '../../core/config/config.ts';
import type { RowProgress } from '../../core/contract/row_progress.ts';
import type { PublishedGeneration } from '../../core/generations/tasks.ts';
import { Pool } from '../../core/pool/pool.ts';
import type { TableFiles } from '../jobs/sent_table.ts';
import { TOO_LARGE } from '../jobs/table_task.ts';
import { QUICK_TABLE, type Reading, type ReadingProcesses } from '../uploads/reading_processes.ts';
import type { FindObjectsTask, ObjectsQuestion } from './find_objects.ts';
import { maxTableBytes } from './limits.ts';
import type { MatchTableTask, TableRequest, TableWritten } from './match_task.ts';

/** A table to crossmatch. */
export interface TableAsked extends TableFiles {
  readonly request: TableRequest;
}

interface TableRun extends Omit<TableAsked, 'inputBytes'> {
  /** Whether the answer must survive a restart of the service. */
  readonly isKept: boolean;
  /** When it fires, the process ends, and the promise rejects with the signal's reason. */
  readonly ends: AbortSignal;
}

/** The maximum wait for the thread when closing. */
const CLOSE_MS = 2000;

export class TableMatches {
  readonly #log: Log;
  readonly #generation: () => PublishedGeneration | undefined;
  readonly #onProgress: (progress: RowProgress) => void;
  readonly #limits: MatchTableTask['limits'];
  readonly #processes: ReadingProcesses;
  /** The thread that opens the index. It serves all processes, so its priority must not be lower than theirs. */
  readonly #objects: Pool;

  /** @param onProgress called with the progress of the table, if tables are crossmatched one at a time */
  constructor(
    config: Config,
    log: Log,
    generation: () => PublishedGeneration | undefined,
    processes: ReadingProcesses,
    onProgress: (progress: RowProgress) => void = () => {},
  ) {
    this.#log = log;
    this.#generation = generation;
    this.#onProgress = onProgress;
    this.#limits = { maxRows: config.API_MAX_TABLE_ROWS, maxBytes: maxTableBytes(config) };
    this.#processes = processes;
    this.#objects = new Pool({ threads: 1, threadData: { dataDir: config.NEARSKY_DATA } });
  }

  /**
   * Answers a waiting request. Undefined if that takes longer than the budget.
   * @throws Unavailable
   */
  async answer(asked: TableAsked, budget: Budget): Promise<TableWritten | undefined> {
    const reading = this.#reading({ ...asked, isKept: false }, this.#onProgress);
    const written = await this.#expected(this.#processes.inTime(asked.client, reading, budget));
    return this.#noted(written, this.#onProgress);
  }

  /** Runs a job. It does not wait for other tables. */
  async job(run: TableRun, onProgress: (progress: RowProgress) => void): Promise<TableWritten> {
    const { ends, ...asked } = run;
    const reading = this.#reading({ ...asked, inputBytes: Number.POSITIVE_INFINITY }, onProgress);
    return this.#noted(await this.#expected(this.#processes.forJob(reading, ends), ends), onProgress);
  }

  /** @throws Unavailable if there is no index */
  #reading(
    { request, input, inputBytes, output, maxOutputBytes, isKept }: TableAsked & { readonly isKept: boolean },
    onProgress: (progress: RowProgress) => void,
  ): Reading<TableWritten> {
    const generation = this.#generation();
    if (!generation) throw new Unavailable('the index is not ready');
    const files = { input, output, maxOutputBytes, isKept };
    const task: MatchTableTask = {
      module: 'src/capabilities/table_match/match_task',
      kind: 'matchTable',
      ...request,
      ...files,
      limits: this.#limits,
    };
    const answer = (asked: unknown) => {
      const question: FindObjectsTask = {
        module: 'src/capabilities/table_match/find_objects',
        kind: 'findObjects',
        generation,
        ...(asked as ObjectsQuestion),
      };
      return this.#objects.run(question);
    };
    return {
      kind: 'table',
      task,
      quickTask: { ...task, quick: QUICK_TABLE } as MatchTableTask,
      inputBytes,
      isTooLarge: ({ begun }) => begun.outcome === 'refused' && begun.message === TOO_LARGE.message,
      tooLarge: { begun: TOO_LARGE, bytes: 0 },
      answer,
      note: said => onProgress(said as RowProgress),
    };
  }

  /** @throws Unavailable after an internal error, which is logged; the signal's reason */
  async #expected<T>(work: Promise<T>, ends?: AbortSignal): Promise<T> {
    try {
      return await work;
    } catch (error) {
      ends?.throwIfAborted();
      if (error instanceof Unavailable) throw error;
      this.#log('table_failed', { error: messageOf(error) });
      throw new Unavailable('the table cannot be crossmatched');
    }
  }

  #noted<T extends TableWritten | undefined>(written: T, onProgress: (progress: RowProgress) => void): T {
    if (written?.begun.outcome !== 'begun') return written;
    const { inputRows, problems } = written.begun;
    for (const reason of problems) this.#log('catalog_unreadable', { error: reason });
    onProgress({ of: inputRows, searched: inputRows, done: inputRows });
    return written;
  }

  async close(): Promise<void> {
    await withTimeout(this.#objects.close(), CLOSE_MS);
  }
}
