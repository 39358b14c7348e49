/** Keeps the database open in a thread of a pool, from one task to the next. */
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
 * The database, opened on the first call. It shows everything that is committed by now. Call this once per task.
 * @throws StoreError
 */
export function currentStore(): Store {
  store ??= openStore(threadDataDir(), 'read');
  store.resetRead();
  return store;
}
