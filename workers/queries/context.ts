/** What every kind of query is answered from, and within. */
import type { SkyIndex } from '../../index/mod.ts';
import type { Store } from '../../src/store/store.ts';
import type { AnswerFacts } from '../encode.ts';

/** The time of a query is spent. */
export class TooExpensive extends Error {}

/** The index is not of this database. */
export class StaleIndex extends Error {}

/** Time, by this thread's monotonic clock, up to which a query may run. */
export class Deadline {
  readonly #atMs: number;

  constructor(atMs: number) {
    this.#atMs = atMs;
  }

  get passed(): boolean {
    return performance.now() >= this.#atMs;
  }

  /** To be called wherever a query has done a little work. */
  check(): void {
    if (this.passed) throw new TooExpensive();
  }
}

export interface QueryContext {
  readonly store: Store;
  readonly facts: AnswerFacts;
  readonly deadline: Deadline;
  /** The positions of the generation that the query is answered from. */
  readonly index: SkyIndex;
}
