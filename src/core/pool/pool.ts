/** A pool of worker threads, made with Piscina. */
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { MessagePort, Worker } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { programModule } from '../base/program_files.ts';
import { PoolError } from './pool_error.ts';
import { ThreadEnd } from './thread_end.ts';

/** Carries the result type of a task. It exists only for the compiler. */
declare const RESULT: unique symbol;

/**
 * A task for a thread of a pool, or for a process. It is plain data, which structured clone can copy. Its type is
 * declared as `interface MatchTask extends Task<MatchAnswer> { readonly module: 'src/capabilities/crossmatch/match_file'; readonly
 * kind: 'match'; … }`, and the module exports the function that runs it: see `Tasks`.
 */
export interface Task<Result> {
  /** The module with its code: a path from the root without an extension. It is loaded where the task runs. */
  readonly module: string;
  /** One of the keys of the module's `tasks`. */
  readonly kind: string;
  readonly [RESULT]?: Result;
}

/** The input of a task. */
export type TaskData<T extends Task<unknown>> = Omit<T, keyof Task<unknown>>;

/** The functions that run the tasks of a module, by kind. The module exports them as `tasks`. */
export type Tasks<T extends Task<unknown>> = {
  readonly [Kind in T['kind']]: RunsTask<Extract<T, { readonly kind: Kind }>>;
};

type RunsTask<T> = T extends Task<infer Result> ? (task: T) => Result | Promise<Result> : never;

export interface PoolOptions {
  /** The number of threads, at least 1. */
  readonly threads: number;
  /**
   * The maximum number of tasks that a thread holds at once, 1 by default. With more than 1, the next task is already
   * there when one is done.
   */
  readonly tasksPerThread?: number;
  /** The data with which the threads start: see `threadData`. */
  readonly threadData?: object;
  /**
   * Whether the threads have a lower priority than the other threads of the process, if the system supports that; false
   * by default.
   */
  readonly isBackground?: boolean;
  /**
   * The maximum heap of a thread, MiB; a thread that needs more is ended and replaced. The runtime's own limit by
   * default.
   */
  readonly maxHeapMib?: number;
}

export interface RunOptions {
  /**
   * When it fires, the promise rejects with the signal's reason. The thread finishes the task, and the result is
   * dropped.
   */
  readonly signal?: AbortSignal;
  readonly transferList?: (ArrayBuffer | MessagePort)[];
  /** When it fires, the thread that runs the task is ended and replaced; the promise rejects with a PoolError. */
  readonly ends?: AbortSignal;
  /**
   * Milliseconds after which the thread counts as hung: the promise rejects with a PoolError and the threads are
   * replaced. 10 minutes by default; Infinity for a task that lasts as long as the process.
   */
  readonly timeoutMs?: number;
}

/** Without a limit V8 takes up to 48 MiB for a thread's newest objects, and keeps them while the thread is busy. */
const YOUNG_MIB = 12;
/** Without a limit V8 reserves 512 MiB for a thread's code, which counts against the bound of a `TaskProcess`. */
const CODE_MIB = 32;
const DEFAULT_TIMEOUT_MS = 600_000;

/** The longest wait before a thread is ended: first until it has loaded its modules, then until it releases its end. */
const LOAD_MS = 10_000;

/** One thread for each core except the main thread's, and at least one. */
export function defaultThreads(): number {
  return Math.max(1, availableParallelism() - 1);
}

/** Runs tasks: a pool, or something else in a test. */
export type TaskRunner = Pick<Pool, 'run' | 'close'>;

/**
 * A fixed number of threads that run tasks. Every promise that `run` returns settles: with the result, with the error
 * of the task, or with a PoolError. A PoolError means that the thread died, hung past the timeout, or the pool was
 * closed.
 */
export class Pool {
  readonly threads: number;
  readonly tasksPerThread: number;
  readonly threadData: object;
  #piscina: Piscina | undefined;
  readonly #maxHeapMib: number | undefined;
  readonly #threadEnds = new WeakMap<Piscina, ThreadEnd>();
  /** For each thread, a promise that settles when its modules are loaded or the thread has ended. */
  readonly #loaded = new WeakMap<Worker, Promise<void>>();
  /**
   * The number of tasks whose result is still awaited. (A set of them would keep each task until the next full garbage
   * collection.)
   */
  #running = 0;
  #onIdle = () => {};
  #closed = false;

  constructor(options: PoolOptions) {
    this.threads = options.threads;
    this.tasksPerThread = options.tasksPerThread ?? 1;
    this.#maxHeapMib = options.maxHeapMib;
    this.threadData = { ...options.threadData, isBackground: options.isBackground ?? false };
  }

