/** The crossmatches of tables of one process: another process reads each table, and writes its answer. */
import type { Budget } from '../base/budget.ts';
import { messageOf } from '../base/error_text.ts';
import { type ClientUse, FairPlaces } from '../base/fair_places.ts';
import type { Log } from '../base/log.ts';
import { Unavailable } from '../base/refusal.ts';
import { withTimeout } from '../base/timeout.ts';
import { remoteOptions } from '../catalogs/remote/options.ts';
import type { Config } from '../config/config.ts';
import type { MatchThreadData } from '../crossmatch/match_file.ts';
import { Pool } from '../pool/pool.ts';
import { ProcessPool } from '../pool/process_pool.ts';
import { type Done, ProcessEnded } from '../pool/task_process.ts';
import type { PublishedGeneration } from '../publish/tasks.ts';
import type { FindObjectsTask, ObjectsQuestion } from './find_objects.ts';
import { type MatchTableTask, type TableRequest, type TableWritten, TOO_LARGE } from './match_task.ts';
import type { TableProgress } from './progress.ts';

/** A table that is to be crossmatched, from file to file. */
export interface TableAsked {
  /** The name by which the client's share is counted. */
  readonly client: string;
  readonly request: TableRequest;
  readonly input: string;
  readonly inputBytes: number;
  /** There after an answer that was begun. */
  readonly output: string;
  readonly maxOutputBytes: number;
}

export interface TableRun extends Omit<TableAsked, 'inputBytes'> {
  /** Whether the answer outlives the service. */
  readonly isKept: boolean;
  /** When it fires, the process ends; the promise rejects with the signal's reason. */
  readonly ends: AbortSignal;
}

/** A table up to this size is tried in one of the small processes first, where nobody waits for large tables. */
const SMALL_BYTES = 1 << 20;
const SMALL_MEMORY_MIB = 96;
const SMALL_MS = 3000;
const SMALL_PLACES = 2;
/** Threads that help with a large table; more would wait for the one that writes the answer. */
const HELPERS = 3;
const MAX_WAITING = 64;
/** The time for which closing waits for the thread. */
const CLOSE_MS = 2000;

/** There is no process until the first table. */
export class TableMatches {
  readonly #log: Log;
  readonly #generation: () => PublishedGeneration | undefined;
  readonly #onProgress: (progress: TableProgress) => void;
  readonly #limits: MatchTableTask['limits'];
  readonly #small: ProcessPool;
  readonly #large: ProcessPool;
  readonly #smallPlaces: FairPlaces;
  readonly #largePlaces: FairPlaces;
  /** The thread that has the index, for all processes. */
  readonly #objects: Pool;
  #isClosed = false;

  /** @param onProgress how far the table has come, where there is one at a time */
  constructor(
    config: Config,
    log: Log,
    generation: () => PublishedGeneration | undefined,
    use: ClientUse,
    onProgress: (progress: TableProgress) => void = () => {},
  ) {
    this.#log = log;
    this.#generation = generation;
    this.#onProgress = onProgress;
    this.#limits = { maxRows: config.API_MAX_TABLE_ROWS, maxBytes: config.API_MAX_TABLE_MIB * 2 ** 20 };
    const processes = (memoryMib: number, helpers: number) =>
      new ProcessPool({
        entry: 'workers/table_process',
        dataDir: config.NEARSKY_DATA,
        memoryMib,
        data: {
          dataDir: config.NEARSKY_DATA,
          catalogs: { remote: remoteOptions(config), memoryBytes: (memoryMib / 4) * 2 ** 20 },
          isBackground: true,
          helpers,
        } satisfies MatchThreadData & { isBackground: true },
      });
    this.#small = processes(SMALL_MEMORY_MIB, 0);
    this.#large = processes(config.API_TABLE_MEMORY_MIB, HELPERS);
    const isFull = 'other tables are being crossmatched';
    this.#smallPlaces = new FairPlaces({ places: SMALL_PLACES, isFull, use, maxWaiting: MAX_WAITING });
    this.#largePlaces = new FairPlaces({ places: 1, isFull, use, maxWaiting: MAX_WAITING });
    this.#objects = new Pool({ threads: 1, isBackground: true });
  }

