/** The data and the limits for answering any kind of query. */
import type { SkyIndex } from '@nearsky/sky-index';
import type { Budget } from '../base/budget.ts';
import type { ByteSink } from '../base/bytes.ts';
import { TooExpensive, Unavailable } from '../base/refusal.ts';
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

/** The reason for refusing a query that waited for most of its budget, or all of it (docs/contract.md, decision P4). */
export const TOO_LONG = 'the query had to wait for too long';

/** The share of its budget that a query has to work before it is called too expensive. */
const MIN_WORK = 0.5;

/**
 * The time of a task, by its thread's monotonic clock: up to when its query may run, up to when it need not let others
 * go ahead, and how long it has worked.
 */
export class Clock {
  #budget: Pick<Budget, 'startMs' | 'deadlineMs'> = { startMs: 0, deadlineMs: Number.POSITIVE_INFINITY };
  #stepStartMs = 0;
  #stepEndMs = Number.NEGATIVE_INFINITY;
  #stepMs = FIRST_STEP_MS;
  /** The time of the steps before this one. */
  #workedMs = 0;

  /** Begins a query. */
  begin(budget: Pick<Budget, 'startMs' | 'deadlineMs'>): void {
    this.#budget = budget;
    this.#stepMs = FIRST_STEP_MS;
    this.#workedMs = 0;
  }

  /** Begins a step: others have gone ahead. */
  resume(): void {
    this.#stepStartMs = this.now();
    this.#stepEndMs = this.#stepStartMs + this.#stepMs;
    this.#stepMs = STEP_MS;
  }

  /** Ends a step: others go ahead. */
  pause(): void {
    this.#workedMs += this.now() - this.#stepStartMs;
  }

  /**
   * Whether it is time to yield. To be called wherever a query has done a little work.
   * @throws TooExpensive or Unavailable, as `lateness`
   */
  get due(): boolean {
    const now = this.now();
    if (now >= this.#budget.deadlineMs) throw this.#latenessAt(now);
    return now >= this.#stepEndMs;
  }

  /** The moment at which half of the time that is left now will be spent, for `isPast`. */
  get halfLeftMs(): number {
    const now = this.now();
    return now + (this.#budget.deadlineMs - now) / 2;
  }

  isPast(ms: number): boolean {
    return this.now() >= ms;
  }

  /** The error of a query whose budget is spent: too expensive, or one that had to wait; undefined before. */
  get lateness(): TooExpensive | Unavailable | undefined {
    const now = this.now();
    return now >= this.#budget.deadlineMs ? this.#latenessAt(now) : undefined;
  }

  #latenessAt(now: number): TooExpensive | Unavailable {
    const { startMs, deadlineMs } = this.#budget;
    const workedMs = this.#workedMs + now - this.#stepStartMs;
    return workedMs >= MIN_WORK * (deadlineMs - startMs) ? new TooExpensive() : new Unavailable(TOO_LONG);
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
