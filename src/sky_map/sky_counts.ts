/** How many objects of each status every cell of the sky has: kept up to date object by object. */
import { STORED_STATUSES, type StoredStatus, statusOf } from '../store/status.ts';
import type { StoredObject } from '../store/types.ts';
import { ancestor, FINEST_RESOLUTION, keyCount, keyOfPosition } from './cells.ts';
import { ObjectTable } from './object_table.ts';

/** Down to here each cell has counters of its own, 8 MB of them; finer ones are counted when they are asked for. */
const COUNTED_RESOLUTION = 4;
const STATUSES = STORED_STATUSES.length;
/** The cell of an object without a position. */
const NOWHERE = -1;

/** Cells as H3 keys, ascending, and parallel to them the counts. */
export interface CellCounts {
  readonly keys: readonly number[];
  readonly byStatus: Readonly<Record<StoredStatus, readonly number[]>>;
}

export class SkyCounts {
  readonly #objects = new ObjectTable();
  readonly #counts = new Uint32Array(keyCount(COUNTED_RESOLUTION) * STATUSES);
  #withoutPosition = 0;

  /** Objects, with and without a position. */
  get objects(): number {
    return this.#objects.length;
  }

  /** Objects that are on no map. */
  get withoutPosition(): number {
    return this.#withoutPosition;
  }

  /** Takes an object as it is stored now; one that is known already may have another status. */
  put(object: StoredObject): void {
    const { diaObjectId, position } = object;
    const status = STORED_STATUSES.indexOf(statusOf(object));
    const cellOf = () => (position ? keyOfPosition(position.ra, position.dec) : NOWHERE);
    const before = this.#objects.put(diaObjectId, status, cellOf);
    if (before.cell === NOWHERE) {
      if (before.status === undefined) this.#withoutPosition++;
      return;
    }
    const counter = ancestor(before.cell, FINEST_RESOLUTION - COUNTED_RESOLUTION) * STATUSES;
    if (before.status !== undefined) this.#counts[counter + before.status]!--;
    this.#counts[counter + status]!++;
  }

  /**
   * The cells of a resolution that have objects.
   * @param within only these keys; undefined for the whole sky, which is for resolutions up to COUNTED_RESOLUTION
   */
  list(resolution: number, within?: ReadonlySet<number>): CellCounts {
    const keys = within ? Int32Array.from(within).sort() : Int32Array.from(Array(keyCount(resolution)).keys());
    const counts =
      resolution <= COUNTED_RESOLUTION ? this.#sumCounters(resolution, keys) : this.#countObjects(resolution, keys);
    const byStatus = Object.fromEntries(STORED_STATUSES.map(status => [status, [] as number[]]));
    const found: number[] = [];
    for (let i = 0; i < keys.length; i++) {
      const own = counts.subarray(i * STATUSES, (i + 1) * STATUSES);
      if (own.every(count => count === 0)) continue;
      found.push(keys[i]!);
      STORED_STATUSES.forEach((status, at) => {
        byStatus[status]!.push(own[at]!);
      });
    }
    return { keys: found, byStatus: byStatus as unknown as CellCounts['byStatus'] };
  }

  /** For each of the keys a count a status. */
  #sumCounters(resolution: number, keys: Int32Array): Uint32Array {
    const levels = COUNTED_RESOLUTION - resolution;
    const every = levels === 0 ? this.#counts : new Uint32Array(keyCount(resolution) * STATUSES);
    if (levels > 0)
      for (let counter = 0; counter < this.#counts.length; counter++) {
        const count = this.#counts[counter]!;
        if (count > 0) every[ancestor((counter / STATUSES) | 0, levels) * STATUSES + (counter % STATUSES)]! += count;
      }
    const sums = new Uint32Array(keys.length * STATUSES);
    keys.forEach((key, i) => {
      sums.set(every.subarray(key * STATUSES, (key + 1) * STATUSES), i * STATUSES);
    });
    return sums;
  }

  /** The same, object by object. */
  #countObjects(resolution: number, keys: Int32Array): Uint32Array {
    // Most objects are far away: a table of coarse cells tells before the map is asked.
    const near = new Uint8Array(keyCount(COUNTED_RESOLUTION));
    for (const key of keys) near[ancestor(key, resolution - COUNTED_RESOLUTION)] = 1;
    const places = new Map(Array.from(keys, (key, i) => [key, i]));
    const counts = new Uint32Array(keys.length * STATUSES);
    this.#objects.forEach((cell, status) => {
      if (cell === NOWHERE || !near[ancestor(cell, FINEST_RESOLUTION - COUNTED_RESOLUTION)]) return;
      const place = places.get(ancestor(cell, FINEST_RESOLUTION - resolution));
      if (place !== undefined) counts[place * STATUSES + status]!++;
    });
    return counts;
  }
}
