/**
 * Queries that take more than one step: one step a turn of the event loop, in turns, so that a request that comes in
 * waits for one at most.
 */
import type { Budget } from '../base/budget.ts';
import { Unavailable } from '../base/refusal.ts';
import { afterThisIteration } from '../base/runtime.ts';
import { type Admission, MAX_WAIT } from './admission.ts';
import type { Body } from './body.ts';
import { TOO_LONG } from './context.ts';

/** A query that is answered in steps. */
export interface Stepped {
  readonly budget: Budget;
  /** Does one step; returns the answer after the last one. An error is the query's outcome. */
  step(): Body | undefined;
}

/** A query that has not done its first step. */
export interface NotBegun extends Stepped {
  /**
   * Reserves the memory of its steps; returns whether there was enough. It is asked again until there was, and then the first step
   * follows.
   */
  reserve(): boolean;
}

/** The number of queries under way at once. The others hold no memory yet, and may be refused as not begun. */
const MAX_BEGUN = 4;
/** The interval at which waiting queries are checked. */
const SWEEP_MS = 50;
/** The interval at which memory is asked for while there is nothing else to do. */
const RESERVE_MS = 10;
/** The time for which new connections go ahead of a step. */
const ACCEPT_MS = 10;

interface Entry<Query extends Stepped = Stepped> {
  readonly query: Query;
  readonly resolve: (body: Body) => void;
  readonly reject: (error: unknown) => void;
}

interface Waiting extends Entry<NotBegun> {
  /** Up to when it may wait for memory, by `performance.now()`. */
  readonly patientUntilMs: number;
  /** Whether the query waits for memory. */
  lacksMemory: boolean;
}

export class LongQueries {
  readonly #admission: Admission;
  /** The query whose turn it is comes first. */
  readonly #begun: Entry[] = [];
  /** About in the order of their deadlines. */
  readonly #waiting: Waiting[] = [];
  readonly #accepted: () => number;
  #isStepping = false;
  #sweptMs = 0;
  #acceptedBefore = 0;
  /** Since when steps have made way for new connections, by `performance.now()`; 0 while they do not. */
  #makesWaySinceMs = 0;

  /** @param accepted how many connections there have been so far */
  constructor(admission: Admission, accepted: () => number = () => 0) {
    this.#admission = admission;
    this.#accepted = accepted;
  }

  /**
   * Answers a query when those before it are answered.
   * @throws Unavailable when it would wait for too long, or has waited until its budget was spent, or for memory for
   * a fifth of its budget
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
   * Goes on with a query that has done its first step.
   * @throws Unavailable when it would take too long beside the others
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
   * Whether this turn does no step, because it has accepted a connection. libuv accepts one connection a turn: with a
   * step in each turn, a crowd of new clients would wait for one step each.
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
   * Begins the waiting queries for which there is memory: a query that needs little does not wait for one that needs
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

  /** A query that was never begun was not too expensive: another time it may be answered (decision P4). */
  #refuse({ reject }: Entry, error: Unavailable): void {
    reject(error);
    this.#admission.end(false);
  }
}
