/** The way in for queries: refuses at once those that would wait too long, and counts. */
import type { Query } from '../../workers/tasks.ts';
import { unavailable } from '../http/errors.ts';
import type { ThreadMetrics } from '../metrics/thread_metrics.ts';
import { type LaneName, laneOf } from './batcher.ts';
import type { Body } from './body.ts';
import type { Budget } from './budget.ts';

/** What answers queries. */
export interface QueryRunner {
  run(query: Query, budget: Budget): Promise<Body>;
}

/** Queries of each lane that are taken whatever the rate was: the threads are never idle with them. */
const ALWAYS_TAKEN = { quick: 16, long: 4 };
/** How long answers are counted for a rate. */
const WINDOW_MS = 200;
/** The same after a pause, where much is not compiled or read yet, and where there is not one answer: the machine may have stood still. */
const PATIENT_WINDOW_MS = 500;
/** The share of its budget that a query may be expected to wait: well below 1, as batches are uneven, and what waits is to be soon gone. */
const MAX_WAIT = 0.2;

/**
 * Takes a query where what is unanswered of its lane, at the rate of the last answers, keeps it waiting for a fifth of its budget at most
 * (Little's law).
 */
export class QueryGate implements QueryRunner {
  readonly #runner: QueryRunner;
  readonly #metrics: ThreadMetrics;
  readonly #lanes: Readonly<Record<LaneName, LaneRate>>;

  constructor(runner: QueryRunner, metrics: ThreadMetrics, now = () => performance.now()) {
    this.#runner = runner;
    this.#metrics = metrics;
    this.#lanes = { quick: new LaneRate(now), long: new LaneRate(now) };
  }

  /** @throws ApiError `service_unavailable` when the answer to a query of that lane would come too late */
  requireRoom(name: LaneName, budget: Budget): void {
    const lane = this.#lanes[name];
    if (lane.unanswered < ALWAYS_TAKEN[name] || lane.expectedWaitMs() <= MAX_WAIT * budget.remainingMs) return;
    this.#metrics.add('refusedQueries', 1);
    throw unavailable('too many queries are waiting');
  }

  /** @throws ApiError `service_unavailable` at once when the answer would come too late; else see the runner */
  async run(query: Query, budget: Budget): Promise<Body> {
    const name = laneOf(query);
    this.requireRoom(name, budget);
    const lane = this.#lanes[name];
    lane.begin();
    this.#metrics.add('waitingQueries', 1);
    let isAnswered = false;
    try {
      const answer = await this.#runner.run(query, budget);
      isAnswered = true;
      return answer;
    } finally {
      lane.end(isAnswered);
      this.#metrics.add('waitingQueries', -1);
    }
  }
}

/**
 * How fast queries are answered: the better one of two windows, as one alone may have had a bad moment. That is known while some wait without
 * a break; after a pause, it is not until it has been seen again.
 */
class LaneRate {
  readonly #now: () => number;
  unanswered = 0;
  #answered = 0;
  #windowStartMs = 0;
  /** Answers a millisecond; undefined while it is not known. */
  #rate: number | undefined;
  /** That of the last whole window alone. */
  #lastRate = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  begin(): void {
    if (this.unanswered++ > 0) return;
    this.#rate = undefined;
    this.#lastRate = 0;
    this.#answered = 0;
    this.#windowStartMs = this.#now();
  }

  /** @param isAnswered whether it was, and not refused or given up */
  end(isAnswered: boolean): void {
    this.unanswered--;
    if (isAnswered) this.#answered++;
  }

  /** How long it takes to answer what there is; 0 while the rate is not known. */
  expectedWaitMs(): number {
    const elapsedMs = this.#now() - this.#windowStartMs;
    const isPatient = this.#rate === undefined || this.#answered === 0;
    if (elapsedMs >= (isPatient ? PATIENT_WINDOW_MS : WINDOW_MS)) this.#look(elapsedMs);
    return this.#rate === undefined ? 0 : this.unanswered / this.#rate;
  }

  #look(elapsedMs: number): void {
    if (this.#answered === 0) {
      // As if the next one were just coming.
      this.#rate = 1 / elapsedMs;
      return;
    }
    const rate = this.#answered / elapsedMs;
    this.#rate = Math.max(rate, this.#lastRate);
    this.#lastRate = rate;
    this.#answered = 0;
    this.#windowStartMs += elapsedMs;
  }
}
