/**
 * Admits clients to expensive work. One client gets at most half of the slots, rounded up. The next slot goes to the
 * waiting client that has used the least processor time; older use counts less (`FADES_MS`).
 */
import { Unavailable } from './refusal.ts';
import { withTimeout } from './timeout.ts';

/** After this time, processor time counts only 1/e, about a third. */
const FADES_MS = 60_000;
const MAX_CLIENTS = 10_000;
/** The number of recent uses over which the time per slot is averaged. */
const LAST_HELD = 8;
/** The assumed time per slot before the first measurement. */
const FIRST_HELD_MS = 1000;
/** The longest Retry-After of a refusal, seconds. */
const MAX_RETRY_SECONDS = 600;

export interface SlotsOptions {
  readonly slots: number;
  /** Completes "Cannot answer because ..." for clients that get no slot. */
  readonly isFull: string;
  /** The maximum number of requests that wait for a slot; 0 by default. */
  readonly maxWaiting?: number;
}

/** Shared by all kinds of work of a process, so that a client's use of each kind counts. */
export class ClientAdmission {
  /** The clients, in order of their last use. */
  readonly #use = new Map<string, { readonly seconds: number; readonly atMs: number }>();
  readonly #now: () => number;

  /** @param now a monotonic clock, milliseconds */
  constructor(now = () => performance.now()) {
    this.#now = now;
  }