  /**
   * Runs one task. Throws the task's error (only its message and name survive structured clone), a PoolError, or the
   * signal's reason. `transferList` names the buffers of the task that are transferred instead of copied.
   */
  run<Result>(task: Task<Result>, options: RunOptions = {}): Promise<Result> {
    if (this.#closed) return Promise.reject(new PoolError('Cannot run a task because the pool is closed'));
    if (options.signal?.aborted) return Promise.reject(options.signal.reason);
    const result = this.#settled(task, options) as Promise<Result>;
    this.#running++;
    const settled = () => {
      if (--this.#running === 0) this.#onIdle();
    };
    result.then(settled, settled);
    return result;
  }

  /** Starts the threads before the first task, so that they load their modules while this thread prepares it. */
  start(): void {
    if (!this.#closed) this.#piscina ??= this.#start();
  }

  /** Accepts no more tasks, waits for the running ones, and ends the threads. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#running > 0) await new Promise<void>(resolve => (this.#onIdle = resolve));
    const piscina = this.#piscina;
    if (piscina) await this.#end(piscina, () => piscina.destroy());
  }

  [Symbol.asyncDispose] = () => this.close();

  #settled(task: Task<unknown>, options: RunOptions): Promise<unknown> {
    const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    const piscina = (this.#piscina ??= this.#start());
    const { transferList, ends } = options;
    const ending = new AbortController();
    if (ends?.aborted) ending.abort();
    // The functions below do not use the task, because they would keep its data until it is done.
    const ran = piscina.run(task, { ...(transferList && { transferList }), ...(ends && { signal: ending.signal }) });
    const { kind } = task;
    return new Promise((resolve, reject) => {
      const hung = () => {
        reject(
          new PoolError(`Cannot finish a ${kind} task because its thread does not answer: waited ${timeoutMs} ms`),
        );
        this.#replace(piscina);
      };
      const aborted = () => finish(() => reject(options.signal?.reason));
      const ended = () => void this.#end(piscina, () => ending.abort());
      const timer = timeoutMs < Number.POSITIVE_INFINITY ? setTimeout(hung, timeoutMs) : undefined;
      const finish = (settle: () => void) => {
        clearTimeout(timer);
        options.signal?.removeEventListener('abort', aborted);
        ends?.removeEventListener('abort', ended);
        settle();
      };
      options.signal?.addEventListener('abort', aborted, { once: true });
      ends?.addEventListener('abort', ended, { once: true });
      ran.then(
        value => finish(() => resolve(value)),
        error =>
          finish(() =>
            reject(threadEnded(error) ? new PoolError(`Cannot finish a ${kind} task because its thread ended`) : error),
          ),
      );
    });
  }

  #start(): Piscina {
    const threadEnd = new ThreadEnd();
    const piscina = new Piscina({
      filename: programModule('workers/task').href,
      minThreads: this.threads,
      maxThreads: this.threads,
      concurrentTasksPerWorker: this.tasksPerThread,
      // Ordinary messages. Waiting on Atomics is no faster here (Node, 64 connections: 62 µs of CPU per request,
      // against 66 with 'sync' and 60 with 'async'). With 'sync', the event loop of an idle thread is also blocked.
      atomics: 'disabled',
      recordTiming: false,
      workerData: { ...this.threadData, ...threadEnd.data },
      ...(this.#maxHeapMib && {
        resourceLimits: {
          maxOldGenerationSizeMb: this.#maxHeapMib,
          maxYoungGenerationSizeMb: YOUNG_MIB,
          codeRangeSizeMb: CODE_MIB,
        },
      }),
    });
    this.#threadEnds.set(piscina, threadEnd);
    // A thread that dies without a task is replaced by Piscina; without a listener the event would end the process.
    piscina.on('error', () => {});
    this.#watch(piscina);
    // A thread that died is replaced right after this event.
    piscina.on('workerDestroy', () => queueMicrotask(() => this.#watch(piscina)));
    return piscina;
  }

  /** Piscina's first message from a thread means that it has loaded its modules. */
  #watch(piscina: Piscina): void {
    for (const thread of piscina.threads) {
      if (this.#loaded.has(thread)) continue;
      const { threadId } = thread;
      thread.once('exit', () => this.#threadEnds.get(piscina)!.gone(threadId));
      const loaded = new Promise<void>(resolve => {
        thread.once('message', () => resolve());
        thread.once('exit', () => resolve());
      });
      this.#loaded.set(thread, loaded);
    }
  }

  /** Calls `end`, which ends one or all threads, when the threads can end safely: see `ThreadEnd`. */
  async #end(piscina: Piscina, end: () => unknown): Promise<void> {
    const waited = new AbortController();
    const loaded = Promise.all(piscina.threads.map(thread => this.#loaded.get(thread)));
    await Promise.race([loaded, sleep(LOAD_MS, undefined, { signal: waited.signal })]);
    waited.abort();
    await this.#threadEnds.get(piscina)!.run(end, LOAD_MS);
  }

  /**
   * Ends all threads of a pool with a hung thread, because it is unknown which thread hangs. The next task starts new
   * threads.
   */
  #replace(piscina: Piscina): void {
    if (this.#piscina !== piscina) return;
    this.#piscina = undefined;
    this.#end(piscina, () => piscina.destroy()).catch(() => {});
  }
}

/** Whether the error means that the thread ended, rather than that the task failed. */
function threadEnded(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ('code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY') return true;
  if (error.name === 'AbortError') return true;
  return /^(Terminating worker thread|worker exited with code)/.test(error.message);
}
