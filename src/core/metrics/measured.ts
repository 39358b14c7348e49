/** The state that `/metrics` shows. */
import type { SharedState } from '../base/shared_state.ts';
import type { IndexStatus } from '../generations/indexer.ts';
import type { MetricsAnswer } from '../store/metrics_task.ts';
import type { Exposition } from './exposition.ts';
import type { ThreadMetrics } from './thread_metrics.ts';

/** The threads that answer requests. */
export interface ThreadsWatched {
  readonly threads: readonly ThreadMetrics[];
  /** The names of the operations that the threads count, in the order of their counters. */
  readonly operations: readonly string[];
  /** The number of threads that died or hung, and were replaced. */
  readonly replaced: number;
}

export interface Measured extends ThreadsWatched {
  readonly index: IndexStatus | undefined;
  /** Undefined if the database could not be read. */
  readonly stored: MetricsAnswer | undefined;
  readonly state: SharedState;
  /** Parts of capabilities, which may add metrics of their own. */
  readonly parts: readonly { addMetrics?(exposition: Exposition): void }[];
}
