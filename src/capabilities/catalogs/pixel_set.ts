const MOST = 255;

/**
 * NESTED pixels of one order with the number of rows in each, in one byte per pixel: more than 255 rows count as 255. A
 * footprint has at most order 10, so a set takes at most 12 MB.
 */
export class PixelSet {
  readonly order: number;
  readonly #counts: Uint8Array;

  constructor(order: number) {
    this.order = order;
    this.#counts = new Uint8Array(12 * 4 ** order);
  }

  /** @param rows more than 0; a fraction of a row counts as one row */
  add(ipix: number, rows = 1): void {
    this.#counts[ipix] = Math.min(MOST, Math.ceil(this.#counts[ipix]! + rows));
  }

  /** Adds every pixel of the set's order that overlaps a pixel of another order. */
  addPixel(order: number, ipix: number): void {
    this.addRange(order, ipix, ipix + 1);
  }

  /** Adds every pixel of the set's order that overlaps the pixels `first` to `end`, exclusive, of another order. */
  addRange(order: number, first: number, end: number): void {
    const finer = 4 ** (this.order - order);
    const [from, to] = [Math.floor(first * finer), Math.ceil(end * finer)];
    this.#counts.fill(MOST, from, to);
  }

  has(ipix: number): boolean {
    return this.#counts[ipix] !== 0;
  }

  remove(ipix: number): void {
    this.#counts[ipix] = 0;
  }

  /** Removes pixels that are not in another set of the same order. Returns the removed pixels. */
  keepOnly(others: PixelSet): number[] {
    const removed: number[] = [];
    for (const ipix of this.pixels()) if (!others.has(ipix)) removed.push(ipix);
    for (const ipix of removed) this.remove(ipix);
    return removed;
  }

  /** The same rows at an order that is not finer. */
  degraded(order: number): PixelSet {
    const coarse = new PixelSet(order);
    const inside = 4 ** (this.order - order);
    for (const ipix of this.pixels()) coarse.add(Math.floor(ipix / inside), this.#counts[ipix]!);
    return coarse;
  }

  /** The number of rows, if no pixel has more than 255. */
  get rows(): number {
    let sum = 0;
    for (let ipix = 0; ipix < this.#counts.length; ipix++) sum += this.#counts[ipix]!;
    return sum;
  }

  /** The number of pixels that hold rows. */
  get size(): number {
    return this.#counts.length - this.pixelsWith(0);
  }

  /** The number of pixels with exactly this many rows, below 255. */
  pixelsWith(rows: number): number {
    let sum = 0;
    for (let ipix = 0; ipix < this.#counts.length; ipix++) if (this.#counts[ipix] === rows) sum++;
    return sum;
  }

  /** Most pixels of most sets are empty, so four of them are looked at together. */
  *pixels(): Generator<number> {
    const fours = new Uint32Array(this.#counts.buffer);
    for (let at = 0; at < fours.length; at++)
      if (fours[at]) for (let ipix = 4 * at; ipix < 4 * at + 4; ipix++) if (this.#counts[ipix]) yield ipix;
  }
}
