/**
 * The time to wait after this many failures in a row, milliseconds. The wait doubles from `firstMs` up to `maxMs`. The
 * result is a random 50 to 100 percent of it, so that clients that failed together do not retry together.
 */
export function backoffMs(firstMs: number, maxMs: number, failures: number): number {
  return Math.min(maxMs, firstMs * 2 ** Math.min(failures, 30)) * (0.5 + 0.5 * Math.random());
}

/** The waits between attempts; see `backoffMs`. */
export class Backoff {
  readonly #firstMs: number;
  readonly #maxMs: number;
  #failures = 0;

  constructor(firstMs: number, maxMs: number) {
    this.#firstMs = firstMs;
    this.#maxMs = maxMs;
  }

  /** The time to wait after one more failure, milliseconds. */
  next(): number {
    return backoffMs(this.#firstMs, this.#maxMs, this.#failures++);
  }

  /** Call after a success. */
  reset(): void {
    this.#failures = 0;
  }
}

/**
 * The wait that a Retry-After header asks for, in seconds or as a date (RFC 9110, section 10.2.3).
 * @returns milliseconds, at least 0; undefined if the text is neither
 */
export function retryAfterMs(text: string): number | undefined {
  const ms = /^\d+$/.test(text) ? 1000 * Number(text) : Date.parse(text) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}