  /** The slots of one kind of work. */
  slots(options: SlotsOptions): ClientSlots {
    return new ClientSlots(options, this, this.#now);
  }

  /** The processor time that a client has used recently, seconds. */
  cpuOf(client: string): number {
    const use = this.#use.get(client);
    return use ? use.seconds * Math.exp((use.atMs - this.#now()) / FADES_MS) : 0;
  }

  addCpu(client: string, seconds: number): void {
    const sum = this.cpuOf(client) + seconds;
    this.#use.delete(client);
    this.#use.set(client, { seconds: sum, atMs: this.#now() });
    if (this.#use.size > MAX_CLIENTS) this.#use.delete(this.#use.keys().next().value!);
  }
}

/** Releases a slot. Further calls have no effect. */
export type Leave = (cpuSeconds?: number) => void;

interface Waiting {
  readonly client: string;
  readonly enter: () => void;
}

export class ClientSlots {
  readonly #options: SlotsOptions;
  readonly #admission: ClientAdmission;
  readonly #now: () => number;
  readonly #slotsOfClient: number;
  #free: number;
  readonly #inside = new Map<string, number>();
  readonly #waiting: Waiting[] = [];
  /** The occupied slots, with their start times. */
  readonly #taken = new Set<{ readonly atMs: number }>();
  /** The average time for which a slot was held. */
  #heldMs: number | undefined;

  constructor(options: SlotsOptions, admission: ClientAdmission, now: () => number) {
    this.#options = options;
    this.#admission = admission;
    this.#now = now;
    this.#free = options.slots;
    this.#slotsOfClient = Math.ceil(options.slots / 2);
  }

  /**
   * Takes a slot without waiting, for work of unpredictable length.
   * @throws Unavailable if no slot is free
   */
  enterNow(client: string): Leave {
    if (!this.#mayEnter(client)) throw new Unavailable(this.#options.isFull);
    this.#take(client);
    return this.#leaving(client);
  }

  /**
   * Waits for a slot.
   * @param gone ends the wait when it fires
   * @throws Unavailable if no slot becomes free in time, or too many requests are waiting
   * @throws the reason of `gone`
   */
  async enter(client: string, milliseconds: number, gone?: AbortSignal): Promise<Leave> {
    gone?.throwIfAborted();
    if (this.#mayEnter(client)) this.#take(client);
    else await this.#wait(client, milliseconds, gone);
    return this.#leaving(client);
  }

  /**
   * Does work in a slot.
   * @param work may report its processor time by `took`; otherwise its elapsed time counts
   * @param gone ends the wait for a slot when it fires
   * @throws Unavailable if no slot becomes free in time, or too many requests are waiting
   */
  async run<T>(
    client: string,
    milliseconds: number,
    work: (took: (cpuSeconds: number) => void) => Promise<T>,
    gone?: AbortSignal,
  ) {
    const leave = await this.enter(client, milliseconds, gone);
    const beganMs = this.#now();
    let cpuSeconds: number | undefined;
    try {
      return await work(seconds => {
        cpuSeconds = seconds;
      });
    } finally {
      leave(cpuSeconds ?? (this.#now() - beganMs) / 1000);
    }
  }

  #mayEnter(client: string): boolean {
    return this.#free > 0 && (this.#inside.get(client) ?? 0) < this.#slotsOfClient;
  }

  #take(client: string): void {
    this.#free--;
    this.#inside.set(client, (this.#inside.get(client) ?? 0) + 1);
  }

  #leaving(client: string): Leave {
    const taken = { atMs: this.#now() };
    this.#taken.add(taken);
    return (cpuSeconds = 0) => {
      if (!this.#taken.delete(taken)) return;
      const heldMs = this.#now() - taken.atMs;
      this.#heldMs = this.#heldMs === undefined ? heldMs : this.#heldMs + (heldMs - this.#heldMs) / LAST_HELD;
      if (cpuSeconds > 0) this.#admission.addCpu(client, cpuSeconds);
      this.#leave(client);
    };
  }

  async #wait(client: string, milliseconds: number, gone: AbortSignal | undefined): Promise<void> {
    const { maxWaiting = 0 } = this.#options;
    // One client may take at most half of the queue.
    if (this.#waiting.length >= maxWaiting || this.#waitingOf(client) >= maxWaiting / 2) throw this.#refusal(client);
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = { client, enter: () => resolve() };
    this.#waiting.push(waiting);
    gone?.addEventListener('abort', waiting.enter);
    await withTimeout(promise, milliseconds);
    gone?.removeEventListener('abort', waiting.enter);
    const at = this.#waiting.indexOf(waiting);
    if (at < 0) return;
    this.#waiting.splice(at, 1);
    gone?.throwIfAborted();
    throw this.#refusal(client);
  }

  #waitingOf(client: string): number {
    return this.#waiting.filter(each => each.client === client).length;
  }

  /** Estimates when the client may get a slot. A client at its own limit only waits for one of its own slots. */
  #refusal(client: string): Unavailable {
    const isOwn = (this.#inside.get(client) ?? 0) >= this.#slotsOfClient;
    const slots = isOwn ? this.#slotsOfClient : this.#options.slots;
    const before = isOwn ? this.#waitingOf(client) : this.#waiting.length;
    const waitMs = (this.#usuallyHeldMs() * (1 + before)) / Math.max(1, slots);
    const seconds = Math.min(MAX_RETRY_SECONDS, Math.max(1, Math.ceil(waitMs / 1000)));
    return new Unavailable(this.#options.isFull, seconds);
  }

  /** The typical time for which a slot is held. Slots that are already held for longer count, too. */
  #usuallyHeldMs(): number {
    const ages = Array.from(this.#taken, ({ atMs }) => this.#now() - atMs);
    const meanAgeMs = ages.reduce((sum, each) => sum + each, 0) / Math.max(1, ages.length);
    return Math.max(this.#heldMs ?? FIRST_HELD_MS, meanAgeMs);
  }

  #leave(client: string): void {
    this.#free++;
    const inside = this.#inside.get(client)! - 1;
    if (inside === 0) this.#inside.delete(client);
    else this.#inside.set(client, inside);
    let next: Waiting | undefined;
    for (const each of this.#waiting) {
      const isNext = !next || this.#admission.cpuOf(each.client) < this.#admission.cpuOf(next.client);
      if (isNext && this.#mayEnter(each.client)) next = each;
    }
    if (!next) return;
    this.#waiting.splice(this.#waiting.indexOf(next), 1);
    this.#take(next.client);
    next.enter();
  }
}
