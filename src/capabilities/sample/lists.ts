/**
 * Reports on lists in tables of any length. Another process reads each table; a thread that has the index reports on the
 * inputs that were found in it.
 */
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Budget } from '../../core/base/budget.ts';
import type { ClientSlots } from '../../core/base/client_admission.ts';
import { messageOf } from '../../core/base/error_text.ts';
import { discard } from '../../core/base/files.ts';
import type { Log } from '../../core/base/log.ts';
import { Unavailable } from '../../core/base/refusal.ts';
import { withTimeout } from '../../core/base/timeout.ts';
import type { Config } from '../../core/config/config.ts';
import { contentType, matchFormat } from '../../core/contract/formats.ts';
import type { RowProgress } from '../../core/contract/row_progress.ts';
import type { PublishedGeneration } from '../../core/generations/tasks.ts';
import type { MainHost } from '../../core/host.ts';
import { dispositionOf } from '../../core/http/table_response.ts';
import type { Pool } from '../../core/pool/pool.ts';
import { crossmatchPool } from '../crossmatch/crossmatch_pool.ts';
import type { Job, JobRequest, JobResult } from '../jobs/job.ts';
import { JobError, type JobPaths } from '../jobs/job_queue.ts';
import type { JobStore } from '../jobs/job_store.ts';
import type { TableFiles } from '../jobs/sent_table.ts';
import { type TableOutput, type TableRefusal, TOO_LARGE } from '../jobs/table_task.ts';
import type { LookupInput } from '../objects/queries.ts';
import { QUICK_TABLE, type Reading, type ReadingProcesses } from '../uploads/reading_processes.ts';
import { spoolPath } from '../uploads/spool.ts';
import { MAX_FOLLOWED_ROWS } from './limits.ts';
import type { ListFormat, ListReported, ListReportTask, ListRequest } from './list_report.ts';
import type { ListColumns, ListRead, ListTask } from './list_task.ts';
import { inputOf } from './listed_input.ts';
import { isReport, reportHeaders } from './report_formats.ts';

/** The longest wait for the index, which is soon ready after a start. */
const INDEX_MS = 200;
/** The interval between two looks at the progress. */
const LOOK_MS = 250;
/** The maximum number of waiting lists, half of them for one client. */
const MAX_WAITING = 16;
const CLOSE_MS = 2000;

export const SAMPLE_JOB = 'sample';

export interface ListJobRequest extends ListRequest {
  readonly columns: ListColumns;
}

export interface ListAsked extends TableFiles {
  readonly request: ListJobRequest;
}

/** The inputs in the rows of a table. */
export type ListInputs = { readonly outcome: 'inputs'; readonly inputs: readonly LookupInput[] } | TableRefusal;

/** A table whose rows are wanted. */
export type ListInput = Pick<ListAsked, 'client' | 'request' | 'input' | 'inputBytes'>;

export type ListWritten =
  | ({ readonly outcome: 'written'; readonly format: ListFormat; readonly warning?: string } & Omit<
      ListReported,
      'problems'
    >)
  | TableRefusal;

export interface ListHost extends Pick<MainHost, 'config' | 'log' | 'admission' | 'generation' | 'onProgress'> {
  readonly reading: ReadingProcesses;
  readonly jobs: JobStore;
}

export class Lists {
  readonly #host: ListHost;
  readonly #config: Config;
  readonly #log: Log;
  readonly #slots: ClientSlots;
  /** Requests do not wait for jobs. Each thread is started by the first list. */
  readonly #pools: { request?: Pool; job?: Pool } = {};
  #isClosed = false;

  constructor(host: ListHost) {
    this.#host = host;
    this.#config = host.config;
    this.#log = host.log;
    this.#slots = host.admission.slots({ slots: 2, isFull: 'too many lists are waiting', maxWaiting: MAX_WAITING });
  }

  /** Answers a waiting request; undefined if that takes longer than the budget. @throws Unavailable */
  async answer(asked: ListAsked, budget: Budget): Promise<ListWritten | undefined> {
    const late = new AbortController();
    const work = (async () => {
      const inputs = spoolPath(this.#config.NEARSKY_DATA);
      try {
        const reading = this.#reading(asked, inputs, asked.inputBytes);
        const read = await this.#host.reading.inTime(asked.client, reading, budget);
        if (read?.outcome !== 'read') return read;
        const onProgress = this.#host.onProgress ?? (() => {});
        const files = { ...asked, inputs, isKept: false };
        return await this.#slots.run(asked.client, budget.remainingMs, () =>
          this.#report('request', files, read, late.signal, onProgress),
        );
      } finally {
        discard(inputs);
      }
    })();
    work.catch(() => {});
    const written = await withTimeout(work, budget.remainingMs);
    if (!written) late.abort();
    return written;
  }

  /** Reads a table without a report; undefined if that takes longer than the budget. */
  async read(asked: ListInput, budget: Budget): Promise<ListRead | undefined> {
    return await this.#withInputs(asked, budget, async read => read);
  }

  /** Like `read`, with the inputs. */
  async inputs(asked: ListInput, budget: Budget): Promise<ListInputs | undefined> {
    return await this.#withInputs(asked, budget, async ({ rows }, path) => {
      if (rows > MAX_FOLLOWED_ROWS) {
        const message = `it has ${rows} rows, more than ${MAX_FOLLOWED_ROWS}`;
        return { outcome: 'refused', message, param: undefined };
      }
      const lines = (await readFile(path, 'utf8')).trimEnd().split('\n');
      const inputs = lines.map((line, at) => inputOf(JSON.parse(line), at, asked.request, this.#config).input);
      return { outcome: 'inputs', inputs };
    });
  }

