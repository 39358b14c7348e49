/** A set of NESTED pixels of one order, a byte each: a footprint has order 10 at most, so 12 MB at most. */
export class PixelSet {
  readonly order: number;
  readonly #has: Uint8Array;

  constructor(order: number) {
    this.order = order;
    this.#has = new Uint8Array(12 * 4 ** order);
  }

  add(ipix: number): void {
    this.#has[ipix] = 1;
  }

  /** Adds every pixel of the set's order that a pixel of another order touches. */
  addPixel(order: number, ipix: number): void {
    if (order >= this.order) this.add(Math.floor(ipix / 4 ** (order - this.order)));
    else {
      const inside = 4 ** (this.order - order);
      this.#has.fill(1, ipix * inside, (ipix + 1) * inside);
    }
  }

  /** Takes out what is not in another set of the same order; how many that were. */
  keepOnly(others: PixelSet): number {
    let removed = 0;
    for (let ipix = 0; ipix < this.#has.length; ipix++) {
      if (!this.#has[ipix] || others.#has[ipix]) continue;
      this.#has[ipix] = 0;
      removed++;
    }
    return removed;
  }

  *pixels(): Generator<number> {
    for (let ipix = 0; ipix < this.#has.length; ipix++) if (this.#has[ipix]) yield ipix;
  }
}
