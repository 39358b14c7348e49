/** The database as a thread of a pool keeps it from one task to the next. */
import { threadData } from '../pool/thread_data.ts';
import { openStore, type Store } from './store.ts';

/** The `threadData` of pools whose tasks read the database. */
export interface StoreThreadData {
  readonly dataDir: string;
}

const { dataDir } = threadData<StoreThreadData>();

let store: Store | undefined;

export function threadDataDir(): string {
  if (dataDir === undefined) throw new Error('The database cannot be read because this pool has no data directory');
  return dataDir;
}

/**
 * The database, opened when first needed, with everything in view that is committed by now. Call it once a task.
 * @throws StoreError
 */
export function currentStore(): Store {
  store ??= openStore(threadDataDir(), 'read');
  store.resetRead();
  return store;
}
