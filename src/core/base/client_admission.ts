/**
 * Admits clients to expensive work. One client gets at most half of the slots, rounded up. The next slot goes to the
 * waiting client that has used the least processor time; older use counts less (`FADES_MS`). Work that is done in steps
 * gives its slot to others between its steps.
 */
import { setRecent } from './lru.ts';
import { Unavailable } from './refusal.ts';
import { Share } from './share.ts';
import { withTimeout } from './timeout.ts';

/** By default, processor time counts only 1/e, about a third, after this time. */
const FADES_MS = 60_000;
const MAX_CLIENTS = 10_000;
/** The number of recent durations in an average. */
const LAST = 8;
/** The assumed duration before the first one is measured. */
const FIRST_MS = 1000;
/** Work that has waited this long for its next step goes first. */
const FIRST_AFTER_MS = 1000;
/** The longest Retry-After of a refusal, seconds. */
const MAX_RETRY_SECONDS = 600;

export interface SlotsOptions {
  readonly slots: number;
  /** Completes "Cannot answer because ..." for clients that get no slot. */
  readonly isFull: string;
  /** The maximum number of requests that wait for a slot; 0 by default. */
  readonly maxWaiting?: number;
  /** The maximum amount of work that pauses between two steps, in addition to the work in slots; 0 by default. */
  readonly maxBetween?: number;
}

/** Shared by all kinds of work of a process, so that a client's use of each kind counts. */
export class ClientAdmission {
  /** The clients, in order of their last use. */
  readonly #use = new Map<string, { readonly seconds: number; readonly atMs: number }>();
  readonly #now: () => number;
  readonly #fadesMs: number;

  /**
   * @param now a monotonic clock, milliseconds
   * @param fadesMs the time after which use counts only 1/e
   */
  constructor(now = () => performance.now(), fadesMs = FADES_MS) {
    this.#now = now;
    this.#fadesMs = fadesMs;
  }

