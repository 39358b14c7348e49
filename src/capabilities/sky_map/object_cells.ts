/**
 * The cell and the status of each object on the map, by object id. An entry takes 13 bytes; beyond a thousand objects
 * there are at most 1.7 times as many entries as objects.
 */

import { noteGarbage } from '../../core/base/shared_memory.ts';

const SMALLEST = 1024;
const MAX_FILL = 0.75;
/** Small, so that the memory grows with the objects and not in large steps. */
const GROWTH = 1.25;
const EMPTY = 255;
const ENTRY_BYTES = 13;

/** Every object of a table, in parallel arrays: the low and high halves of its id, its cell, and its status. */
export interface ObjectColumns {
  readonly low: Uint32Array<ArrayBuffer>;
  readonly high: Uint32Array<ArrayBuffer>;
  readonly cells: Int32Array<ArrayBuffer>;
  readonly statuses: Uint8Array<ArrayBuffer>;
}

/** The previous cell and status of an entry. */
interface Replaced {
  readonly cell: number;
  /** Undefined when the object is new. */
  readonly status: number | undefined;
}

/**
 * A hash table with open addressing. Ids are stored as two halves, because bigints are slow.
 */
export class ObjectCells {
  #low = new Uint32Array(SMALLEST);
  #high = new Uint32Array(SMALLEST);
  #cells = new Int32Array(SMALLEST);
  #statuses = new Uint8Array(SMALLEST).fill(EMPTY);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /**
   * Sets the status (0 to 254) of an object.
   * @param cellOf returns the cell of a new object; an object never moves
   */
  put(diaObjectId: bigint, status: number, cellOf: () => number): Replaced {
    if (this.#length >= MAX_FILL * this.#cells.length) this.#resize(this.#cells.length);
    const low = Number(diaObjectId & 0xffffffffn);
    const high = Number(diaObjectId >> 32n);
    const place = this.#find(low, high);
    const before = this.#statuses[place]!;
    this.#statuses[place] = status;
    if (before !== EMPTY) return { cell: this.#cells[place]!, status: before };
    const cell = cellOf();
    this.#length++;
    this.#low[place] = low;
    this.#high[place] = high;
    this.#cells[place] = cell;
    return { cell, status: undefined };
  }

  /** Removes an object. Returns its cell and status; undefined if the table does not have it. */
  remove(diaObjectId: bigint): { readonly cell: number; readonly status: number } | undefined {
    const after = (place: number) => (place + 1 < this.#cells.length ? place + 1 : 0);
    const steps = (from: number, to: number) => (to >= from ? to - from : to - from + this.#cells.length);
    let hole = this.#find(Number(diaObjectId & 0xffffffffn), Number(diaObjectId >> 32n));
    const status = this.#statuses[hole]!;
    if (status === EMPTY) return undefined;
    const removed = { cell: this.#cells[hole]!, status };
    this.#length--;
    // Entries that are found by passing over the hole move into it.
    for (let place = after(hole); this.#statuses[place] !== EMPTY; place = after(place)) {
      const home = this.#home(this.#low[place]!, this.#high[place]!);
      if (steps(home, place) < steps(hole, place)) continue;
      this.#low[hole] = this.#low[place]!;
      this.#high[hole] = this.#high[place]!;
      this.#cells[hole] = this.#cells[place]!;
      this.#statuses[hole] = this.#statuses[place]!;
      hole = place;
    }
    this.#statuses[hole] = EMPTY;
    return removed;
  }

  /** Calls a function with the cell and the status of every object. */
  forEach(see: (cell: number, status: number) => void): void {
    for (let place = 0; place < this.#cells.length; place++)
      if (this.#statuses[place] !== EMPTY) see(this.#cells[place]!, this.#statuses[place]!);
  }

  columns(): ObjectColumns {
    const low = new Uint32Array(this.#length);
    const high = new Uint32Array(this.#length);
    const cells = new Int32Array(this.#length);
    const statuses = new Uint8Array(this.#length);
    let found = 0;
    for (let place = 0; place < this.#cells.length; place++) {
      if (this.#statuses[place] === EMPTY) continue;
      low[found] = this.#low[place]!;
      high[found] = this.#high[place]!;
      cells[found] = this.#cells[place]!;
      statuses[found++] = this.#statuses[place]!;
    }
    return { low, high, cells, statuses };
  }

  /** A table with the entries of `columns`. */
  static of({ low, high, cells, statuses }: ObjectColumns): ObjectCells {
    const table = new ObjectCells();
    table.#resize(Math.max(SMALLEST, Math.ceil(low.length / MAX_FILL)));
    for (let i = 0; i < low.length; i++) table.#set(low[i]!, high[i]!, cells[i]!, statuses[i]!);
    table.#length = low.length;
    return table;
  }

  #set(low: number, high: number, cell: number, status: number): void {
    const place = this.#find(low, high);
    this.#low[place] = low;
    this.#high[place] = high;
    this.#cells[place] = cell;
    this.#statuses[place] = status;
  }

  #find(low: number, high: number): number {
    const { length } = this.#cells;
    let place = this.#home(low, high);
    while (this.#statuses[place] !== EMPTY && (this.#low[place] !== low || this.#high[place] !== high))
      if (++place === length) place = 0;
    return place;
  }

  /** The first place at which an object is looked for. */
  #home(low: number, high: number): number {
    const mixed = Math.imul(Math.imul(low, 0x9e3779b1) ^ high, 0x85ebca6b) >>> 0;
    return Math.floor((mixed / 2 ** 32) * this.#cells.length);
  }

  /** @param least the number of entries that are needed at least */
  #resize(least: number): void {
    const size = Math.ceil(GROWTH * least);
    const [low, high, cells, statuses] = [this.#low, this.#high, this.#cells, this.#statuses];
    this.#low = new Uint32Array(size);
    this.#high = new Uint32Array(size);
    this.#cells = new Int32Array(size);
    this.#statuses = new Uint8Array(size).fill(EMPTY);
    for (let old = 0; old < cells.length; old++)
      if (statuses[old] !== EMPTY) this.#set(low[old]!, high[old]!, cells[old]!, statuses[old]!);
    noteGarbage(ENTRY_BYTES * cells.length);
  }
}
