/** The number of long queries that a thread takes: as many as it will answer in time. */
import type { Budget } from '../base/budget.ts';
import { Unavailable } from '../base/refusal.ts';
import type { ThreadMetrics } from '../metrics/thread_metrics.ts';

/** The number of queries taken however slow the last ones were, because a rate is only known while some run. */
const ALWAYS_TAKEN = 4;
/** The most queries that are taken, because waiting queries take memory. */
const MAX_UNANSWERED = 256;
/** The share of its budget that a query may be expected to wait: well below 1, because queries differ. */
export const MAX_WAIT = 0.2;
/**
 * The number of ends over which the time between two ends is averaged, and the number before which it is not known. Ends
 * come in bursts.
 */
const LAST_ENDS = 16;
const FIRST_ENDS = 4;

export class Admission {
  readonly #metrics: ThreadMetrics;
  readonly #now: () => number;
  #unanswered = 0;
  /** The mean time from one end to the next, while there are queries. */
  #intervalMs = 0;
  #ended = 0;
  /** When the last query ended, or the first one after a pause came. */
  #lastMs = 0;

  constructor(metrics: ThreadMetrics, now = () => performance.now()) {
    this.#metrics = metrics;
    this.#now = now;
  }

  /**
   * To be called before a query is taken.
   * @throws Unavailable when, at the rate at which the last ones ended, it would wait for more than
   * a fifth of its budget
   *   (Little's law)
   */
  requireRoom(budget: Budget): void {
    const count = this.#unanswered;
    if (count < ALWAYS_TAKEN) return;
    const waitMs = this.#ended < FIRST_ENDS ? 0 : count * this.#intervalMs;
    if (count < MAX_UNANSWERED && waitMs <= MAX_WAIT * budget.remainingMs) return;
    throw this.refusal('too many queries are waiting');
  }

  /** The error of a query that is refused before it was begun. */
  refusal(why: string): Unavailable {
    this.#metrics.add('refusedQueries', 1);
    return new Unavailable(why);
  }

  begin(): void {
    if (this.#unanswered++ === 0) this.#lastMs = this.#now();
    this.#metrics.set('waitingQueries', this.#unanswered);
  }

  /**
   * @param wasBegun whether it has ended because its work was done, or took too long; not because it waited for too
   * long
   */
  end(wasBegun: boolean): void {
    this.#unanswered--;
    this.#metrics.set('waitingQueries', this.#unanswered);
    if (!wasBegun) return;
    const nowMs = this.#now();
    this.#intervalMs += (nowMs - this.#lastMs - this.#intervalMs) / Math.min(++this.#ended, LAST_ENDS);
    this.#lastMs = nowMs;
  }
}
