import { workerData } from 'node:worker_threads';
import { giveWay } from '../base/processes.ts';

const given = (workerData ?? {}) as object;
let data = () => given;

/**
 * The data with which the threads of this pool, or this process, were started (`PoolOptions.threadData`,
 * `ProcessOptions.data`); empty elsewhere, for example in a test of one task. Call it when a task runs, not when a
 * module is loaded: tests run tasks of several pools in one thread. It is the same object in all tasks of a pool.
 */
export function threadData<T extends object>(): Partial<T> {
  return data() as Partial<T>;
}

/** Called before the first task of a process. @param current returns the data of the current task */
export function setThreadData(current: () => object): void {
  data = current;
}

if (threadData<{ isBackground: boolean }>().isBackground) giveWay();
