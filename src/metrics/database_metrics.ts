/** The task `metrics`: what whoever watches the service wants to know of the database. */
import type { MetricsAnswer } from '../answers/queries.ts';
import { currentStore } from '../store/thread_store.ts';

/** @throws StoreError when the database cannot be read or is not in its place any more */
export function runMetrics(): MetricsAnswer {
  const store = currentStore();
  store.requireInPlace();
  return {
    tnsSnapshotEpochUs: store.tnsSnapshotEpochUs(),
    latestIngestTimeUs: store.latestIngestTimeUs(),
    lastSequence: store.lastSequence(),
    objects: store.entryCount('objects'),
    pending: store.entryCount('pending'),
    published: store.published(),
    counters: store.counters(),
  };
}