  /** Reads a table into a file of inputs, which is removed afterwards. */
  async #withInputs<T>(
    asked: ListInput,
    budget: Budget,
    use: (read: ListRead & { readonly outcome: 'read' }, path: string) => Promise<T>,
  ): Promise<T | TableRefusal | undefined> {
    const inputs = spoolPath(this.#config.NEARSKY_DATA);
    try {
      const reading = this.#reading(asked, inputs, asked.inputBytes);
      const read = await this.#host.reading.inTime(asked.client, reading, budget);
      return read?.outcome === 'read' ? await use(read, inputs) : read;
    } finally {
      discard(inputs);
    }
  }

  /** See `JobRunner`. */
  async run({ id, client, request }: Job & JobRequest, paths: JobPaths, ends: AbortSignal): Promise<JobResult> {
    const { jobs, reading: processes } = this.#host;
    const inputs = `${paths.output}.inputs`;
    const asked = { client, request: request as ListJobRequest, ...paths, inputBytes: Number.POSITIVE_INFINITY };
    try {
      while (!this.#host.generation()) await sleep(INDEX_MS, undefined, { signal: ends });
      const read = await processes.forJob(this.#reading(asked, inputs, asked.inputBytes), ends);
      if (read.outcome !== 'read') throw new JobError(read.message);
      const onProgress = (progress: RowProgress) => jobs.noteProgress(id, progress);
      const written = await this.#report('job', { ...asked, inputs, isKept: true }, read, ends, onProgress);
      if (written.outcome !== 'written') throw new JobError(written.message);
      return { mediaType: formatHeaders(written.format)['Content-Type']!, bytes: written.bytes, about: written };
    } finally {
      discard(inputs);
    }
  }

  #reading(
    { request, input }: Pick<ListInput, 'request' | 'input'>,
    inputs: string,
    inputBytes: number,
  ): Reading<ListRead> {
    const { API_MAX_TABLE_ROWS: maxRows, API_MAX_TABLE_MIB: mebibytes } = this.#config;
    const task: ListTask = {
      module: 'src/capabilities/sample/list_task',
      kind: 'readList',
      limits: { maxRows, maxBytes: mebibytes * 2 ** 20 },
      columns: request.columns,
      input,
      inputs,
    };
    return {
      kind: 'table',
      task,
      quickTask: { ...task, quick: QUICK_TABLE } as ListTask,
      inputBytes,
      isTooLarge: read => read.outcome === 'refused' && read.message === TOO_LARGE.message,
      tooLarge: TOO_LARGE,
    };
  }

  /** @throws Unavailable after an internal error, which is logged; the signal's reason */
  async #report(
    of: 'request' | 'job',
    {
      request,
      inputs,
      output,
      maxOutputBytes,
      isKept,
    }: Pick<ListAsked, 'request'> & Pick<ListReportTask, 'inputs' | keyof TableOutput>,
    { rows, warning }: ListRead & { readonly outcome: 'read' },
    ends: AbortSignal,
    onProgress: (progress: RowProgress) => void,
  ): Promise<ListWritten> {
    if (this.#isClosed) throw new Unavailable('the service is stopping');
    const generation: PublishedGeneration | undefined = this.#host.generation();
    if (!generation) throw new Unavailable('the index is not ready');
    const pool = (this.#pools[of] ??= crossmatchPool(this.#config, 1, { isBackground: of === 'job' }));
    const progress = new Int32Array(new SharedArrayBuffer(12));
    const look = () => onProgress({ of: rows, searched: progress[0]!, done: progress[1]! });
    const timer = setInterval(look, LOOK_MS);
    const end = () => {
      progress[2] = 1;
    };
    ends.addEventListener('abort', end);
    try {
      const { columns: _, ...asked } = request;
      const files = { inputs, output, maxOutputBytes, isKept, rows };
      const { problems, ...reported } = await pool.run<ListReported>(
        {
          module: 'src/capabilities/sample/list_report',
          kind: 'listReport',
          ...asked,
          ...files,
          generation,
          config: this.#config,
          progress,
        } as ListReportTask,
        { timeoutMs: Number.POSITIVE_INFINITY },
      );
      for (const reason of problems) this.#log('catalog_unreadable', { error: reason });
      look();
      return { outcome: 'written', format: request.format, ...reported, ...(warning !== undefined && { warning }) };
    } catch (error) {
      ends.throwIfAborted();
      if (error instanceof RangeError) return { outcome: 'refused', message: error.message, param: undefined };
      this.#log('sample_failed', { error: messageOf(error) });
      throw new Unavailable('the list cannot be reported on');
    } finally {
      clearInterval(timer);
      ends.removeEventListener('abort', end);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const pools = Object.values(this.#pools) as Pool[];
    await withTimeout(Promise.all(pools.map(pool => pool.close())), CLOSE_MS);
  }
}

/** The headers of an answer that depend on its format. */
export function formatHeaders(format: ListFormat): Record<string, string> {
  if (format === 'json') return { 'Content-Type': 'application/json' };
  if (isReport(format)) return reportHeaders(format);
  const table = matchFormat(format);
  return { 'Content-Type': contentType(table), 'Content-Disposition': dispositionOf('sample', table) };
}
