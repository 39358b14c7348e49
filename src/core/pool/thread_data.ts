import { workerData } from 'node:worker_threads';
import { giveWay } from '../base/processes.ts';

let data = (workerData ?? {}) as object;

/**
 * The data with which the threads of this pool, or this process, were started (`PoolOptions.threadData`,
 * `ProcessOptions.data`); empty elsewhere, for example in a test of one task.
 */
export function threadData<T extends object>(): Partial<T> {
  return data as Partial<T>;
}

/** Called before the first task of a process. */
export function setThreadData(given: object): void {
  data = given;
}

if (threadData<{ isBackground: boolean }>().isBackground) giveWay();
