/**
 * Places for dear work, shared out between clients: one client has at most half of them, and of those who wait, the client that has used
 * the least processor time of late is next.
 */
import { Unavailable } from './refusal.ts';
import { withTimeout } from './timeout.ts';

/** The processor time of clients, which fades: after this time a third of it counts. */
const FADES_MS = 60_000;
/** Clients that are remembered. */
const MAX_CLIENTS = 10_000;

/** What clients have used of late, in all kinds of work. */
export class ClientUse {
  readonly #use = new Map<string, { readonly seconds: number; readonly atMs: number }>();
  readonly #now: () => number;

  /** @param now a monotonic clock, milliseconds */
  constructor(now = () => performance.now()) {
    this.#now = now;
  }

  /** Seconds of a processor. */
  of(client: string): number {
    const use = this.#use.get(client);
    return use ? use.seconds * Math.exp((use.atMs - this.#now()) / FADES_MS) : 0;
  }

  add(client: string, seconds: number): void {
    const sum = this.of(client) + seconds;
    // The clients are in the order of their last use.
    this.#use.delete(client);
    this.#use.set(client, { seconds: sum, atMs: this.#now() });
    if (this.#use.size > MAX_CLIENTS) this.#use.delete(this.#use.keys().next().value!);
  }
}

interface Waiting {
  readonly client: string;
  readonly enter: () => void;
}

export interface PlacesOptions {
  readonly places: number;
  /** What completes "Cannot answer because ..." for those who find none. */
  readonly isFull: string;
  readonly use: ClientUse;
  /** The most that may wait. */
  readonly maxWaiting: number;
}

export class FairPlaces {
  readonly #options: PlacesOptions;
  readonly #placesOfClient: number;
  #free: number;
  readonly #inside = new Map<string, number>();
  readonly #waiting: Waiting[] = [];

  constructor(options: PlacesOptions) {
    this.#options = options;
    this.#free = options.places;
    this.#placesOfClient = Math.ceil(options.places / 2);
  }

  /**
   * Waits for a place.
   * @returns what gives it back, with the seconds of a processor that were used; calls after the first do nothing
   * @throws Unavailable where there is none in time, or too many wait
   */
  async enter(client: string, milliseconds: number): Promise<(cpuSeconds: number) => void> {
    if (this.#mayEnter(client)) this.#take(client);
    else await this.#wait(client, milliseconds);
    let isInside = true;
    return cpuSeconds => {
      if (!isInside) return;
      isInside = false;
      this.#options.use.add(client, cpuSeconds);
      this.#leave(client);
    };
  }

  #mayEnter(client: string): boolean {
    return this.#free > 0 && (this.#inside.get(client) ?? 0) < this.#placesOfClient;
  }

  #take(client: string): void {
    this.#free--;
    this.#inside.set(client, (this.#inside.get(client) ?? 0) + 1);
  }

  async #wait(client: string, milliseconds: number): Promise<void> {
    const { isFull, maxWaiting } = this.#options;
    const own = this.#waiting.filter(each => each.client === client).length;
    // Of those who wait, too, one client is at most half.
    if (this.#waiting.length >= maxWaiting || own >= maxWaiting / 2) throw new Unavailable(isFull);
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = { client, enter: resolve };
    this.#waiting.push(waiting);
    const entered = await withTimeout(
      promise.then(() => true),
      milliseconds,
    );
    const at = this.#waiting.indexOf(waiting);
    if (entered || at < 0) return;
    this.#waiting.splice(at, 1);
    throw new Unavailable(isFull);
  }

  #leave(client: string): void {
    this.#free++;
    const inside = this.#inside.get(client)! - 1;
    if (inside === 0) this.#inside.delete(client);
    else this.#inside.set(client, inside);
    const { use } = this.#options;
    let next: Waiting | undefined;
    for (const each of this.#waiting)
      if (this.#mayEnter(each.client) && (!next || use.of(each.client) < use.of(next.client))) next = each;
    if (!next) return;
    this.#waiting.splice(this.#waiting.indexOf(next), 1);
    this.#take(next.client);
    next.enter();
  }
}
