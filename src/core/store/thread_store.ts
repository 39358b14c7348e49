/** Keeps the database open in a thread of a pool, from one task to the next. */
import { memoized } from '../base/memoized.ts';
import { threadData } from '../pool/thread_data.ts';
import { openStore, type Store } from './store.ts';

/** The `threadData` of pools whose tasks read the database. */
export interface StoreThreadData {
  readonly dataDir: string;
}

/** A database that stays open from one task to the next. */
export class TaskStore {
  readonly dataDir: string;
  #store: Store | undefined;

  constructor(dataDir: string) {
    this.dataDir = dataDir;
  }

  /**
   * The database, opened on the first call. It shows everything that is committed by now. Call this once per task.
   * @throws StoreError
   */
  current(): Store {
    this.#store ??= openStore(this.dataDir, 'read');
    this.#store.resetRead();
    return this.#store;
  }

  async close(): Promise<void> {
    await this.#store?.close();
  }
}

const storeOf = memoized(({ dataDir }: Partial<StoreThreadData>) => {
  if (dataDir === undefined) throw new Error('The database cannot be read because this pool has no data directory');
  return new TaskStore(dataDir);
});

/** The database of this thread's pool. */
export const threadStore = () => storeOf(threadData<StoreThreadData>());

export const threadDataDir = () => threadStore().dataDir;

/** See `TaskStore.current`. */
export const currentStore = () => threadStore().current();
