/** The data and the limits with which any query is answered. */

import type { ByteSink } from '@nearsky/astrotables/bytes';
import type { SkyIndex } from '@nearsky/sky-index';
import type { Budget } from '../base/budget.ts';
import { TooExpensive, Unavailable } from '../base/refusal.ts';
import type { ObjectView } from '../store/object_record.ts';
import type { StoredObjects } from '../store/objects_at.ts';
import type { BesideObjects } from '../store/store_reader.ts';
import type { SharedFragments } from './shared_fragments.ts';

/** The index does not belong to this database. */
export class StaleIndex extends Error {}

/** The history of this archive does not have the requested journal entry, or cannot be read so far back. */
export class NotInHistory extends Error {
  override name = 'NotInHistory';
}

/** Work in steps. Other queries run at each yield and may change shared state, such as `QueryContext.object`. */
export type InSteps<T> = Generator<undefined, T, undefined>;

/** The steps of a query. */
export type Steps = InSteps<void>;

/**
 * For how many milliseconds a query runs before it lets others run. FIRST_STEP_MS is for its first step, in which
 * nearly every query ends, STEP_MS for each later step.
 */
const FIRST_STEP_MS = 2;
const STEP_MS = 1;

/** The reason for refusing a query that has waited for most or all of its budget (docs/contract.md, decision P4). */
export const TOO_LONG = 'the query had to wait for too long';

/** A query only counts as too expensive if it had at least this fraction of its budget for its work. */
const MIN_WORK = 0.5;

/**
 * The time limits of a query, by its thread's monotonic clock: its deadline, the end of its current step, and for how
 * long it has worked.
 */
export class Clock {
  #budget: Pick<Budget, 'startMs' | 'deadlineMs'> = { startMs: 0, deadlineMs: Number.POSITIVE_INFINITY };
  #stepStartMs = 0;
  #stepEndMs = Number.NEGATIVE_INFINITY;
  #stepMs = FIRST_STEP_MS;
  /** The total duration of the earlier steps. */
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

  /** Ends a step, so that other queries get a turn. */
  pause(): void {
    this.#workedMs += this.now() - this.#stepStartMs;
  }

  /**
   * Returns true if it is time to yield. Call this after each small piece of work.
   * @throws the error of `lateness`
   */
  get due(): boolean {
    const now = this.now();
    if (now >= this.#budget.deadlineMs) throw this.#latenessAt(now);
    return now >= this.#stepEndMs;
  }

  /** The time at which half of the remaining budget will be spent, for `isPast`. */
  get halfLeftMs(): number {
    const now = this.now();
    return now + (this.#budget.deadlineMs - now) / 2;
  }

  isPast(ms: number): boolean {
    return this.now() >= ms;
  }

  /** The error if the budget is spent: TooExpensive, or Unavailable if the query had to wait. Otherwise undefined. */
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

/** The objects of the index after one journal entry. */
export interface Past {
  /** A test whether a row does not belong to that state; undefined if all rows belong to it. */
  readonly isLeftOut: ((row: { readonly id: bigint; readonly arena: number }) => boolean) | undefined;
}

export interface QueryContext {
  /** For everything except objects, which only `stored` has in the state of the query. */
  readonly store: BesideObjects;
  readonly fragments: SharedFragments;
  readonly clock: Clock;
  /** The positions in the generation that the query searches. */
  readonly index: SkyIndex;
  /** The last journal entry that the generation covers. */
  readonly sequence: number;
  /** For each arena, the last journal entry whose removals are no longer in it: see `BuiltArena.sequence`. */
  readonly purgedTo: readonly number[];
  /** The objects of the state that the query reads. Without an entry, the present state may change at a yield. */
  readonly stored: StoredObjects;
  /** The rows of the index in that state, if it has an entry and the query searches the index. */
  readonly past: Past | undefined;
  /** The object that was read last. */
  readonly object: ObjectView;
  readonly out: ByteSink;
  /** Holds a later part of the answer while an earlier part that depends on it is written. Empty at first. */
  readonly body: ByteSink;
}
