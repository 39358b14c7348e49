/** Collects the matches of a table's rows. */

import { type Cell, TableError } from '@nearsky/astrotables';
import type { Numbers } from '@nearsky/astrotables/parquet_writer';
import { MAX_TABLE_MATCHES } from '../../core/contract/limits.ts';
import { compareIds } from '../../core/contract/source_ids.ts';
import type { Find, RowStatus } from '../../core/contract/table_match.ts';
import { lnSum, lnWeight, secondNearest } from '../../core/store/match_statistics.ts';
import type { SourceColumn, SourceIds } from '../crossmatch/match_file.ts';

/**
 * For each pair, the catalog's sources within the radius of its row, in parallel arrays. `Pairs.settle` completes them.
 */
export interface Neighbours {
  readonly count: BigInt64Array;
  /** The separation of the second nearest source, arcsec. */
  readonly second: Float64Array;
  /** 1 if there is only one source. */
  readonly isAlone: Uint8Array;
  /** As in `FoundPairs`. */
  readonly combinedErrorMas: Float64Array;
  readonly lnWeights: Float64Array;
}

/** Pairs that were found together, in parallel arrays. */
export interface Batch {
  readonly row: Uint32Array;
  readonly id: SourceIds;
  /** The separations by which pairs are compared: see `nearness`. */
  readonly separationArcsec: Float64Array;
  /** The statistics for the catalog file in which the pairs were found; undefined for objects. */
  readonly neighbours?: Neighbours;
  /** Called when `neighbours` is complete, to fill the columns that follow from it. */
  readonly complete?: () => void;
  /** The columns of the answer that describe the pairs: id, position, separation, and the catalog's columns. */
  readonly columns: readonly SourceColumn[];
}

/** The results of all rows. A row with a match gets the status `matched`. */
export class Pairs {
  readonly #find: Find;
  /** The status of each row without a match. */
  readonly #unmatched: Uint8Array;
  readonly #batches: Batch[] = [];
  #added = 0;
  #count = 0;
  /** Where the pairs of each row start, nearest first. They end where the next row's start. */
  #starts: Uint32Array;
  #batchOf: Uint32Array = new Uint32Array(0);
  #at: Uint32Array = new Uint32Array(0);

  constructor(rows: number, find: Find) {
    this.#find = find;
    this.#unmatched = new Uint8Array(rows);
    this.#starts = new Uint32Array(rows + 1);
  }

  /** Whether a row has at most one pair. */
  get areNearest(): boolean {
    return this.#find === 'nearest';
  }

  /** The number of listed pairs. */
  get count(): number {
    return this.#count;
  }

  /** @throws TableError if there are too many pairs */
  add(batch: Batch): void {
    this.#added += batch.row.length;
    if (this.#added > MAX_TABLE_MATCHES)
      throw new TableError(
        `more than ${MAX_TABLE_MATCHES} pairs are found: send fewer rows, search a smaller radius, or ask for the nearest`,
      );
    this.#batches.push(batch);
  }

  /** Sets the status of a row that has no match. */
  setUnmatched(row: number, status: Exclude<RowStatus, 'matched'>): void {
    this.#unmatched[row] = UNMATCHED.indexOf(status);
  }

  /**
   * Sorts the pairs by row, after all were added. Drops the pairs of rows for which a file of the catalog could not be
   * read, because an incomplete list would look complete.
   */
  settle(): void {
    const starts = this.#starts;
    const unread = UNMATCHED.indexOf('skipped_read_failure');
    const isListed = (row: number) => this.#unmatched[row] !== unread;
    for (const { row } of this.#batches)
      for (let at = 0; at < row.length; at++) if (isListed(row[at]!)) starts[row[at]! + 1]!++;
    for (let row = 1; row < starts.length; row++) {
      this.#count += this.#find === 'all' ? starts[row]! : Math.min(1, starts[row]!);
      starts[row]! += starts[row - 1]!;
    }
    const next = starts.slice();
    this.#batchOf = new Uint32Array(starts.at(-1)!);
    this.#at = new Uint32Array(starts.at(-1)!);
    this.#batches.forEach(({ row }, batch) => {
      for (let at = 0; at < row.length; at++) {
        if (!isListed(row[at]!)) continue;
        const pair = next[row[at]!]!++;
        this.#batchOf[pair] = batch;
        this.#at[pair] = at;
      }
    });
    for (let row = 0; row + 1 < starts.length; row++)
      if (starts[row + 1]! - starts[row]! > 1) {
        this.#sort(starts[row]!, starts[row + 1]!);
        this.#joinNeighbours(starts[row]!, starts[row + 1]!);
      }
    for (const { complete } of this.#batches) complete?.();
  }

  /** Counts the sources near a row, if its pairs were found in several files or are all listed. */
  #joinNeighbours(from: number, to: number): void {
    const pairs = Array.from({ length: to - from }, (_, i) => {
      const at = this.#at[from + i]!;
      const { separationArcsec, neighbours } = this.#batches[this.#batchOf[from + i]!]!;
      return { at, separation: separationArcsec[at]!, neighbours };
    });
    let count = 0n;
    let lnWeights = Number.NEGATIVE_INFINITY;
    const separations = pairs.map(({ separation }) => separation);
    for (const { at, separation, neighbours } of pairs) {
      if (!neighbours) return;
      count += this.areNearest ? neighbours.count[at]! : 1n;
      if (this.areNearest && !neighbours.isAlone[at]) separations.push(neighbours.second[at]!);
      const ofPair = this.areNearest
        ? neighbours.lnWeights[at]!
        : lnWeight(separation, neighbours.combinedErrorMas[at]!);
      lnWeights = lnSum(lnWeights, ofPair);
    }
    const second = secondNearest(separations);
    for (const { at, neighbours } of pairs) {
      neighbours!.count[at] = count;
      neighbours!.second[at] = second;
      neighbours!.isAlone[at] = 0;
      neighbours!.lnWeights[at] = lnWeights;
    }
  }

