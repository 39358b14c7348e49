/** Objects that could not be crossmatched, and when each is to be tried again: later and later. */

const FIRST_MS = 10_000;
const LONGEST_MS = 600_000;

interface Entry {
  /** When it was put off for the first time. */
  readonly sinceMs: number;
  readonly delayMs: number;
  readonly dueMs: number;
}

/** Kept in memory: after a restart everything is tried at once, which tells soonest whether it can be read again. Times are monotonic. */
export class Deferred {
  readonly #entries = new Map<bigint, Entry>();
  #nextDueMs = Number.POSITIVE_INFINITY;
  #failingSinceMs: number | undefined;

  /** Since when one was put off or, as far as has been told, nothing could be read at all; `nowMs` where neither is so. */
  sinceMs(id: bigint, nowMs: number): number {
    return Math.min(this.#entries.get(id)?.sinceMs ?? nowMs, this.#failingSinceMs ?? nowMs);
  }

  /** To be told when some object could be searched. */
  succeeded(): void {
    this.#failingSinceMs = undefined;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** When the first of them is due; infinite where there is none. */
  get nextDueMs(): number {
    return this.#nextDueMs;
  }

  /** Puts off objects that were tried just now: ten seconds at first, twice as long each time, at most ten minutes. */
  defer(ids: readonly bigint[], nowMs: number): void {
    for (const id of ids) {
      const known = this.#entries.get(id);
      const delayMs = Math.min(LONGEST_MS, 2 * (known?.delayMs ?? FIRST_MS / 2));
      this.#entries.set(id, { sinceMs: known?.sinceMs ?? nowMs, delayMs, dueMs: nowMs + delayMs });
    }
    if (ids.length > 0) this.#failingSinceMs ??= nowMs;
    this.#nextDueMs = this.#earliest();
  }

  /** Whether an object is to be left alone until later. */
  has(id: bigint, nowMs: number): boolean {
    const entry = this.#entries.get(id);
    return entry !== undefined && entry.dueMs > nowMs;
  }

  /** Whether an object was put off and is to be tried again by now. */
  isDue(id: bigint, nowMs: number): boolean {
    const entry = this.#entries.get(id);
    return entry !== undefined && entry.dueMs <= nowMs;
  }

  /** Forgets those that were due at `nowMs` and were not put off since: they are crossmatched, here or elsewhere. */
  settle(nowMs: number): void {
    if (nowMs < this.#nextDueMs) return;
    for (const [id, { dueMs }] of this.#entries) if (dueMs <= nowMs) this.#entries.delete(id);
    this.#nextDueMs = this.#earliest();
  }

  #earliest(): number {
    let earliest = Number.POSITIVE_INFINITY;
    for (const { dueMs } of this.#entries.values()) if (dueMs < earliest) earliest = dueMs;
    return earliest;
  }
}
