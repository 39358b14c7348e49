/** Many areas in one index: a lookup finds all areas that contain a position, and tests only those near it. */
import { CELL_PIXELS, pixel16 } from './healpix.ts';

/** A part of the sky: an `Area`, or `Discs`. */
export interface Region {
  /** The bytes that the region takes in memory, about. */
  readonly byteLength: number;
  /** The HEALPix pixels (NESTED) of order 6 that the region touches, each once. */
  cells(): Iterable<number>;
  /**
   * Whether a position, degrees, lies in the region.
   * @param pixel the position's pixel at order 16
   */
  contains(ra: number, dec: number, pixel?: number): boolean;
}

interface Entry<Key> {
  readonly key: Key;
  readonly region: Region;
}

export class AreaIndex<Key> {
  /** The entries whose regions touch each cell. */
  readonly #cells = new Map<number, readonly Entry<Key>[]>();
  readonly #entries = new Map<Key, Entry<Key>>();

  get size(): number {
    return this.#entries.size;
  }

  /** @param key not in the index yet */
  add(key: Key, region: Region): void {
    const entry = { key, region };
    this.#entries.set(key, entry);
    for (const cell of region.cells()) this.#cells.set(cell, [...(this.#cells.get(cell) ?? []), entry]);
  }

  delete(key: Key): void {
    const entry = this.#entries.get(key);
    if (!entry) return;
    this.#entries.delete(key);
    for (const cell of entry.region.cells()) {
      const rest = this.#cells.get(cell)!.filter(each => each !== entry);
      if (rest.length > 0) this.#cells.set(cell, rest);
      else this.#cells.delete(cell);
    }
  }

  /** The keys of the regions that contain a position, degrees, in the order in which they were added. */
  at(ra: number, dec: number): Key[] {
    const pixel = pixel16(ra, dec);
    const near = this.#cells.get(Math.floor(pixel / CELL_PIXELS)) ?? [];
    return near.filter(({ region }) => region.contains(ra, dec, pixel)).map(({ key }) => key);
  }
}
