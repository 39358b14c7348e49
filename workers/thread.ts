/** What a pool thread holds from one task to the next. */
import { workerData } from 'node:worker_threads';
import { openStore, type Store } from '../src/store/store.ts';
import type { ThreadData } from './pool.ts';
import type { ServiceFacts } from './tasks.ts';

const { dataDir, facts } = workerData as ThreadData;

let store: Store | undefined;

export function threadDataDir(): string {
  if (dataDir === undefined) throw new Error('Cannot read the database as this pool was made without a data directory');
  return dataDir;
}

export function threadFacts(): ServiceFacts {
  if (facts === undefined)
    throw new Error('Cannot answer queries as this pool was made without the facts of the service');
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
