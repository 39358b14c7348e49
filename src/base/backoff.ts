/**
 * Milliseconds to wait after so many failures before the last one: they double from `firstMs` up to `maxMs`, and of each a random part, half
 * of it at least, is taken, so that many who failed together do not come back together.
 */
export function backoffMs(firstMs: number, maxMs: number, failures: number): number {
  return Math.min(maxMs, firstMs * 2 ** Math.min(failures, 30)) * (0.5 + 0.5 * Math.random());
}

/** Times to wait between attempts; see `backoffMs`. */
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
    return backoffMs(this.#firstMs, this.#maxMs, this.#failures++);
  }

  /** After a success. */
  reset(): void {
    this.#failures = 0;
  }
}
