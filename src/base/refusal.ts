/** The reasons for which a room refuses an answer that is asked for rightly; src/http/errors.ts has their codes. */

/** The answer cannot be given now, but may be later. The message completes "Cannot answer because ...". */
export class Unavailable extends Error {
  override name = 'Unavailable';
  /** Seconds after which the answer may be there; undefined where nothing says when. */
  readonly retryAfterSeconds: number | undefined;

  constructor(message: string, retryAfterSeconds?: number) {
    super(message);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The answer takes more than an answer may. The message completes "Cannot answer ...". */
export class TooExpensive extends Error {
  override name = 'TooExpensive';

  constructor(why = 'within the time budget of a request') {
    super(why);
  }
}
