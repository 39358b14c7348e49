/** The time that one request may take, by the monotonic clock, from its start. */
export class Budget {
  readonly #deadlineMs: number;

  /** @param seconds more than 0 */
  constructor(seconds: number) {
    this.#deadlineMs = performance.now() + seconds * 1000;
  }

  /** What is left, milliseconds; 0 when it is spent. */
  get remainingMs(): number {
    return Math.max(0, this.#deadlineMs - performance.now());
  }

  get spent(): boolean {
    return performance.now() >= this.#deadlineMs;
  }
}
