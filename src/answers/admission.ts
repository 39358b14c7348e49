/** Limits the number of long queries per thread to what the thread can answer in time. */
import type { Budget } from '../base/budget.ts';
import { Unavailable } from '../base/refusal.ts';
import type { ThreadMetrics } from '../metrics/thread_metrics.ts';

/** Up to this number, queries are always admitted, because the rate is only known while some are running. */
const ALWAYS_TAKEN = 4;
/** The maximum number of unanswered queries. Waiting queries take memory. */
const MAX_UNANSWERED = 256;
/** The maximum expected wait of a query, as a fraction of its budget. It is well below 1, because queries differ. */
export const MAX_WAIT = 0.2;
/**
 * The time between completions is averaged over the last LAST_ENDS completions. With fewer than FIRST_ENDS, the average
 * is not used, because completions come in bursts.
 */
const LAST_ENDS = 16;
const FIRST_ENDS = 4;

export class Admission {
  readonly #metrics: ThreadMetrics;
  readonly #now: () => number;
  #unanswered = 0;
  /** The average time between two completions while there are queries. */
  #intervalMs = 0;
  #ended = 0;
  /** The time of the last completion; after a pause, the time of the first new query. */
  #lastMs = 0;

  constructor(metrics: ThreadMetrics, now = () => performance.now()) {
    this.#metrics = metrics;
    this.#now = now;
  }

  /**
   * Call it before a query is admitted.
   * @throws Unavailable if, at the recent rate, the query would wait for more than a fifth of its budget (Little's law)
   */
  requireRoom(budget: Budget): void {
    const count = this.#unanswered;
    if (count < ALWAYS_TAKEN) return;
    const waitMs = this.#ended < FIRST_ENDS ? 0 : count * this.#intervalMs;
    if (count < MAX_UNANSWERED && waitMs <= MAX_WAIT * budget.remainingMs) return;
    throw this.refusal('too many queries are waiting');
  }

  /** The error for a query that is refused before it has started. */
  refusal(why: string): Unavailable {
    this.#metrics.add('refusedQueries', 1);
    return new Unavailable(why);
  }

  begin(): void {
    if (this.#unanswered++ === 0) this.#lastMs = this.#now();
    this.#metrics.set('waitingQueries', this.#unanswered);
  }

  /** @param wasBegun whether the query had started; false if it only waited too long */
  end(wasBegun: boolean): void {
    this.#unanswered--;
    this.#metrics.set('waitingQueries', this.#unanswered);
    if (!wasBegun) return;
    const nowMs = this.#now();
    this.#intervalMs += (nowMs - this.#lastMs - this.#intervalMs) / Math.min(++this.#ended, LAST_ENDS);
    this.#lastMs = nowMs;
  }
}
