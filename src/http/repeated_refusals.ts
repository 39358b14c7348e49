/** Refuses clients early that do not wait as they were told: before their bodies are read, and not at once. */
import { setTimeout as sleep } from 'node:timers/promises';
import { setRecent } from '../base/recent.ts';
import { Unavailable } from '../base/refusal.ts';

/** Refusals of one client within this time, up to this number, cost it nothing. */
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
   * @throws Unavailable, the last one again, for a client that was refused too often just now
   */
  async run<T>(client: string, work: () => Promise<T>): Promise<T> {
    const refused = this.#of(client);
    if (refused && refused.count >= MOST) {
      // A client that asks again when it is answered asks less often, and not with all its requests at once.
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

  /** The client has made room, so it may ask again. */
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
