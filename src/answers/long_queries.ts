/**
 * Runs queries that take more than one step. The queries take turns, one step per turn of the event loop, so that a new
 * request waits for at most one step.
 */
import type { Budget } from '../base/budget.ts';
import { Unavailable } from '../base/refusal.ts';
import { afterThisIteration } from '../base/runtime.ts';
import { type Admission, MAX_WAIT } from './admission.ts';
import type { Body } from './body.ts';
import { TOO_LONG } from './context.ts';

/** A query that is answered in steps. */
interface Stepped {
  readonly budget: Budget;
  /** Does one step; returns the answer after the last step. A thrown error is the query's result. */
  step(): Body | undefined;
}

/** A query before its first step. */
export interface NotBegun extends Stepped {
  /**
   * Reserves the memory of the query; returns whether there was enough. Called again until there is; then the first
   * step follows.
   */
  reserve(): boolean;
}

/** The maximum number of started queries. The others hold no memory yet, and may be refused as not started. */
const MAX_BEGUN = 4;
/** The interval at which waiting queries are checked. */
const SWEEP_MS = 50;
/** The interval between attempts to reserve memory when there is nothing else to do. */
const RESERVE_MS = 10;
/** How long steps give way to new connections. */
const ACCEPT_MS = 10;

interface Entry<Query extends Stepped = Stepped> {
  readonly query: Query;
  readonly resolve: (body: Body) => void;
  readonly reject: (error: unknown) => void;
}

interface Waiting extends Entry<NotBegun> {
  /** The end of the wait for memory, by `performance.now()`. */
  readonly patientUntilMs: number;
  /** Whether the query waits for memory. */
  lacksMemory: boolean;
}

export class LongQueries {
  readonly #admission: Admission;
  /** Started queries; the next in turn is first. */
  readonly #begun: Entry[] = [];
  /** Queries that have not started, roughly in the order of their deadlines. */
  readonly #waiting: Waiting[] = [];
  readonly #accepted: () => number;
  #isStepping = false;
  #sweptMs = 0;
  #acceptedBefore = 0;
  /** The time since which steps have given way to new connections, by `performance.now()`; 0 if they do not. */
  #makesWaySinceMs = 0;

  /** @param accepted the number of connections accepted so far */
  constructor(admission: Admission, accepted: () => number = () => 0) {
    this.#admission = admission;
    this.#accepted = accepted;
  }

  /**
   * Answers a query after the earlier ones.
   * @throws Unavailable if the query would wait for too long, has waited until the end of its budget, or has waited for
   * memory for a fifth of its budget
   */
  async answer(query: NotBegun): Promise<Body> {
    this.#admission.requireRoom(query.budget);
    return await new Promise((resolve, reject) => {
      const patientUntilMs = performance.now() + MAX_WAIT * query.budget.remainingMs;
      this.#waiting.push({ query, resolve, reject, patientUntilMs, lacksMemory: false });
      this.#added();
    });
  }

  /**
   * Continues a query that has done its first step.
   * @throws Unavailable if it would take too long beside the others
   */
  async goOn(query: Stepped): Promise<Body> {
    this.#admission.requireRoom(query.budget);
    return await new Promise((resolve, reject) => {
      this.#begun.push({ query, resolve, reject });
      this.#added();
    });
  }

  #added(): void {
    this.#admission.begin();
    this.#stepSoon();
  }

  #stepSoon(): void {
    if (this.#isStepping) return;
    this.#isStepping = true;
    const step = () => {
      if (this.#makesWay()) {
        afterThisIteration(step);
        return;
      }
      this.#isStepping = false;
      this.#refuseLate();
      this.#step();
      if (this.#begun.length + this.#waiting.length > 0) this.#stepSoon();
    };
    if (this.#begun.length === 0 && this.#waiting[0]?.lacksMemory) setTimeout(step, RESERVE_MS);
    else afterThisIteration(step);
  }

  /**
   * Whether this turn does no step, because a connection was accepted. libuv accepts one connection per turn: with a
   * step in each turn, each of many new clients would wait for one more step.
   */
  #makesWay(): boolean {
    const accepted = this.#accepted();
    const isNew = accepted !== this.#acceptedBefore;
    this.#acceptedBefore = accepted;
    const nowMs = performance.now();
    if (isNew) this.#makesWaySinceMs ||= nowMs;
    if (isNew && nowMs < this.#makesWaySinceMs + ACCEPT_MS) return true;
    this.#makesWaySinceMs = 0;
    return false;
  }

  /**
   * Starts the waiting queries for which there is memory. A query that needs little does not wait for one that needs
   * much.
   */
  #begin(): void {
    for (let i = 0; i < this.#waiting.length && this.#begun.length < MAX_BEGUN; ) {
      const entry = this.#waiting[i]!;
      const { query } = entry;
      if (query.budget.spent) this.#refuse(entry, new Unavailable(TOO_LONG));
      else if (query.reserve()) this.#begun.push(entry);
      else {
        entry.lacksMemory = true;
        i++;
        continue;
      }
      this.#waiting.splice(i, 1);
    }
  }

  #step(): void {
    this.#begin();
    const entry = this.#begun.shift();
    if (!entry) return;
    try {
      const body = entry.query.step();
      if (body === undefined) {
        this.#begun.push(entry);
        return;
      }
      entry.resolve(body);
    } catch (error) {
      entry.reject(error);
    }
    this.#admission.end(true);
  }

  #refuseLate(): void {
    const nowMs = performance.now();
    if (nowMs < this.#sweptMs + SWEEP_MS) return;
    this.#sweptMs = nowMs;
    while (this.#waiting[0]?.query.budget.spent) this.#refuse(this.#waiting.shift()!, new Unavailable(TOO_LONG));
    for (let i = this.#waiting.length - 1; i >= 0; i--) {
      const { lacksMemory, patientUntilMs } = this.#waiting[i]!;
      if (!lacksMemory || nowMs < patientUntilMs) continue;
      const [entry] = this.#waiting.splice(i, 1);
      this.#refuse(entry!, this.#admission.refusal('other answers take the memory that this one needs'));
    }
  }

  /** A query that never started was not too expensive: it may succeed at another time (decision P4). */
  #refuse({ reject }: Entry, error: Unavailable): void {
    reject(error);
    this.#admission.end(false);
  }
}
