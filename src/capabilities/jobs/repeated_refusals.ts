/** Refuses, before reading their bodies, clients that keep retrying too early. These refusals are delayed. */
import { setTimeout as sleep } from 'node:timers/promises';
import { setRecent } from '../../core/base/lru.ts';
import { Unavailable } from '../../core/base/refusal.ts';

/** Up to this number of refusals within this time have no consequence for a client. */
const WITHIN_MS = 1000;
const MOST = 16;
/** The maximum number of remembered clients. */
const MAX_CLIENTS = 10_000;

interface Refused {
  readonly sinceMs: number;
  readonly count: number;
  readonly last: Unavailable;
}

export class RepeatedRefusals {
  /** The clients in the order of their last refusal. */
  readonly #clients = new Map<string, Refused>();

  /**
   * Does work that may be refused.
   * @throws the previous Unavailable, for a client that was refused too often recently
   */
  async run<T>(client: string, work: () => Promise<T>): Promise<T> {
    const refused = this.#of(client);
    if (refused && refused.count >= MOST) {
      // A late refusal slows down a client that retries as soon as it is answered.
      await sleep(WITHIN_MS * (0.5 + Math.random() / 2));
      throw refused.last;
    }
    try {
      return await work();
    } catch (error) {
      if (error instanceof Unavailable) this.#note(client, error);
      throw error;
    }
  }

  /** The client no longer uses its share, so it may try again. */
  forget(client: string): void {
    this.#clients.delete(client);
  }

  #of(client: string): Refused | undefined {
    const refused = this.#clients.get(client);
    return refused && performance.now() - refused.sinceMs < WITHIN_MS ? refused : undefined;
  }

  #note(client: string, last: Unavailable): void {
    const { sinceMs, count } = this.#of(client) ?? { sinceMs: performance.now(), count: 0 };
    setRecent(this.#clients, client, { sinceMs, count: count + 1, last }, MAX_CLIENTS);
  }
}
