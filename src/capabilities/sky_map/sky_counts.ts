/** Counts the objects of each status in every cell of the sky, and updates the counts object by object. */
import { STORED_STATUSES, type StoredStatus } from '../../core/store/status.ts';
import type { StoredObject } from '../../core/store/types.ts';
import { ancestor, DIGIT_BITS, FINEST_RESOLUTION, keyCount, keyOfPosition } from './cells.ts';
import { ObjectCells, type ObjectColumns } from './object_cells.ts';

/** Cells down to this resolution have their own counters, 8 MB in total. Finer cells are counted on request. */
const COUNTED_RESOLUTION = 4;
const STATUSES = STORED_STATUSES.length;
/** The cell of an object without a position. */
const NOWHERE = -1;

/** The index of the first counter of a finest-resolution cell. */
function counterOf(cell: number): number {
  return ancestor(cell, FINEST_RESOLUTION - COUNTED_RESOLUTION) * STATUSES;
}

/** Cells as H3 keys, ascending, and their counts in the same order. */
interface CellCounts {
  readonly keys: readonly number[];
  readonly byStatus: Readonly<Record<StoredStatus, readonly number[]>>;
}

export class SkyCounts {
  readonly #objects: ObjectCells;
  readonly #counts = new Uint32Array(keyCount(COUNTED_RESOLUTION) * STATUSES);
  #withoutPosition = 0;

  /** @param columns the columns of earlier counts */
  constructor(columns?: ObjectColumns) {
    this.#objects = columns ? ObjectCells.of(columns) : new ObjectCells();
    this.#objects.forEach((cell, status) => {
      if (cell === NOWHERE) this.#withoutPosition++;
      else this.#counts[counterOf(cell) + status]!++;
    });
  }

  /** The columns from which the same counts can be restored later. */
  columns(): ObjectColumns {
    return this.#objects.columns();
  }

  /** The number of objects, with and without a position. */
  get objects(): number {
    return this.#objects.length;
  }

  /** The number of objects that are not on the map. */
  get withoutPosition(): number {
    return this.#withoutPosition;
  }

  /** Adds an object in its present state. A known object may have a new status. */
  put(object: Pick<StoredObject, 'diaObjectId' | 'position'>, statusName: StoredStatus): void {
    const status = STORED_STATUSES.indexOf(statusName);
    const cellOf = () => {
      const { position } = object;
      return position ? keyOfPosition(position.ra, position.dec) : NOWHERE;
    };
    const before = this.#objects.put(object.diaObjectId, status, cellOf);
    if (before.cell === NOWHERE) {
      if (before.status === undefined) this.#withoutPosition++;
      return;
    }
    const counter = counterOf(before.cell);
    if (before.status !== undefined) this.#counts[counter + before.status]!--;
    this.#counts[counter + status]!++;
  }

  /** Removes an object, if it is counted. */
  remove(diaObjectId: bigint): void {
    const removed = this.#objects.remove(diaObjectId);
    if (!removed) return;
    if (removed.cell === NOWHERE) this.#withoutPosition--;
    else this.#counts[counterOf(removed.cell) + removed.status]!--;
  }

  /**
   * The cells of a resolution that contain objects.
   * @param within only these keys; undefined for the whole sky, which is allowed up to COUNTED_RESOLUTION
   */
  list(resolution: number, within?: ReadonlySet<number>): CellCounts {
    const keys = within
      ? Int32Array.from(within).sort()
      : Int32Array.from({ length: keyCount(resolution) }, (_, key) => key);
    const counts =
      resolution <= COUNTED_RESOLUTION ? this.#sumCounters(resolution, keys) : this.#countObjects(resolution, keys);
    const found: number[] = [];
    const columns = STORED_STATUSES.map((): number[] => []);
    for (let i = 0; i < keys.length; i++) {
      let objects = 0;
      for (let status = 0; status < STATUSES; status++) objects += counts[i * STATUSES + status]!;
      if (objects === 0) continue;
      found.push(keys[i]!);
      for (let status = 0; status < STATUSES; status++) columns[status]!.push(counts[i * STATUSES + status]!);
    }
    const byStatus = Object.fromEntries(STORED_STATUSES.map((status, at) => [status, columns[at]]));
    return { keys: found, byStatus: byStatus as unknown as CellCounts['byStatus'] };
  }

  /** The counts of each status for each of the keys, from the counters. */
  #sumCounters(resolution: number, keys: Int32Array): Uint32Array {
    const counters = 1 << (DIGIT_BITS * (COUNTED_RESOLUTION - resolution));
    const counts = this.#counts;
    const sums = new Uint32Array(keys.length * STATUSES);
    keys.forEach((key, i) => {
      // The counters of a cell's descendants are contiguous.
      for (let counter = key * counters; counter < (key + 1) * counters; counter++)
        for (let status = 0; status < STATUSES; status++)
          sums[i * STATUSES + status]! += counts[counter * STATUSES + status]!;
    });
    return sums;
  }

  /** The counts of each status for each of the keys, from the objects themselves. */
  #countObjects(resolution: number, keys: Int32Array): Uint32Array {
    // Most objects are far away. A table of coarse cells excludes them before the slower search in the map of keys.
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
