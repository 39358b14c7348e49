/** The data and the limits for answering any kind of query. */
import type { SkyIndex } from '../../index/mod.ts';
import type { ByteSink } from '../base/bytes.ts';
import { TooExpensive } from '../base/refusal.ts';
import type { ObjectView } from '../store/object_record.ts';
import type { Store } from '../store/store.ts';
import type { SharedFragments } from './shared_fragments.ts';

/** The index belongs to another database. */
export class StaleIndex extends Error {}

/**
 * A query as it is answered: each value that it yields is a moment to let others go ahead. Between two of them it must
 * not touch anything that queries share, such as `QueryContext.object`.
 */
export type Steps = Generator<undefined, void, undefined>;

/**
 * The time for which a query runs before it lets others run, milliseconds: in its first step, with which nearly every
 * query ends, and in each later step.
 */
const FIRST_STEP_MS = 2;
const STEP_MS = 1;

/**
 * The time of a task, by its thread's monotonic clock: up to when its query may run, and up to when it need not let
 * others go ahead.
 */
export class Clock {
  #deadlineMs = Number.POSITIVE_INFINITY;
  #stepEndMs = Number.NEGATIVE_INFINITY;
  #stepMs = FIRST_STEP_MS;

  /** Begins a query that may run up to then. */
  begin(deadlineMs: number): void {
    this.#deadlineMs = deadlineMs;
    this.#stepMs = FIRST_STEP_MS;
  }

  /** Begins a step: others have gone ahead. */
  resume(): void {
    this.#stepEndMs = this.now() + this.#stepMs;
    this.#stepMs = STEP_MS;
  }

  /**
   * Whether it is time to yield. To be called wherever a query has done a little work.
   * @throws TooExpensive
   */
  get due(): boolean {
    const now = this.now();
    if (now >= this.#deadlineMs) throw new TooExpensive();
    return now >= this.#stepEndMs;
  }

  get passed(): boolean {
    return this.now() >= this.#deadlineMs;
  }

  protected now(): number {
    return performance.now();
  }
}

export interface QueryContext {
  readonly store: Store;
  readonly fragments: SharedFragments;
  readonly clock: Clock;
  /** The positions of the generation that the query is answered from. */
  readonly index: SkyIndex;
  /** The object that was read last. */
  readonly object: ObjectView;
  /** The buffer of the answer. */
  readonly out: ByteSink;
  /** For the part of the answer on which an earlier part depends; empty at first. */
  readonly body: ByteSink;
}
