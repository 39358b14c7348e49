/** The reasons why a valid request may be refused. src/core/http/errors.ts has the error codes. */

/** Replaces the number of seconds if the answer will not be available until an operator changes something. */
export const NEVER = Number.POSITIVE_INFINITY;

/** The answer cannot be given now, but may be later. The message completes "Cannot answer because ...". */
export class Unavailable extends Error {
  override name = 'Unavailable';
  /** Seconds after which the answer may be available; undefined if unknown. */
  readonly retryAfterSeconds: number | undefined;

  constructor(message: string, retryAfterSeconds?: number) {
    super(message);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The answer would exceed a limit. The message completes "Cannot answer ...". */
export class TooExpensive extends Error {
  override name = 'TooExpensive';

  constructor(why = 'within the time budget of a request') {
    super(why);
  }
}
