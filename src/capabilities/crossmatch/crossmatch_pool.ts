/** The pool of threads for crossmatching. */

import { REMOTE_CONCURRENCY } from '@nearsky/hats';
import type { Config } from '../../core/config/config.ts';
import { defaultThreads, Pool, type PoolOptions } from '../../core/pool/pool.ts';
import { threadData } from '../../core/pool/thread_data.ts';
import { remoteOptions } from '../catalogs/remote_options.ts';
import type { CatalogThreadData } from '../catalogs/thread_data.ts';

/** The limit for the columns that all threads hold at once. */
const MEMORY_BYTES = 256 << 20;
const MIN_THREAD_MEMORY_BYTES = 32 << 20;

/**
 * A pool for `match` tasks. A thread takes several tasks, so that it can search one file while it waits for a host to
 * send another. The columns of a thread stay within its share of the memory.
 */
export function crossmatchPool(
  config: Config,
  threads: number,
  options: Pick<PoolOptions, 'isBackground' | 'maxHeapMib'> = {},
): Pool {
  const catalogs: CatalogThreadData['catalogs'] = {
    remote: { ...remoteOptions(config), connections: Math.max(2, Math.ceil((2 * REMOTE_CONCURRENCY) / threads)) },
    memoryBytes: Math.max(MIN_THREAD_MEMORY_BYTES, MEMORY_BYTES / threads),
  };
  return new Pool({
    ...options,
    threads,
    tasksPerThread: Math.ceil(REMOTE_CONCURRENCY / threads),
    threadData: { dataDir: config.NEARSKY_DATA, catalogs } satisfies CatalogThreadData,
  });
}

const HELPER_HEAP_MIB = 128;

/**
 * The threads that help with one large table, with the settings of the process; undefined if helpers are not allowed.
 */
export function helperPool(): Pool | undefined {
  const data = threadData<CatalogThreadData>();
  const threads = Math.min(data.helpers ?? 0, defaultThreads());
  if (threads === 0) return undefined;
  return new Pool({ threads, tasksPerThread: 2, threadData: data, isBackground: true, maxHeapMib: HELPER_HEAP_MIB });
}
