/** The time that one request may take, by the monotonic clock, from its start. */
export class Budget {
  /** When the request came, by `performance.now()`. */
  readonly startMs = performance.now();
  /** When the budget is spent, by the same clock. */
  readonly deadlineMs: number;

  /** @param seconds more than 0 */
  constructor(seconds: number) {
    this.deadlineMs = this.startMs + seconds * 1000;
  }

  /** The time that is left, milliseconds; 0 when the budget is spent. */
  get remainingMs(): number {
    return Math.max(0, this.deadlineMs - performance.now());
  }

  get spent(): boolean {
    return performance.now() >= this.deadlineMs;
  }
}
