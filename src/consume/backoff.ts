/**
 * Times to wait between attempts: they double from `firstMs` up to `maxMs`, and of each a random part, half of it at least, is taken, so
 * that many who failed together do not come back together.
 */
export class Backoff {
  readonly #firstMs: number;
  readonly #maxMs: number;
  #failures = 0;

  constructor(firstMs: number, maxMs: number) {
    this.#firstMs = firstMs;
    this.#maxMs = maxMs;
  }

  /** Milliseconds to wait after one more failure. */
  next(): number {
    const wholeMs = Math.min(this.#maxMs, this.#firstMs * 2 ** Math.min(this.#failures++, 30));
    return wholeMs * (0.5 + 0.5 * Math.random());
  }

  /** After a success. */
  reset(): void {
    this.#failures = 0;
  }
}
