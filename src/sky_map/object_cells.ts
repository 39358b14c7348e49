/**
 * The cell and the status of each object on the map, by object id. An entry takes 13 bytes; there are at most three
 * times as many entries as objects.
 */

const SMALLEST = 1024;
const MAX_FILL = 0.75;
const EMPTY = 255;

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
    if (this.#length >= MAX_FILL * this.#cells.length) this.#resize(2 * this.#cells.length);
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
    const mask = this.#cells.length - 1;
    let hole = this.#find(Number(diaObjectId & 0xffffffffn), Number(diaObjectId >> 32n));
    const status = this.#statuses[hole]!;
    if (status === EMPTY) return undefined;
    const removed = { cell: this.#cells[hole]!, status };
    this.#length--;
    // Entries that are found by passing over the hole move into it.
    for (let place = (hole + 1) & mask; this.#statuses[place] !== EMPTY; place = (place + 1) & mask) {
      const home = this.#home(this.#low[place]!, this.#high[place]!);
      if (((place - home) & mask) < ((place - hole) & mask)) continue;
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
    const places = new Uint32Array(this.#length);
    let found = 0;
    for (let place = 0; place < this.#cells.length; place++)
      if (this.#statuses[place] !== EMPTY) places[found++] = place;
    return {
      low: Uint32Array.from(places, place => this.#low[place]!),
      high: Uint32Array.from(places, place => this.#high[place]!),
      cells: Int32Array.from(places, place => this.#cells[place]!),
      statuses: Uint8Array.from(places, place => this.#statuses[place]!),
    };
  }

  /** A table with the entries of `columns`. */
  static of({ low, high, cells, statuses }: ObjectColumns): ObjectCells {
    const table = new ObjectCells();
    let size = SMALLEST;
    while (size * MAX_FILL <= low.length) size *= 2;
    table.#resize(size);
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
    const mask = this.#cells.length - 1;
    let place = this.#home(low, high);
    for (; this.#statuses[place] !== EMPTY; place = (place + 1) & mask)
      if (this.#low[place] === low && this.#high[place] === high) break;
    return place;
  }

  /** The first place at which an object is looked for. */
  #home(low: number, high: number): number {
    const mixed = Math.imul(Math.imul(low, 0x9e3779b1) ^ high, 0x85ebca6b) >>> 0;
    return (mixed ^ (mixed >>> 15)) & (this.#cells.length - 1);
  }

  /** @param size the number of entries, a power of two */
  #resize(size: number): void {
    const [low, high, cells, statuses] = [this.#low, this.#high, this.#cells, this.#statuses];
    this.#low = new Uint32Array(size);
    this.#high = new Uint32Array(size);
    this.#cells = new Int32Array(size);
    this.#statuses = new Uint8Array(size).fill(EMPTY);
    for (let old = 0; old < cells.length; old++)
      if (statuses[old] !== EMPTY) this.#set(low[old]!, high[old]!, cells[old]!, statuses[old]!);
  }
}
