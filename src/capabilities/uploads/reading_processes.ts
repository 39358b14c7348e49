/**
 * The processes that read untrusted input: small ones and large ones, so that small input never waits for large input.
 * Clients share their slots. Small areas have their own slots, so that they never wait for tables.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Budget } from '../../core/base/budget.ts';
import type { ClientAdmission, ClientSlots } from '../../core/base/client_admission.ts';
import { Unavailable } from '../../core/base/refusal.ts';
import type { Task } from '../../core/pool/pool.ts';
import { MemoryTaken } from './child_memory.ts';
import { ProcessPool } from './process_pool.ts';
import { type Done, ProcessEnded, type ProcessOptions, type TaskOptions } from './task_process.ts';

/** Input up to this size is tried in a small process first. */
const SMALL_BYTES = 1 << 20;
const SMALL_MS = 3000;
/** The bounds of a quick table, whose compressed size may be much smaller. Reading it takes up to 50 ms. */
export const QUICK_TABLE = { maxRows: 10_000, maxBytes: SMALL_BYTES };
/** The slots of small input. A small table that is not quick has another slot, so that no quick table waits for it. */
const SMALL_SLOTS = { table: 2, area: 1, slow: 1 } as const;
/** Two clients can read large input at the same time. */
const LARGE_SLOTS = 2;
const MAX_WAITING = 64;
/** The maximum number of runs of a job whose process is ended because other processes have taken the memory. */
const MAX_RUNS = 4;
/** The first pause before it runs again; each further pause is twice as long. */
const AGAIN_MS = 1000;

/** Untrusted input, and the task that reads it. */
export interface Reading<Result> extends Omit<TaskOptions, 'ends'> {
  readonly kind: 'table' | 'area';
  readonly task: Task<Result>;
  /** The same task with lower limits, which is tried first: input beyond them is too large. Undefined if there is none. */
  readonly quickTask?: Task<Result>;
  /** Whether a large process runs the task if the quick one is not enough. */
  readonly isLargeUnlessQuick?: boolean;
  readonly inputBytes: number;
  /** Whether a result means that the process has too little memory. */
  readonly isTooLarge: (result: Result) => boolean;
  /** A result that reports too little memory, for a process that ended for this reason. */
  readonly tooLarge: Result;
}

interface ReadingProcessesOptions {
  readonly small: ProcessOptions;
  readonly large: ProcessOptions;
  readonly admission: ClientAdmission;
  /** Whether an idle small process always waits for the next reading; true by default. */
  readonly hasSpare?: boolean;
  /** Milliseconds that a small process may take for a reading; 3000 by default. */
  readonly smallMs?: number;
}

/** There is no process before the first task. */
export class ReadingProcesses {
  readonly #small: ProcessPool;
  readonly #large: ProcessPool;
  readonly #smallSlots: Readonly<Record<keyof typeof SMALL_SLOTS, ClientSlots>>;
  readonly #largeSlots: ClientSlots;
  readonly #smallMs: number;
  #isClosed = false;

