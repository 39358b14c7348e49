/** The task `metrics`: the figures of the database for monitoring. */
import type { Task, Tasks } from '../pool/pool.ts';
import { readCatalogNames } from './catalog_registration.ts';
import { type Counters, readCounters } from './counters.ts';
import { readLogPosition } from './log_position.ts';
import { readPublished } from './meta.ts';
import { countPending, countRecords } from './object_tables.ts';
import { readLatestIngest } from './recent.ts';
import { readRegistryEpochUs } from './registry.ts';
import { currentStore } from './thread_store.ts';
import type { PublishedPosition } from './types.ts';

/** The figures of the database for monitoring. */
export interface MetricsTask extends Task<MetricsAnswer> {
  readonly module: 'src/core/store/metrics_task';
  readonly kind: 'metrics';
}

export interface MetricsAnswer {
  /** The epoch of the TNS registry's snapshot, microseconds since 1970, however old; null when there is none. */
  readonly tnsSnapshotEpochUs: number | null;
  /** The latest ingest time of any object, microseconds since 1970; null when there is none. */
  readonly latestIngestTimeUs: number | null;
  readonly lastSequence: number;
  /** The log that the archive follows. */
  readonly log: string | null;
  readonly objects: number;
  readonly pending: number;
  /** The positions of publishing the matches, by topic. */
  readonly published: ReadonlyMap<string, PublishedPosition>;
  readonly counters: Counters;
  /** The names of the registered catalogs. */
  readonly catalogs: readonly string[];
}

export const tasks: Tasks<MetricsTask> = { metrics: runMetrics };

/** @throws StoreError if the database cannot be read, or was removed or replaced */
export function runMetrics(_: MetricsTask): MetricsAnswer {
  const store = currentStore();
  store.requireInPlace();
  return {
    tnsSnapshotEpochUs: readRegistryEpochUs(store.databases),
    latestIngestTimeUs: readLatestIngest(store.databases),
    lastSequence: store.lastSequence(),
    log: readLogPosition(store.databases)?.log ?? null,
    objects: countRecords(store.databases),
    pending: countPending(store.databases),
    published: readPublished(store.databases),
    counters: readCounters(store.databases),
    catalogs: readCatalogNames(store.databases),
  };
}
