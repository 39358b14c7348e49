/** The things that were found for the rows of a table. */

import type { Find, RowStatus } from '../contract/table_match.ts';
import type { Cell } from '../tables/columns.ts';

/** Pairs that were found together; all arrays are parallel. */
export interface Batch {
  /** Rows of the table. */
  readonly row: ArrayLike<number>;
  readonly id: BigInt64Array;
  readonly separationArcsec: Float64Array;
  /** Right ascension and declination in degrees, then further cells. */
  cells(at: number): readonly Cell[];
}

/** One of the things found: a batch, and a place in it. */
export interface Pair {
  readonly batch: Batch;
  readonly at: number;
}

/** The results of all rows. A row gets the status `matched` by what is found for it. */
export class Pairs {
  /** By row; `matched` is not among them. */
  readonly #unmatched: Uint8Array;
  readonly #find: Find;
  readonly #ofRow: (Pair | Pair[] | undefined)[];
  #count = 0;

  constructor(rows: number, find: Find) {
    this.#unmatched = new Uint8Array(rows);
    this.#find = find;
    this.#ofRow = new Array(rows).fill(undefined);
  }

  /** The number of things found. */
  get count(): number {
    return this.#count;
  }

  add(batch: Batch): void {
    for (let at = 0; at < batch.id.length; at++) {
      const row = batch.row[at]!;
      const pair = { batch, at };
      const known = this.#ofRow[row];
      if (this.#find === 'all') {
        if (Array.isArray(known)) known.push(pair);
        else this.#ofRow[row] = [pair];
        this.#count++;
      } else if (!known) {
        this.#ofRow[row] = pair;
        this.#count++;
      } else if (compare(pair, known as Pair) < 0) this.#ofRow[row] = pair;
    }
  }

  /** The status of a row for which nothing is found. */
  setUnmatched(row: number, status: Exclude<RowStatus, 'matched'>): void {
    this.#unmatched[row] = UNMATCHED.indexOf(status);
  }

  /**
   * Drops what was found for rows where a file of the catalog could not be read, because an incomplete list would look
   * like all there is.
   */
  dropUnread(): void {
    const unread = UNMATCHED.indexOf('skipped_read_failure');
    this.#unmatched.forEach((status, row) => {
      const known = this.#ofRow[row];
      if (status !== unread || !known) return;
      this.#count -= Array.isArray(known) ? known.length : 1;
      this.#ofRow[row] = undefined;
    });
  }

  status(row: number): RowStatus {
    return this.#ofRow[row] ? 'matched' : UNMATCHED[this.#unmatched[row]!]!;
  }

  /** The pairs of a row, nearest first. */
  of(row: number): readonly Pair[] {
    const found = this.#ofRow[row];
    if (!found) return [];
    return Array.isArray(found) ? found.sort(compare) : [found];
  }
}

const UNMATCHED: readonly RowStatus[] = ['no_match', 'outside_footprint', 'skipped_read_failure', 'invalid_position'];

function compare(one: Pair, other: Pair): number {
  const { separationArcsec: a, id: idA } = one.batch;
  const { separationArcsec: b, id: idB } = other.batch;
  return a[one.at]! - b[other.at]! || (idA[one.at]! < idB[other.at]! ? -1 : 1);
}
