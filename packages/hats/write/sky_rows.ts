/** Divides the sky into partitions of similar size, and finds the rows that lie near another partition. */
import { conePixels, pixelOf } from '@nearsky/sky-index';
import type { Pixel } from '../layout.ts';

/**
 * The order of the pixels, 6.9 arcmin wide, by which rows are grouped. No partition is smaller than one such pixel,
 * even in crowded regions.
 */
const FINEST_ORDER = 9;
const FINEST_PIXELS = 12 * 4 ** FINEST_ORDER;

export interface RowsOfPixel extends Pixel {
  readonly rows: Uint32Array;
}

/**
 * The rows of a catalog by position. Here, a row is an object: one position, which may stand for several rows of the
 * catalog. The weight of an object is the number of these rows.
 */
export class SkyRows {
  readonly #marginArcsec: number;
  readonly #pixels: number[] = [];
  /** The pixels that are near a row but do not contain it. */
  readonly #near: { readonly row: number; readonly pixel: number }[] = [];

  /**
   * @param marginArcsec the width of margins: a search within this distance of an edge need not open the next partition
   */
  constructor(marginArcsec: number) {
    this.#marginArcsec = marginArcsec;
  }

  /** Adds the object with the next number. */
  add(ra: number, dec: number): void {
    const pixel = pixelOf(FINEST_ORDER, ra, dec);
    const row = this.#pixels.push(pixel) - 1;
    const touched = conePixels(FINEST_ORDER, ra, dec, this.#marginArcsec);
    if (touched.length === 1) return;
    for (const near of touched) if (near !== pixel) this.#near.push({ row, pixel: near });
  }

  get length(): number {
    return this.#pixels.length;
  }

  /** The number of rows in each pixel of an order. */
  counts(order: number, weight: (row: number) => number = () => 1): Uint32Array {
    const counts = new Uint32Array(12 * 4 ** order);
    const shift = 2 * (FINEST_ORDER - order);
    for (let row = 0; row < this.length; row++) counts[this.#pixels[row]! >> shift]! += weight(row);
    return counts;
  }

  /**
   * Partitions of at most `maxRows` rows each, ascending along the sky. A partition of the finest order may have more.
   * @param weight the number of the catalog's rows for an object; an object without rows is in no partition
   */
  partitions(maxRows: number, weight: (row: number) => number = () => 1): SkyPartitions {
    const sums = [this.counts(FINEST_ORDER, weight)];
    for (let order = FINEST_ORDER; order > 0; order--) sums.unshift(coarser(sums[0]!));
    const rowsOf = this.#rowsByPixel(weight);
    const partitions: RowsOfPixel[] = [];
    /** The partition that contains each pixel of the finest order. */
    const owner = new Int32Array(FINEST_PIXELS).fill(-1);
    const split = (order: number, ipix: number): void => {
      const rows = sums[order]![ipix]!;
      if (rows === 0) return;
      if (rows > maxRows && order < FINEST_ORDER) {
        for (let child = 4 * ipix; child < 4 * ipix + 4; child++) split(order + 1, child);
        return;
      }
      const shift = 2 * (FINEST_ORDER - order);
      const [from, to] = [ipix << shift, (ipix + 1) << shift];
      owner.fill(partitions.length, from, to);
      partitions.push({ order, ipix, rows: rowsOf(from, to) });
    };
    for (let face = 0; face < 12; face++) split(0, face);
    return { partitions, margins: this.#margins(partitions, owner, weight) };
  }

  /** Returns a function that gives the rows of pixels `from` (inclusive) to `to` (exclusive), by a counting sort. */
  #rowsByPixel(weight: (row: number) => number): (from: number, to: number) => Uint32Array {
    const starts = new Uint32Array(FINEST_PIXELS + 1);
    let length = 0;
    for (let row = 0; row < this.length; row++) {
      if (weight(row) === 0) continue;
      starts[this.#pixels[row]! + 1]!++;
      length++;
    }
    for (let pixel = 0; pixel < FINEST_PIXELS; pixel++) starts[pixel + 1]! += starts[pixel]!;
    const rows = new Uint32Array(length);
    const next = starts.slice();
    for (let row = 0; row < this.length; row++) if (weight(row) > 0) rows[next[this.#pixels[row]!]!++] = row;
    return (from, to) => rows.subarray(starts[from], starts[to]);
  }

  #margins(partitions: readonly RowsOfPixel[], owner: Int32Array, weight: (row: number) => number): RowsOfPixel[] {
    const rows = new Map<number, Set<number>>();
    for (const { row, pixel } of this.#near) {
      const near = owner[pixel]!;
      if (near < 0 || near === owner[this.#pixels[row]!] || weight(row) === 0) continue;
      let of = rows.get(near);
      if (!of) rows.set(near, (of = new Set()));
      of.add(row);
    }
    return [...rows]
      .sort(([a], [b]) => a - b)
      .map(([near, of]) => ({ ...partitions[near]!, rows: Uint32Array.from(of) }));
  }
}

export interface SkyPartitions {
  readonly partitions: readonly RowsOfPixel[];
  /** The margin of each partition: nearby rows of other partitions. Partitions without such rows have no margin. */
  readonly margins: readonly RowsOfPixel[];
}

function coarser(counts: Uint32Array): Uint32Array {
  const sums = new Uint32Array(counts.length / 4);
  for (let pixel = 0; pixel < counts.length; pixel++) sums[pixel >> 2]! += counts[pixel]!;
  return sums;
}
