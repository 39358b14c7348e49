/**
 * Limits the tool calls of each caller (docs/contract.md, Connector): a sliding window per key, and slots for calls
 * that run at the same time.
 */
import { channel } from '../../core/base/channel.ts';
import { setRecent } from '../../core/base/lru.ts';
import { Share } from '../../core/base/share.ts';
import type { Rate } from '../../core/config/values.ts';

/** The client to which a call is charged, and that client's limits. */
export interface Caller {
  readonly key: string;
  readonly rate: Rate;
}

interface LimiterOptions {
  readonly maxConcurrent: number;
  readonly maxConcurrentPerKey: number;
  /** The time after which a slot is reclaimed if it was not released. */
  readonly slotSeconds: number;
  /** A monotonic clock, milliseconds. */
  readonly now?: () => number;
}

/** @property slot the slot to release when the call has ended */
export type Admission =
  | { readonly admitted: true; readonly slot: number }
  | { readonly admitted: false; readonly code: 'rate_limited' | 'busy'; readonly retryAfterSeconds: number };

/** Asks whether a tool call of the connector may start. The slot of a call that is admitted must be released. */
export const ADMIT = channel<Caller, Admission>('admit');

interface Slot {
  readonly client: string;
  readonly expiresMs: number;
}

/** The maximum number of remembered callers. Beyond it, the caller with the oldest last call is forgotten. */
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

  /** Admits a call, which must then be released; or refuses it. A refused call is not counted. */
  admit({ key, rate }: Caller): Admission {
    const nowMs = this.#now();
    const windowMs = (rate.burst / rate.perSecond) * 1000;
    const recent = (this.#calls.get(key) ?? []).filter(calledMs => calledMs > nowMs - windowMs);
    if (recent.length >= rate.burst) {
      const waitMs = recent[recent.length - rate.burst]! + windowMs - nowMs;
      return { admitted: false, code: 'rate_limited', retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) };
    }
    if (this.#isBusy(key, nowMs)) return { admitted: false, code: 'busy', retryAfterSeconds: BUSY_RETRY_SECONDS };
    setRecent(this.#calls, key, [...recent, nowMs], MAX_KEYS);
    const slot = ++this.#slotCount;
    this.#slots.set(slot, { client: key, expiresMs: nowMs + this.#options.slotSeconds * 1000 });
    return { admitted: true, slot };
  }

  /** Releases an admitted call that has ended. */
  free(slot: number): void {
    this.#slots.delete(slot);
  }

  #isBusy(key: string, nowMs: number): boolean {
    for (const [slot, { expiresMs }] of this.#slots) if (expiresMs <= nowMs) this.#slots.delete(slot);
    const share = new Share(this.#options.maxConcurrent, this.#slots.values());
    return share.left(key) <= 0 || share.heldBy(key) >= this.#options.maxConcurrentPerKey;
  }
}
