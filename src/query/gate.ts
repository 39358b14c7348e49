/** The way in for queries: refuses at once those that would wait too long, and counts. */
import type { Query } from '../../workers/tasks.ts';
import { unavailable } from '../http/errors.ts';
import type { ThreadMetrics } from '../metrics/thread_metrics.ts';
import { type LaneName, laneOf } from './batcher.ts';
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
 * Takes a query where what is unanswered in its lane, at the rate of the last answers, keeps it waiting for a fifth of its budget at most
 * (Little's law). Each lane has a line of its own: large pages that wait say nothing about small queries.
 */
export class QueryGate implements QueryRunner {
  readonly #runner: QueryRunner;
  readonly #metrics: ThreadMetrics;
  readonly #lines: Readonly<Record<LaneName, Line>>;

  constructor(runner: QueryRunner, metrics: ThreadMetrics, now = () => performance.now()) {
    this.#runner = runner;
    this.#metrics = metrics;
    this.#lines = { quick: new Line(now), long: new Line(now) };
  }

  /** @throws ApiError `service_unavailable` at once when the answer would come too late; else see the runner */
  run(query: Query, budget: Budget): Promise<Uint8Array<ArrayBuffer>> {
    const line = this.#lines[laneOf(query)];
    if (line.unanswered >= ALWAYS_TAKEN && line.expectedWaitMs() > MAX_WAIT * budget.remainingMs) {
      this.#metrics.add('refusedQueries', 1);
      return Promise.reject(unavailable('too many queries are waiting'));
    }
    line.enter();
    this.#count();
    const answer = this.#runner.run(query, budget);
    answer.then(
      () => this.#leave(line, 1),
      () => this.#leave(line, 0),
    );
    return answer;
  }

  #leave(line: Line, answered: 0 | 1): void {
    line.leave(answered);
    this.#count();
  }

  #count(): void {
    this.#metrics.set('waitingQueries', this.#lines.quick.unanswered + this.#lines.long.unanswered);
  }
}

/** The unanswered queries of a lane. The rate is known while some wait without a break; after a pause it is not, and queries are taken until it is. */
class Line {
  unanswered = 0;
  readonly #now: () => number;
  #answered = 0;
  #windowStartMs = 0;
  /** Answers a millisecond; undefined while it is not known. */
  #rate: number | undefined;

  constructor(now: () => number) {
    this.#now = now;
  }

  enter(): void {
    if (this.unanswered++ > 0) return;
    this.#rate = undefined;
    this.#answered = 0;
    this.#windowStartMs = this.#now();
  }

  leave(answered: 0 | 1): void {
    this.unanswered--;
    this.#answered += answered;
  }

  expectedWaitMs(): number {
    const elapsedMs = this.#now() - this.#windowStartMs;
    if (elapsedMs >= WINDOW_MS) {
      // Not even one answer: as if the next were just coming.
      this.#rate = Math.max(1, this.#answered) / elapsedMs;
      if (this.#answered > 0) {
        this.#answered = 0;
        this.#windowStartMs += elapsedMs;
      }
    }
    return this.#rate === undefined ? 0 : this.unanswered / this.#rate;
  }
}