  constructor({ small, large, admission, hasSpare = true, smallMs = SMALL_MS }: ReadingProcessesOptions) {
    this.#smallMs = smallMs;
    this.#small = new ProcessPool(small, hasSpare ? SMALL_SLOTS.table + SMALL_SLOTS.area + SMALL_SLOTS.slow : 0);
    this.#large = new ProcessPool(large);
    const isFull = 'other tables and areas are being read';
    const slots = (count: number) => admission.slots({ slots: count, isFull, maxWaiting: MAX_WAITING });
    this.#smallSlots = {
      table: slots(SMALL_SLOTS.table),
      area: slots(SMALL_SLOTS.area),
      slow: slots(SMALL_SLOTS.slow),
    };
    this.#largeSlots = slots(LARGE_SLOTS);
  }

  /**
   * The result for a request that waits for it; undefined if there is none within the budget.
   * @param gone when it fires, the caller gets no result. A small process still completes the reading, because that is
   * short, and the next reading would otherwise have to wait for a new process.
   * @throws Unavailable if no slot becomes free in time, or other processes have taken the memory
   * @throws Error with the message of the task's error
   */
  async inTime<Result>(
    client: string,
    reading: Reading<Result>,
    budget: Budget,
    gone?: AbortSignal,
  ): Promise<Result | undefined> {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), budget.remainingMs);
    const ends = gone ? AbortSignal.any([late.signal, gone]) : late.signal;
    const inSlot = (slots: ClientSlots, work: () => Promise<Omit<Done, 'isLarge'> & { readonly result: Result }>) =>
      slots.run(
        client,
        budget.remainingMs,
        async took => {
          const { result, cpuSeconds } = await work();
          took(cpuSeconds);
          return result;
        },
        gone,
      );
    try {
      const { inputBytes, kind, task, quickTask, isLargeUnlessQuick, isTooLarge } = reading;
      const tries: (readonly [slots: keyof typeof SMALL_SLOTS, task: Task<Result>])[] = [[kind, quickTask ?? task]];
      if (quickTask && !isLargeUnlessQuick) tries.push(['slow', task]);
      for (const [slots, task] of inputBytes <= SMALL_BYTES ? tries : []) {
        const work = () => this.#runSmall({ ...reading, task }, late.signal);
        const tried = await this.#tried(() => inSlot(this.#smallSlots[slots], work));
        // Another small process would be too slow, or run out of memory, too.
        if (tried === undefined || tried === reading.tooLarge) break;
        if (!isTooLarge(tried)) return tried;
      }
      return await inSlot(this.#largeSlots, () => this.#run(this.#large, reading, ends));
    } catch (error) {
      if (ends.aborted && !(error instanceof Unavailable)) return undefined;
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * The result for a job, from a large process. It does not wait for other processes.
   * @param ends when it fires, the process ends; the promise rejects with the signal's reason
   * @throws MemoryTaken if other processes take the memory again and again
   */
  async forJob<Result>(reading: Reading<Result>, ends: AbortSignal): Promise<Result> {
    for (let runs = 1; ; runs++) {
      try {
        return (await this.#run(this.#large, reading, ends)).result;
      } catch (error) {
        if (!(error instanceof MemoryTaken) || runs === MAX_RUNS) throw error;
        await sleep(AGAIN_MS * 2 ** (runs - 1), undefined, { signal: ends });
      }
    }
  }

  /** Undefined if the small process is too slow. */
  async #tried<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof TooSlow) return undefined;
      throw error;
    }
  }

  /** @throws TooSlow */
  async #runSmall<Result>(reading: Reading<Result>, ends: AbortSignal) {
    const late = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    // A process that starts slowly is no reason to give a small table to a large process, where large tables are read.
    const onReady = () => {
      timer = setTimeout(() => late.abort(new TooSlow()), this.#smallMs);
    };
    try {
      return await this.#run(this.#small, { ...reading, onReady }, AbortSignal.any([ends, late.signal]));
    } finally {
      clearTimeout(timer);
    }
  }

  async #run<Result>(processes: ProcessPool, reading: Reading<Result>, ends: AbortSignal) {
    if (this.#isClosed) throw new Unavailable('the service is stopping');
    const { task, quickTask: _, tooLarge, ...options } = reading;
    const beganMs = performance.now();
    try {
      return await processes.run(task, { ...options, ends });
    } catch (error) {
      ends.throwIfAborted();
      const isTooLarge =
        error instanceof ProcessEnded ? error.isOutOfMemory : error instanceof MemoryTaken && error.isAlone;
      if (!isTooLarge) throw error;
      // A process that has already ended does not report its processor time.
      return { result: tooLarge, cpuSeconds: (performance.now() - beganMs) / 1000 };
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#small.close();
    this.#large.close();
  }
}

class TooSlow extends Error {}
