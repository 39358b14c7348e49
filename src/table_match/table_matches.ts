/** The crossmatches of tables of one process: a thread of their own does them, one step after another. */
import type { Budget } from '../base/budget.ts';
import { messageOf } from '../base/error_text.ts';
import type { Log } from '../base/log.ts';
import { Unavailable } from '../base/refusal.ts';
import { withTimeout } from '../base/timeout.ts';
import type { Config } from '../config/config.ts';
import { crossmatchPool } from '../crossmatch/pool.ts';
import { type Pool, PoolError } from '../pool/pool.ts';
import type { PublishedGeneration } from '../publish/tasks.ts';
import type { BeginTableTask, EndTableTask, TableBegun, TablePartTask, TableRequest } from './match_task.ts';
import type { SharedProgress } from './progress.ts';

/** Tables that are held at once: each takes several times its bytes. */
const MAX_JOBS = 2;
/** A table that needs more ends its thread, not the process. */
export const MAX_HEAP_MIB = 1536;
/** The most tables that wait for a place. */
const MAX_WAITING = 32;
/**
 * A table is dropped when nobody has asked for a part of it for this time: its client, or the thread that served it, is
 * gone.
 */
const FORGOTTEN_MS = 120_000;
/**
 * The part of a budget that is kept for the way of the answer to the thread that asked. That thread waits for the whole
 * budget.
 */
const ANSWER_MS = 1000;
/** The time beyond its budget after which the thread of a table is ended. */
const GRACE_MS = 1000;
/** The time for which closing waits for the thread. */
const CLOSE_MS = 2000;

/** One step of a crossmatch. The table comes in shared memory, so that it is not copied from thread to thread. */
export type TableStep =
  | { readonly step: 'enter' }
  | {
      readonly step: 'begin';
      readonly job: number;
      readonly bytes: SharedArrayBuffer;
      readonly length: number;
      readonly request: TableRequest;
    }
  | { readonly step: 'part' | 'end'; readonly job: number };
/** A job's number, what was begun, a part of the answer, or null at its end. */
export type TableAnswer = number | TableBegun | Uint8Array | null;

/** There is no thread until the first table. */
export class TableMatches {
  readonly #config: Config;
  readonly #log: Log;
  readonly #generation: () => PublishedGeneration | undefined;
  readonly #progress: SharedProgress | undefined;
  #pool: Pool | undefined;
  #lastJob = 0;
  /** The tables' numbers, and when each table was last asked for, by `performance.now()`. */
  readonly #jobs = new Map<number, number>();
  /** Places for further jobs. */
  #free = MAX_JOBS;
  readonly #waiting: (() => void)[] = [];
  #isClosed = false;

  /** @param progress of the table that is sent, where there is one at a time */
  constructor(config: Config, log: Log, generation: () => PublishedGeneration | undefined, progress?: SharedProgress) {
    this.#progress = progress;
    this.#config = config;
    this.#log = log;
    this.#generation = generation;
  }

  /** @throws Unavailable when there is no room for a table, its thread has ended, or a part takes longer than the budget */
  async step(asked: TableStep, budget: Budget): Promise<TableAnswer> {
    if (this.#isClosed) throw new Unavailable('the service is stopping');
    if (asked.step === 'enter') return await this.#enter(budget);
    const { job } = asked;
    if (!this.#jobs.has(job)) throw new Unavailable('the crossmatch of the table was given up');
    this.#jobs.set(job, performance.now());
    if (asked.step === 'begin') return await this.#begin(asked, budget);
    const task =
      asked.step === 'end'
        ? ({ kind: 'endTable', job } as EndTableTask)
        : ({ kind: 'tablePart', job } as TablePartTask);
    if (asked.step === 'end') this.#leave(job);
    const answer = await this.#run(this.#pool?.run<unknown>(task as TablePartTask), budget);
    if (answer === undefined && asked.step === 'part') throw new Unavailable('the table takes too long');
    return (answer ?? null) as TableAnswer;
  }

  async #enter({ remainingMs }: Budget): Promise<number> {
    for (const [job, askedMs] of this.#jobs) if (performance.now() - askedMs > FORGOTTEN_MS) this.#forget(job);
    if (this.#free > 0) this.#free--;
    else await this.#wait(remainingMs);
    this.#jobs.set(++this.#lastJob, performance.now());
    return this.#lastJob;
  }

  async #wait(ms: number): Promise<void> {
    const isBusy = () => new Unavailable('other tables are being crossmatched');
    if (this.#waiting.length >= MAX_WAITING) throw isBusy();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push(resolve);
    const isFree = await withTimeout(
      promise.then(() => true),
      ms,
    );
    if (isFree) return;
    this.#waiting.splice(this.#waiting.indexOf(resolve), 1);
    throw isBusy();
  }

  /** Its place goes to the table that has waited longest. */
  #leave(job: number): void {
    if (!this.#jobs.delete(job)) return;
    const next = this.#waiting.shift();
    if (next) next();
    else this.#free++;
  }

  #forget(job: number): void {
    this.#leave(job);
    void this.#pool?.run({ kind: 'endTable', job } as EndTableTask).catch(() => {});
  }

  async #begin({ job, bytes, length, request }: TableStep & { step: 'begin' }, budget: Budget): Promise<TableBegun> {
    const generation = this.#generation();
    if (!generation) throw new Unavailable('the index is not ready');
    this.#pool ??= crossmatchPool(this.#config, 1, { isBackground: true, maxHeapMib: MAX_HEAP_MIB });
    const { API_MAX_TABLE_ROWS: maxRows, API_MAX_TABLE_MIB: maxMib } = this.#config;
    const limits = { maxRows, maxBytes: maxMib * 2 ** 20 };
    // The thread would go on with a table that nobody waits for, and the library of Arrow reads some damaged streams without an end.
    const ends = AbortSignal.timeout(Math.ceil(budget.remainingMs) + GRACE_MS);
    const task: Omit<BeginTableTask, 'kind'> = {
      job,
      bytes,
      length,
      limits,
      generation,
      progress: this.#progress,
      ...request,
    };
    const begun = await this.#run(this.#pool.run({ kind: 'beginTable', ...task } as BeginTableTask, { ends }), budget);
    if (!begun) return { outcome: 'late' };
    if (begun.outcome === 'begun')
      for (const reason of begun.problems) this.#log('catalog_unreadable', { error: reason });
    return begun;
  }

  /** The result; undefined where it takes longer than the budget. */
  async #run<T>(running: Promise<T> | undefined, budget: Budget): Promise<T | undefined> {
    try {
      return await withTimeout(Promise.resolve(running), budget.remainingMs - ANSWER_MS);
    } catch (error) {
      this.#log('table_failed', { error: messageOf(error) });
      throw new Unavailable(
        error instanceof PoolError ? 'the table takes more memory than there is' : 'the table cannot be crossmatched',
      );
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await withTimeout(Promise.resolve(this.#pool?.close()), CLOSE_MS);
  }
}