  /**
   * The answer to a request that waits: undefined where there is none within the budget.
   * @throws Unavailable
   */
  async answer(asked: TableAsked, budget: Budget): Promise<TableWritten | undefined> {
    const ends = new AbortController();
    const timer = setTimeout(() => ends.abort(), budget.remainingMs);
    const run: TableRun = { ...asked, isKept: false, ends: ends.signal };
    const { client, inputBytes } = asked;
    try {
      if (inputBytes <= SMALL_BYTES) {
        const tried = await this.#inPlace(this.#smallPlaces, client, budget, () => this.#try(run));
        if (tried) return tried;
      }
      return await this.#inPlace(this.#largePlaces, client, budget, () => this.#run(this.#large, run));
    } catch (error) {
      if (ends.signal.aborted) return undefined;
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** A job: it waits for no other table. */
  async job(run: TableRun, onProgress: (progress: TableProgress) => void): Promise<TableWritten> {
    return (await this.#run(this.#large, run, onProgress)).result;
  }

  async #inPlace(
    places: FairPlaces,
    client: string,
    budget: Budget,
    work: () => Promise<(Done & { readonly result: TableWritten }) | undefined>,
  ): Promise<TableWritten | undefined> {
    const leave = await places.enter(client, budget.remainingMs);
    const begunMs = performance.now();
    let done: (Done & { readonly result: TableWritten }) | undefined;
    try {
      done = await work();
      return done?.result;
    } finally {
      // A process that was ended does not tell what it has used.
      leave(done?.cpuSeconds ?? (performance.now() - begunMs) / 1000);
    }
  }

  /** Undefined where a small process is not enough. */
  async #try(run: TableRun) {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), SMALL_MS);
    try {
      const ends = AbortSignal.any([run.ends, late.signal]);
      const done = await this.#run(this.#small, { ...run, ends });
      const { begun } = done.result;
      return begun.outcome === 'refused' && begun.message === TOO_LARGE ? undefined : done;
    } catch (error) {
      if (late.signal.aborted && !run.ends.aborted) return undefined;
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  async #run(processes: ProcessPool, run: TableRun, onProgress = this.#onProgress) {
    if (this.#isClosed) throw new Unavailable('the service is stopping');
    const generation = this.#generation();
    if (!generation) throw new Unavailable('the index is not ready');
    const { request, input, output, maxOutputBytes, isKept, ends } = run;
    const task = {
      kind: 'matchTable',
      ...request,
      input,
      output,
      maxOutputBytes,
      isKept,
      limits: this.#limits,
    } as MatchTableTask;
    const answer = (asked: unknown) =>
      this.#objects.run({ kind: 'findObjects', generation, ...(asked as ObjectsQuestion) } as FindObjectsTask);
    try {
      const done = await processes.run(task, { ends, answer, note: said => onProgress(said as TableProgress) });
      const { begun } = done.result;
      if (begun.outcome === 'begun')
        for (const reason of begun.problems) this.#log('catalog_unreadable', { error: reason });
      return done;
    } catch (error) {
      ends.throwIfAborted();
      if (error instanceof ProcessEnded && error.isOutOfMemory) return { result: REFUSED, cpuSeconds: 1, rssBytes: 0 };
      this.#log('table_failed', { error: messageOf(error) });
      throw new Unavailable('the table cannot be crossmatched');
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#small.close();
    this.#large.close();
    await withTimeout(this.#objects.close(), CLOSE_MS);
  }
}

const REFUSED: TableWritten = { begun: { outcome: 'refused', message: TOO_LARGE, param: undefined }, bytes: 0 };
