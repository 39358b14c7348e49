/** The tasks of the index without threads. */
import { setImmediate } from 'node:timers/promises';
import { runMerge, runTail } from '../../../src/core/generations/build.ts';
import { runOpenIndex, runSaveIndex } from '../../../src/core/generations/index_file.ts';
import { PoolError, type RunOptions, type Task, type TaskRunner } from '../../../src/core/pool/pool.ts';
import { runMetrics } from '../../../src/core/store/metrics_task.ts';
import { TaskStore } from '../../../src/core/store/thread_store.ts';

const INDEX_TASKS: Readonly<Record<string, (task: never, data: TaskStore) => unknown>> = {
  tail: runTail,
  merge: runMerge,
  saveIndex: runSaveIndex,
  openIndex: runOpenIndex,
  metrics: runMetrics,
};

/**
 * Runs the tasks of the index in this thread. Threads of its own would take most of the time of a test: see
 * `indexer.test.ts` for these.
 */
export class CallingThread implements TaskRunner {
  readonly #data: TaskStore;
  #isClosed = false;

  constructor(directory: string) {
    this.#data = new TaskStore(directory);
  }

  async run<Result>(task: Task<Result>, { signal }: RunOptions = {}): Promise<Result> {
    await setImmediate();
    signal?.throwIfAborted();
    if (this.#isClosed) throw new PoolError('Cannot run a task because the pool is closed');
    return structuredClone(INDEX_TASKS[task.kind]!(task as never, this.#data)) as Result;
  }

  close(): Promise<void> {
    this.#isClosed = true;
    return this.#data.close();
  }
}