  /** Sorts by separation, then by id in the order of `compareIds`. */
  #sort(from: number, to: number): void {
    const sorted = Array.from({ length: to - from }, (_, i) => {
      const [batch, at] = [this.#batchOf[from + i]!, this.#at[from + i]!];
      const { separationArcsec, id } = this.#batches[batch]!;
      return { batch, at, separation: separationArcsec[at]!, id: id[at]! };
    }).sort((a, b) => a.separation - b.separation || compareIds(a.id, b.id));
    sorted.forEach(({ batch, at }, i) => {
      this.#batchOf[from + i] = batch;
      this.#at[from + i] = at;
    });
  }

  status(row: number): RowStatus {
    return this.#starts[row] === this.#starts[row + 1] ? UNMATCHED[this.#unmatched[row]!]! : 'matched';
  }

  /** The listed pairs of a row, nearest first: `count` indexes from `first` on. */
  of(row: number): { readonly first: number; readonly count: number } {
    const first = this.#starts[row]!;
    const count = this.#starts[row + 1]! - first;
    return { first, count: this.areNearest ? Math.min(1, count) : count };
  }

  /** The cell of each pair in one column of the answer, by the column's number in `Batch`. */
  column(column: number): (pair: number) => Cell {
    const columns = this.#batches.map(batch => batch.columns[column]!);
    return pair => {
      const { values, isNull } = columns[this.#batchOf[pair]!]!;
      const at = this.#at[pair]!;
      return isNull?.[at] ? null : values[at]!;
    };
  }

  /** The values of many pairs in a column of 64-bit numbers. With cells, there would be an object for each number. */
  numbers(pairs: readonly number[], column: number, type: 'int64' | 'float64'): Numbers {
    const valuesOf = this.#batches.map(batch => batch.columns[column]!.values);
    const nullsOf = this.#batches.map(batch => batch.columns[column]!.isNull);
    const isPresent = new Uint8Array(pairs.length);
    const found = new Uint32Array(pairs.length);
    let count = 0;
    for (let i = 0; i < pairs.length; i++) {
      const pair = pairs[i]!;
      if (pair === NO_PAIR || nullsOf[this.#batchOf[pair]!]?.[this.#at[pair]!]) continue;
      isPresent[i] = 1;
      found[count++] = pair;
    }
    if (type === 'int64') {
      const values = new BigInt64Array(count);
      for (let i = 0; i < count; i++)
        values[i] = (valuesOf as BigInt64Array[])[this.#batchOf[found[i]!]!]![this.#at[found[i]!]!]!;
      return { values, isPresent };
    }
    const values = new Float64Array(count);
    for (let i = 0; i < count; i++)
      values[i] = (valuesOf as Float64Array[])[this.#batchOf[found[i]!]!]![this.#at[found[i]!]!]!;
    return { values, isPresent };
  }
}

/** Marks a row that has no pair. */
export const NO_PAIR = -1;

const UNMATCHED: readonly RowStatus[] = ['no_match', 'outside_footprint', 'skipped_read_failure', 'invalid_position'];
