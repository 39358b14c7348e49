/** Limits the long queries of a thread, and of each client, to what the thread can answer in time. */
import type { Budget } from '../base/budget.ts';
import { Unavailable } from '../base/refusal.ts';
import { Share } from '../base/share.ts';
import type { ThreadMetrics } from '../metrics/thread_metrics.ts';

/** Up to this number, queries are always admitted, because the rate is only known while some are running. */
const ALWAYS_TAKEN = 4;
/** The maximum number of unanswered queries; one client has at most half of it. Waiting queries take memory. */
export const MAX_UNANSWERED = 256;
/** The maximum expected wait of a query, as a fraction of its budget. It is well below 1, because queries differ. */
export const MAX_WAIT = 0.2;
/**
 * The time between completions is averaged over the last LAST_ENDS completions. With fewer than FIRST_ENDS, the average
 * is not used, because completions come in bursts.
 */
const LAST_ENDS = 16;
const FIRST_ENDS = 4;

/** The client of a query, and the query's time budget. */
export interface Asker {
  readonly budget: Budget;
  /** The name by which the client's use is counted. */
  readonly client: string;
}

export class Admission {
  readonly #metrics: ThreadMetrics;
  readonly #now: () => number;
  readonly #unanswered = new Share(MAX_UNANSWERED);
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
   * @throws Unavailable if, at the recent rate, the query would wait for more than a fifth of its budget (Little's
   * law), or if the client already has its share of queries
   */
  requireRoom({ budget, client }: Asker): void {
    const own = this.requireShare(client);
    const clients = this.#unanswered.clients + (own === 0 ? 1 : 0);
    // Clients take turns, so a client with few queries does not wait for all queries of another one.
    const count = Math.min(this.#unanswered.held, (own + 1) * clients);
    if (count < ALWAYS_TAKEN) return;
    const waitMs = this.#ended < FIRST_ENDS ? 0 : count * this.#intervalMs;
    if (this.#unanswered.left() > 0 && waitMs <= MAX_WAIT * budget.remainingMs) return;
    throw this.refusal('too many queries are waiting');
  }

  /**
   * Returns the number of the client's unanswered queries.
   * @throws Unavailable if that is already the client's share
   */
  requireShare(client: string): number {
    if (this.#unanswered.leftOfHalf(client) > 0) return this.#unanswered.heldBy(client);
    throw this.refusal('too many queries of this client are waiting');
  }

  /** The error for a query that is refused before it has started. */
  refusal(why: string): Unavailable {
    this.#metrics.add('refusedQueries', 1);
    return new Unavailable(why);
  }

  begin(client: string): void {
    if (this.#unanswered.held === 0) this.#lastMs = this.#now();
    this.#unanswered.add(client);
    this.#metrics.set('waitingQueries', this.#unanswered.held);
  }

  /** @param wasBegun whether the query had started; false if it only waited too long */
  end(client: string, wasBegun: boolean): void {
    this.#unanswered.free(client);
    this.#metrics.set('waitingQueries', this.#unanswered.held);
    if (!wasBegun) return;
    const nowMs = this.#now();
    this.#intervalMs += (nowMs - this.#lastMs - this.#intervalMs) / Math.min(++this.#ended, LAST_ENDS);
    this.#lastMs = nowMs;
  }
}
