/** Counters that every thread of the process increases, in shared memory. The writer thread stores them. */

/** A counter of a capability, for `/metrics`. It continues after a restart; a crash loses at most the last minute. */
export interface Counter {
  /** The name of the metric, ending in `_total`. */
  readonly name: string;
  readonly help: string;
}

export const MAX_COUNTERS = 64;

/** The number of cells in the shared memory of all counters. */
export const COUNT_CELLS = 2 * MAX_COUNTERS;

export class Counts {
  readonly #names: readonly string[];
  readonly #totals: BigInt64Array;
  /** The counts as the database last had them. */
  readonly #stored: BigInt64Array;

  /** @param counters the same in all threads, in the same order */
  constructor(counters: readonly Pick<Counter, 'name'>[], cells: BigInt64Array) {
    this.#names = counters.map(({ name }) => name);
    this.#totals = cells.subarray(0, MAX_COUNTERS);
    this.#stored = cells.subarray(MAX_COUNTERS);
  }

  /** @throws Error for a counter that is missing in `counters` of its capability */
  add({ name }: Counter, change: number): void {
    Atomics.add(this.#totals, this.#indexOf(name), BigInt(change));
  }

  get({ name }: Counter): number {
    return Number(Atomics.load(this.#totals, this.#indexOf(name)));
  }

  /** Whether there are counts that are not stored yet. */
  get hasNew(): boolean {
    return this.#names.some((_, i) => Atomics.load(this.#totals, i) !== this.#stored[i]);
  }

  /**
   * Stores the new counts. Then adds the stored counts of earlier and other processes to the totals.
   * @param store adds to the stored counts, and returns all of them
   */
  keep(store: (added: Readonly<Record<string, number>>) => Readonly<Record<string, number>>): void {
    const totals = this.#names.map((_, i) => Atomics.load(this.#totals, i));
    const added = this.#names.map((name, i) => [name, Number(totals[i]! - this.#stored[i]!)] as const);
    const all = store(Object.fromEntries(added));
    for (const [i, name] of this.#names.entries()) {
      const stored = BigInt(all[name] ?? 0);
      Atomics.add(this.#totals, i, stored - totals[i]!);
      this.#stored[i] = stored;
    }
  }

  #indexOf(name: string): number {
    const index = this.#names.indexOf(name);
    if (index < 0) throw new Error(`the counter ${name} is missing in \`counters\` of its capability`);
    return index;
  }
}
