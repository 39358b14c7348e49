/** The time that one request may take, measured from its start by the monotonic clock. */
export class Budget {
  /** The start of the request, by `performance.now()`. */
  readonly startMs = performance.now();
  /** The time at which the budget is spent, by the same clock. */
  readonly deadlineMs: number;

  /** @param seconds more than 0 */
  constructor(seconds: number) {
    this.deadlineMs = this.startMs + seconds * 1000;
  }

  /** The remaining time, milliseconds; 0 when the budget is spent. */
  get remainingMs(): number {
    return Math.max(0, this.deadlineMs - performance.now());
  }

  get spent(): boolean {
    return performance.now() >= this.deadlineMs;
  }
}
