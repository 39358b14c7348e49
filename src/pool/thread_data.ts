import { setPriority } from 'node:os';
import { workerData } from 'node:worker_threads';

const NICENESS = 10;

/**
 * The data that the threads of this pool are started with (`PoolOptions.threadData`); empty outside a pool, for example
 * in a test of one task.
 */
export function threadData<T extends object>(): Partial<T> {
  return (workerData ?? {}) as Partial<T>;
}

/** Lowers this thread's priority on Linux, where a thread has its own. Elsewhere it would be the whole process's priority. */
function giveWay(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(NICENESS);
  } catch {
    // A runtime or a container may forbid it: the thread then has the priority of the others.
  }
}

if (threadData<{ isBackground: boolean }>().isBackground) giveWay();
