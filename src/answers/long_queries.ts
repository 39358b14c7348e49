/**
 * Runs queries that take more than one step. The queries take turns, with one step per iteration of the event loop, so
 * a new request waits for one step at most.
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
  /** Does one step. Returns the answer after the last step. If it throws, the error is the query's result. */
  step(): Body | undefined;
}

/** A query before its first step. */
export interface NotBegun extends Stepped {
  /**
   * Tries to reserve the memory of the query, and returns whether that succeeded. It is called again until it succeeds.
   * Then the first step follows.
   */
  reserve(): boolean;
}

/** The maximum number of started queries. Other queries hold no memory yet, and may still be refused. */
const MAX_BEGUN = 4;
/** The interval between checks of the waiting queries. */
const SWEEP_MS = 50;
/** The interval between attempts to reserve memory, if there is nothing else to do. */
const RESERVE_MS = 10;
/** For how long steps give way to new connections. */
const ACCEPT_MS = 10;

interface Entry<Query extends Stepped = Stepped> {
  readonly query: Query;
  readonly resolve: (body: Body) => void;
  readonly reject: (error: unknown) => void;
}

interface Waiting extends Entry<NotBegun> {
  /** When the wait for memory ends, by `performance.now()`. */
  readonly patientUntilMs: number;
  /** Whether the query waits for memory. */
  lacksMemory: boolean;
}

export class LongQueries {
  readonly #admission: Admission;
  /** The started queries. The first one has the next turn. */
  readonly #begun: Entry[] = [];
  /** The queries that have not started, roughly in the order of their deadlines. */
  readonly #waiting: Waiting[] = [];
  readonly #accepted: () => number;
  #isStepping = false;
  #sweptMs = 0;
  #acceptedBefore = 0;
  /** Since when steps have given way to new connections, by `performance.now()`; 0 if they do not. */
  #makesWaySinceMs = 0;

  /** @param accepted returns the number of connections accepted so far */
  constructor(admission: Admission, accepted: () => number = () => 0) {
    this.#admission = admission;
    this.#accepted = accepted;
  }

  /**
   * Answers a query after the earlier ones.
   * @throws Unavailable if the query would have to wait too long, has waited until the end of its budget, or has waited
   * for memory for a fifth of its budget
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
   * @throws Unavailable if it would take too long while the other queries run
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
   * Whether to skip the step of this iteration, because a connection was accepted. libuv accepts one connection per
   * iteration, so with a step in each iteration, every new client would wait for one more step.
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
   * Starts the waiting queries for which there is memory. A query that needs little memory does not wait for one that
   * needs much.
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
      this.#refuse(entry!, this.#admission.refusal('other answers use the memory that this one needs'));
    }
  }

  /** A query that has not started was not too expensive: it may succeed at another time (decision P4). */
  #refuse({ reject }: Entry, error: Unavailable): void {
    reject(error);
    this.#admission.end(false);
  }
}
