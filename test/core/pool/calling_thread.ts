/**
 * Runs tasks of pools in the thread that asks for them, with copied data as between threads. A thread of its own would
 * take most of the time of a test, because it loads its modules and compiles the hot ones anew.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate } from 'node:timers/promises';
import { Piscina } from 'piscina';
import { memoized } from '../../../src/core/base/memoized.ts';
import { Semaphore } from '../../../src/core/base/semaphore.ts';
import { Pool, type RunOptions, type Task, type TaskRunner } from '../../../src/core/pool/pool.ts';
import { PoolError } from '../../../src/core/pool/pool_error.ts';
import { runTask } from '../../../src/core/pool/run_task.ts';
import { setThreadData, threadData } from '../../../src/core/pool/thread_data.ts';
import { type StoreThreadData, threadStore } from '../../../src/core/store/thread_store.ts';
import { isDeno } from '../../runtime.ts';

const outside = threadData();
const dataOfTask = new AsyncLocalStorage<object>();
setThreadData(() => dataOfTask.getStore() ?? outside);

export class CallingThread implements TaskRunner {
  readonly #data: Partial<StoreThreadData>;
  readonly #slots: Semaphore;
  readonly #running = new Set<Promise<unknown>>();
  #isClosed = false;

  /**
   * @param data the `threadData` of the tasks
   * @param slots the maximum number of tasks at once
   */
  constructor(data: Partial<StoreThreadData>, slots = 1) {
    this.#data = data;
    this.#slots = new Semaphore(slots);
  }

  async run<Result>(task: Task<Result>, { signal, transferList = [] }: RunOptions = {}): Promise<Result> {
    if (this.#isClosed) throw new PoolError('Cannot run a task because the pool is closed');
    signal?.throwIfAborted();
    const copy = structuredClone(task, { transfer: transferList });
    const ran = this.#slots.run(1, () => dataOfTask.run(this.#data, () => runHere(copy)));
    this.#running.add(ran);
    const settled = () => void this.#running.delete(ran);
    ran.then(settled, settled);
    const aborted = Promise.withResolvers<never>();
    const abort = () => aborted.reject(signal!.reason);
    signal?.addEventListener('abort', abort, { once: true });
    try {
      return (await Promise.race([ran, aborted.promise])) as Result;
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#running);
    if (this.#data.dataDir !== undefined) await dataOfTask.run(this.#data, () => threadStore().close());
  }
}

async function runHere(task: Task<unknown>): Promise<unknown> {
  // As with a thread, the caller goes on first.
  await setImmediate();
  const result = (await runTask(task)) as { [Piscina.valueSymbol]?: unknown } | undefined;
  return structuredClone(result?.[Piscina.valueSymbol] ?? result);
}

const { run, start, close } = Pool.prototype;
const callingThread = memoized(
  ({ threadData, threads, tasksPerThread }: Pool) => new CallingThread(threadData, threads * tasksPerThread),
);
const used = new WeakSet<Pool>();
let hasThreads = true;

/** The modules of tasks that need a thread for themselves, because they serve, write or send as long as it exists. */
const WHOLE_THREADS: ReadonlySet<string> = new Set([
  'src/serving_thread',
  'src/core/background/writer_thread',
  'src/capabilities/publish/publisher_thread',
]);

/**
 * From now on, pools of this process run tasks in their calling thread, except tests' own tasks, those that need a whole
 * thread, and those that are ended with their thread.
 */
export function runPoolsHere(): void {
  hasThreads = false;
  Pool.prototype.run = function <Result>(task: Task<Result>, options: RunOptions = {}): Promise<Result> {
    const needsThread = options.ends || WHOLE_THREADS.has(task.module) || !task.module.startsWith('src/');
    // Deno clones a port of Node to one of the web, which has other methods.
    const hasPort = isDeno && options.transferList?.some(each => !(each instanceof ArrayBuffer));
    if (hasThreads || needsThread || hasPort) return run.call(this, task, options) as Promise<Result>;
    used.add(this);
    return callingThread(this).run(task, options);
  };
  Pool.prototype.start = function () {
    if (hasThreads) start.call(this);
  };
  Pool.prototype.close = async function () {
    if (used.has(this)) await callingThread(this).close();
    await close.call(this);
  };
}

/** Runs a test in which tasks run in threads. */
export async function withThreads(work: () => Promise<void>): Promise<void> {
  const before = hasThreads;
  hasThreads = true;
  try {
    await work();
  } finally {
    hasThreads = before;
  }
}
