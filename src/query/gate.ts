/** The way in for queries: refuses at once those that would wait too long, and counts. */
import type { Query } from '../../workers/tasks.ts';
import { unavailable } from '../http/errors.ts';
import type { ThreadMetrics } from '../metrics/thread_metrics.ts';
import type { Budget } from './budget.ts';

/** What answers queries. */
export interface QueryRunner {
  run(query: Query, budget: Budget): Promise<Uint8Array<ArrayBuffer>>;
}

/** Queries that are taken whatever the rate was: a thread or two are never idle with them. */
const ALWAYS_TAKEN = 16;
/** How long answers are counted for a rate. */
const WINDOW_MS = 200;
/** The share of its budget that a query may be expected to wait: well below 1, as batches are uneven, and what waits is to be soon gone. */
const MAX_WAIT = 0.2;

/**
 * Takes a query where what is unanswered, at the rate of the last answers, keeps it waiting for a fifth of its budget at most (Little's law). The rate is
 * known while queries wait without a break; after a pause, it is not, and queries are taken until it is.
 */
export class QueryGate implements QueryRunner {
  readonly #runner: QueryRunner;
  readonly #metrics: ThreadMetrics;
  readonly #now: () => number;
  #unanswered = 0;
  #answered = 0;
  #windowStartMs = 0;
  /** Answers a millisecond; undefined while it is not known. */
  #rate: number | undefined;

  constructor(runner: QueryRunner, metrics: ThreadMetrics, now = () => performance.now()) {
    this.#runner = runner;
    this.#metrics = metrics;
    this.#now = now;
  }

  /** @throws ApiError `service_unavailable` at once when the answer would come too late; else see the runner */
  run(query: Query, budget: Budget): Promise<Uint8Array<ArrayBuffer>> {
    if (this.#unanswered >= ALWAYS_TAKEN && this.#expectedWaitMs() > MAX_WAIT * budget.remainingMs) {
      this.#metrics.add('refusedQueries', 1);
      return Promise.reject(unavailable('too many queries are waiting'));
    }
    if (this.#unanswered++ === 0) this.#begin();
    this.#metrics.set('waitingQueries', this.#unanswered);
    const answer = this.#runner.run(query, budget);
    answer.then(this.#onAnswer, this.#onFailure);
    return answer;
  }

  readonly #onAnswer = () => {
    this.#answered++;
    this.#onFailure();
  };

  readonly #onFailure = () => this.#metrics.set('waitingQueries', --this.#unanswered);

  #begin(): void {
    this.#rate = undefined;
    this.#answered = 0;
    this.#windowStartMs = this.#now();
  }

  #expectedWaitMs(): number {
    const elapsedMs = this.#now() - this.#windowStartMs;
    if (elapsedMs >= WINDOW_MS) {
      // Not even one answer: as if the next were just coming.
      this.#rate = Math.max(1, this.#answered) / elapsedMs;
      if (this.#answered > 0) {
        this.#answered = 0;
        this.#windowStartMs += elapsedMs;
      }
    }
    return this.#rate === undefined ? 0 : this.#unanswered / this.#rate;
  }
}
