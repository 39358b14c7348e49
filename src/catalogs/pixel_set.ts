/** A set of NESTED pixels of one order, a byte each. A footprint has order 10 at most, so a set takes 12 MB at most. */
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

  /** Adds every pixel of the set's order that overlaps a pixel of another order. */
  addPixel(order: number, ipix: number): void {
    if (order >= this.order) this.add(Math.floor(ipix / 4 ** (order - this.order)));
    else {
      const inside = 4 ** (this.order - order);
      this.#has.fill(1, ipix * inside, (ipix + 1) * inside);
    }
  }

  /** Removes pixels that are not in another set of the same order. Returns the number of removed pixels. */
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