  /** The slots of one kind of work. */
  slots(options: SlotsOptions): ClientSlots {
    return new ClientSlots(options, this, this.#now);
  }

  /** The processor time that a client has used recently, seconds. */
  cpuOf(client: string): number {
    const use = this.#use.get(client);
    return use ? use.seconds * Math.exp((use.atMs - this.#now()) / this.#fadesMs) : 0;
  }

  addCpu(client: string, seconds: number): void {
    const sum = this.cpuOf(client) + seconds;
    setRecent(this.#use, client, { seconds: sum, atMs: this.#now() }, MAX_CLIENTS);
  }
}

/** Releases a slot. Further calls have no effect. */
export type Leave = (cpuSeconds?: number) => void;

/** The slot of work that is done in steps, whose time counts. The work is part of its client's share until it leaves. */
export interface SteppedSlot {
  readonly leave: Leave;
  /** Gives the slot to others until the next step. */
  readonly pause: () => void;
  /** Waits for a slot, without a limit. Resolves at once if the work has left. */
  readonly resume: () => Promise<void>;
}

interface Waiting {
  readonly client: string;
  readonly sinceMs: number;
  /** Whether the wait is for the next step of admitted work. */
  readonly isStep: boolean;
  readonly enter: () => void;
}

interface Held {
  readonly atMs: number;
  readonly isStep: boolean;
}

/** How long something of one kind usually takes. */
class Durations {
  readonly ongoing = new Set<Held>();
  readonly #now: () => number;
  /** The average of the recent ones that have ended. */
  #meanMs: number | undefined;

  constructor(now: () => number) {
    this.#now = now;
  }

  begin(isStep: boolean, atMs = this.#now()): Held {
    const each = { atMs, isStep };
    this.ongoing.add(each);
    return each;
  }

  end(each: Held): void {
    this.ongoing.delete(each);
    const ms = this.#now() - each.atMs;
    this.#meanMs = this.#meanMs === undefined ? ms : this.#meanMs + (ms - this.#meanMs) / LAST;
  }

  /** The usual duration, milliseconds. Entries that have already taken longer raise it. */
  usualMs(): number {
    const ages = Array.from(this.ongoing, ({ atMs }) => this.#now() - atMs);
    const meanAgeMs = ages.reduce((sum, each) => sum + each, 0) / Math.max(1, ages.length);
    return Math.max(this.#meanMs ?? FIRST_MS, meanAgeMs);
  }
}

export class ClientSlots {
  readonly #options: SlotsOptions;
  readonly #admission: ClientAdmission;
  readonly #now: () => number;
  /** The admitted work, whether it occupies a slot or pauses between two steps. */
  readonly #inside: Share;
  readonly #waiting: Waiting[] = [];
  /** The occupied slots. */
  readonly #held: Durations;
  /** The admitted work: in slots, or between two steps. */
  readonly #admitted: Durations;

  constructor(options: SlotsOptions, admission: ClientAdmission, now: () => number) {
    this.#options = options;
    this.#admission = admission;
    this.#now = now;
    this.#held = new Durations(now);
    this.#admitted = new Durations(now);
    this.#inside = new Share(options.slots);
  }

  /**
   * Takes a slot without waiting, for work of unpredictable length.
   * @throws Unavailable if no slot is free
   */
  enterNow(client: string): Leave {
    if (!this.#mayEnter(client)) throw new Unavailable(this.#options.isFull);
    const { leave } = this.#slotOf(client, this.#take(client));
    return (cpuSeconds = 0) => leave(cpuSeconds);
  }

  /**
   * Waits for a slot.
   * @param gone ends the wait when it fires
   * @throws Unavailable if no slot becomes free in time, or too many requests are waiting
   * @throws the reason of `gone`
   */
  async enter(client: string, milliseconds: number, gone?: AbortSignal): Promise<Leave> {
    const { leave } = await this.enterStepped(client, milliseconds, gone);
    return (cpuSeconds = 0) => leave(cpuSeconds);
  }

  /** Like `enter`. */
  async enterStepped(client: string, milliseconds: number, gone?: AbortSignal): Promise<SteppedSlot> {
    gone?.throwIfAborted();
    const held = this.#mayEnter(client) ? this.#take(client) : await this.#wait(client, milliseconds, gone);
    return this.#slotOf(client, held);
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

  get #isFree(): boolean {
    return this.#held.ongoing.size < this.#options.slots;
  }

  #mayEnter(client: string): boolean {
    const { slots, maxBetween = 0 } = this.#options;
    return this.#isFree && this.#inside.held < slots + maxBetween && this.#inside.leftOfHalf(client) > 0;
  }

  /** If there are more than two slots, one is kept free for new work. */
  get #mayStep(): boolean {
    const { slots } = this.#options;
    const steps = [...this.#held.ongoing].filter(({ isStep }) => isStep).length;
    return this.#isFree && steps < (slots > 2 ? slots - 1 : slots);
  }

  #take(client: string): Held {
    this.#inside.add(client);
    return this.#held.begin(false);
  }

  #slotOf(client: string, first: Held): SteppedSlot {
    const admitted = this.#admitted.begin(false, first.atMs);
    let held: Held | undefined = first;
    let waiting: Waiting | undefined;
    let hasLeft = false;
    const release = (cpuSeconds: number | undefined) => {
      if (!held) return;
      const seconds = cpuSeconds ?? (this.#now() - held.atMs) / 1000;
      if (seconds > 0) this.#admission.addCpu(client, seconds);
      this.#held.end(held);
      held = undefined;
    };
    return {
      leave: cpuSeconds => {
        if (hasLeft) return;
        hasLeft = true;
        release(cpuSeconds);
        this.#admitted.end(admitted);
        this.#inside.free(client);
        if (waiting) this.#enter(waiting);
        this.#admitNext();
      },
      pause: () => {
        release(undefined);
        this.#admitNext();
      },
      resume: async () => {
        if (hasLeft) return;
        const { promise, resolve } = Promise.withResolvers<void>();
        const enter = () => {
          waiting = undefined;
          if (!hasLeft) held = this.#held.begin(true);
          resolve();
        };
        waiting = { client, sinceMs: this.#now(), isStep: true, enter };
        this.#waiting.push(waiting);
        this.#admitNext();
        await promise;
      },
    };
  }

  async #wait(client: string, milliseconds: number, gone: AbortSignal | undefined): Promise<Held> {
    if (this.#newcomers.left(client) <= 0) throw this.#refusal(client);
    const { promise, resolve } = Promise.withResolvers<void>();
    let held: Held | undefined;
    const enter = () => {
      held = this.#take(client);
      resolve();
    };
    const waiting = { client, sinceMs: this.#now(), isStep: false, enter };
    const leave = () => resolve();
    this.#waiting.push(waiting);
    gone?.addEventListener('abort', leave);
    await withTimeout(promise, milliseconds);
    gone?.removeEventListener('abort', leave);
    if (held) return held;
    this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
    gone?.throwIfAborted();
    throw this.#refusal(client);
  }

  /** The queue of the requests that are not admitted yet. */
  get #newcomers(): Share {
    const newcomers = this.#waiting.filter(({ isStep }) => !isStep);
    return new Share(this.#options.maxWaiting ?? 0, newcomers);
  }

  /**
   * Estimates when the client may be admitted. A client at its own limit only waits for work of its own. If a slot is
   * free, the client waits until work leaves, for example until its result is read.
   */
  #refusal(client: string): Unavailable {
    const isOwn = this.#inside.leftOfHalf(client) <= 0;
    const slots = isOwn ? this.#inside.heldBy(client) : this.#options.slots;
    const before = isOwn ? this.#newcomers.heldBy(client) : this.#newcomers.held;
    const usualMs = (this.#isFree ? this.#admitted : this.#held).usualMs();
    const waitMs = (usualMs * (1 + before)) / Math.max(1, slots);
    const seconds = Math.min(MAX_RETRY_SECONDS, Math.max(1, Math.ceil(waitMs / 1000)));
    return new Unavailable(this.#options.isFull, seconds);
  }

  #admitNext(): void {
    const may = this.#waiting.filter(each => (each.isStep ? this.#mayStep : this.#mayEnter(each.client)));
    const longMs = this.#now() - FIRST_AFTER_MS;
    let next = may.find(({ isStep, sinceMs }) => isStep && sinceMs <= longMs);
    const use = new Map(may.map(({ client }) => [client, this.#admission.cpuOf(client)]));
    next ??= may.sort((a, b) => use.get(a.client)! - use.get(b.client)!)[0];
    if (!next) return;
    this.#enter(next);
    this.#admitNext();
  }

  #enter(waiting: Waiting): void {
    this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
    waiting.enter();
  }
}
