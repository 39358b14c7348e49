/** Keeps objects that could not be crossmatched, and the time of the next attempt for each, with growing pauses. */

const FIRST_MS = 10_000;
const LONGEST_MS = 600_000;

interface Entry {
  /** The time of the first deferral. */
  readonly sinceMs: number;
  readonly delayMs: number;
  readonly dueMs: number;
}

/**
 * Deferred objects are kept in memory only: after a restart all are tried at once, which is the fastest way to learn
 * whether catalogs can be read again. Times are monotonic.
 */
export class Deferred {
  readonly #entries = new Map<bigint, Entry>();
  #nextDueMs = Number.POSITIVE_INFINITY;
  #failingSinceMs: number | undefined;

  /**
   * When the present problem began: when the object was deferred, or when a search last succeeded, whichever is
   * earlier. `nowMs` if neither applies.
   */
  sinceMs(id: bigint, nowMs: number): number {
    return Math.min(this.#entries.get(id)?.sinceMs ?? nowMs, this.#failingSinceMs ?? nowMs);
  }

  /** Call when an object was searched successfully. */
  succeeded(): void {
    this.#failingSinceMs = undefined;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** The time when the first object is due; infinite if none is deferred. */
  get nextDueMs(): number {
    return this.#nextDueMs;
  }

  /** Defers objects that were just tried: ten seconds at first, twice as long each time, at most ten minutes. */
  defer(ids: readonly bigint[], nowMs: number): void {
    for (const id of ids) {
      const known = this.#entries.get(id);
      const delayMs = Math.min(LONGEST_MS, 2 * (known?.delayMs ?? FIRST_MS / 2));
      this.#entries.set(id, { sinceMs: known?.sinceMs ?? nowMs, delayMs, dueMs: nowMs + delayMs });
    }
    if (ids.length > 0) this.#failingSinceMs ??= nowMs;
    this.#nextDueMs = this.#earliest();
  }

  /** Whether an object must wait for a later try. */
  has(id: bigint, nowMs: number): boolean {
    const entry = this.#entries.get(id);
    return entry !== undefined && entry.dueMs > nowMs;
  }

  /** Whether an object was deferred and is due by now. */
  isDue(id: bigint, nowMs: number): boolean {
    const entry = this.#entries.get(id);
    return entry !== undefined && entry.dueMs <= nowMs;
  }

  /**
   * Forgets objects that were due at `nowMs` and were not deferred again: this process or another has crossmatched
   * them.
   */
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
