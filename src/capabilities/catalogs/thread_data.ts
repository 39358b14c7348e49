import type { RemoteOptions } from '@nearsky/hats';
import type { StoreThreadData } from '../../core/store/thread_store.ts';

/** The `threadData` of pools and processes that read catalogs. */
export interface CatalogThreadData extends StoreThreadData {
  readonly catalogs: {
    readonly remote?: RemoteOptions;
    /** The limit for the columns that a thread holds at once. */
    readonly memoryBytes: number;
  };
  /** The maximum number of threads that may help with a large table; none by default. */
  readonly helpers?: number;
}
