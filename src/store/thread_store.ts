/** What a pool thread holds from one task to the next. */
import { workerData } from 'node:worker_threads';
import type { ServiceFacts } from '../answers/queries.ts';
import type { CatalogReading, ThreadData } from '../pool/pool.ts';
import { openStore, type Store } from './store.ts';

// Outside a pool, as in a test of one task, there is no data.
const { dataDir, facts, catalogs } = (workerData ?? {}) as Partial<ThreadData>;

/** For the columns of catalogs. */
const DEFAULT_MEMORY_BYTES = 128 << 20;

let store: Store | undefined;

export function threadDataDir(): string {
  if (dataDir === undefined) throw new Error('Cannot read the database as this pool was made without a data directory');
  return dataDir;
}

/** How this thread reads catalogs. */
export function threadCatalogs(): CatalogReading {
  return catalogs ?? { memoryBytes: DEFAULT_MEMORY_BYTES };
}

export function threadFacts(): ServiceFacts {
  if (facts === undefined) throw new Error('Cannot draw a map as this pool was made without the facts of the service');
  return facts;
}

/**
 * The database, opened when first needed, with everything in sight that is committed by now. Call it once a task.
 * @throws StoreError
 */
export function currentStore(): Store {
  store ??= openStore(threadDataDir(), 'read');
  store.resetRead();
  return store;
}
