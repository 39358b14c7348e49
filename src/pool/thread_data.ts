import { workerData } from 'node:worker_threads';
import { giveWay } from '../base/priority.ts';

/**
 * The data that the threads of this pool are started with (`PoolOptions.threadData`); empty outside a pool, for example
 * in a test of one task.
 */
export function threadData<T extends object>(): Partial<T> {
  return (workerData ?? {}) as Partial<T>;
}

if (threadData<{ isBackground: boolean }>().isBackground) giveWay();
