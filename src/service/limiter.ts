/**
 * The number of tool calls that a caller may make (docs/contract.md, Connector): a sliding window for each key, and
 * slots for calls that run at the same time.
 */
import type { Rate } from '../config/values.ts';

/** The client that a call counts against, and how many calls that client may make. */
export interface Caller {
  readonly key: string;
  readonly rate: Rate;
}

export interface LimiterOptions {
  readonly maxConcurrent: number;
  readonly maxConcurrentPerKey: number;
  /** The time after which a slot is free again although nobody has given it back. */
  readonly slotSeconds: number;
  /** A monotonic clock, milliseconds. */
  readonly now?: () => number;
}

/** @property slot what is to be released when the call has ended */
export type Admission =
  | { readonly admitted: true; readonly slot: number }
  | { readonly admitted: false; readonly code: 'rate_limited' | 'busy'; readonly retryAfterSeconds: number };

interface Slot {
  readonly key: string;
  readonly expiresMs: number;
}

/**
 * Callers that are remembered. With more of them than this in a few seconds, the one that called longest ago is
 * forgotten.
 */
const MAX_KEYS = 10_000;
const BUSY_RETRY_SECONDS = 1;

export class Limiter {
  readonly #options: LimiterOptions;
  readonly #now: () => number;
  /** The times of each key's counted calls, ascending. The keys are in the order of their last call. */
  readonly #calls = new Map<string, readonly number[]>();
  readonly #slots = new Map<number, Slot>();
  #slotCount = 0;

  constructor(options: LimiterOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  /** Admits a call, which then must be released; or refuses it, and then it does not count. */
  admit({ key, rate }: Caller): Admission {
    const nowMs = this.#now();
    const windowMs = (rate.burst / rate.perSecond) * 1000;
    const recent = (this.#calls.get(key) ?? []).filter(calledMs => calledMs > nowMs - windowMs);
    if (recent.length >= rate.burst) {
      const waitMs = recent[recent.length - rate.burst]! + windowMs - nowMs;
      return { admitted: false, code: 'rate_limited', retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) };
    }
    if (this.#isBusy(key, nowMs)) return { admitted: false, code: 'busy', retryAfterSeconds: BUSY_RETRY_SECONDS };
    this.#remember(key, [...recent, nowMs]);
    const slot = ++this.#slotCount;
    this.#slots.set(slot, { key, expiresMs: nowMs + this.#options.slotSeconds * 1000 });
    return { admitted: true, slot };
  }

  /** An admitted call has ended. */
  free(slot: number): void {
    this.#slots.delete(slot);
  }

  #isBusy(key: string, nowMs: number): boolean {
    let ofKey = 0;
    for (const [slot, { key: other, expiresMs }] of this.#slots) {
      if (expiresMs <= nowMs) this.#slots.delete(slot);
      else if (other === key) ofKey++;
    }
    return this.#slots.size >= this.#options.maxConcurrent || ofKey >= this.#options.maxConcurrentPerKey;
  }

  #remember(key: string, calls: readonly number[]): void {
    this.#calls.delete(key);
    this.#calls.set(key, calls);
    if (this.#calls.size > MAX_KEYS) this.#calls.delete(this.#calls.keys().next().value!);
  }
}
