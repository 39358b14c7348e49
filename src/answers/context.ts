/** The data and the limits for answering any kind of query. */

import type { ByteSink } from '@nearsky/astrotables/bytes';
import type { SkyIndex } from '@nearsky/sky-index';
import type { Budget } from '../base/budget.ts';
import { TooExpensive, Unavailable } from '../base/refusal.ts';
import type { ObjectView } from '../store/object_record.ts';
import type { Store } from '../store/store.ts';
import type { SharedFragments } from './shared_fragments.ts';

/** The index belongs to another database. */
export class StaleIndex extends Error {}

/**
 * The steps of a query: each yield lets other queries run. Between two yields, a query must not assume that shared
 * state, such as `QueryContext.object`, stays the same.
 */
export type Steps = Generator<undefined, void, undefined>;

/**
 * How long a query runs before it lets others run, milliseconds. FIRST_STEP_MS applies to its first step, in which
 * nearly every query ends; STEP_MS to each later step.
 */
const FIRST_STEP_MS = 2;
const STEP_MS = 1;

/** The reason for refusing a query that waited for most of its budget, or all of it (docs/contract.md, decision P4). */
export const TOO_LONG = 'the query had to wait for too long';

/** A query counts as too expensive only if it could work for at least this share of its budget. */
const MIN_WORK = 0.5;

/**
 * The time of a query, by its thread's monotonic clock: its deadline, the end of its current step, and how long it has
 * worked.
 */
export class Clock {
  #budget: Pick<Budget, 'startMs' | 'deadlineMs'> = { startMs: 0, deadlineMs: Number.POSITIVE_INFINITY };
  #stepStartMs = 0;
  #stepEndMs = Number.NEGATIVE_INFINITY;
  #stepMs = FIRST_STEP_MS;
  /** The duration of the earlier steps. */
  #workedMs = 0;

  /** Starts the clock for a query. */
  begin(budget: Pick<Budget, 'startMs' | 'deadlineMs'>): void {
    this.#budget = budget;
    this.#stepMs = FIRST_STEP_MS;
    this.#workedMs = 0;
  }

  /** Starts a step, after other queries had their turn. */
  resume(): void {
    this.#stepStartMs = this.now();
    this.#stepEndMs = this.#stepStartMs + this.#stepMs;
    this.#stepMs = STEP_MS;
  }

  /** Ends a step, so that other queries get their turn. */
  pause(): void {
    this.#workedMs += this.now() - this.#stepStartMs;
  }

  /**
   * Whether it is time to yield. Call it after each small piece of work.
   * @throws TooExpensive or Unavailable, as `lateness`
   */
  get due(): boolean {
    const now = this.now();
    if (now >= this.#budget.deadlineMs) throw this.#latenessAt(now);
    return now >= this.#stepEndMs;
  }

  /** The moment when half of the remaining time will be spent, for `isPast`. */
  get halfLeftMs(): number {
    const now = this.now();
    return now + (this.#budget.deadlineMs - now) / 2;
  }

  isPast(ms: number): boolean {
    return this.now() >= ms;
  }

  /** The error of a query whose budget is spent: TooExpensive, or Unavailable if it had to wait; undefined before. */
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
  /** The positions of the generation that answers the query. */
  readonly index: SkyIndex;
  /** The object that was read last. */
  readonly object: ObjectView;
  readonly out: ByteSink;
  /** Holds the later part of an answer while an earlier part that depends on it is unknown; empty at first. */
  readonly body: ByteSink;
}
