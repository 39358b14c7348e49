/**
 * Finds the objects that were removed. The journal entry of each removal names the entry of the one before, so that
 * the latest removals are found without reading the rest of the journal.
 */
import type { Databases } from './databases.ts';
import { decodeJournal, decodeKey, encodeKey } from './records.ts';
import { DamagedValue } from './store_error.ts';
import type { Removal } from './types.ts';

const KEY = new TextEncoder().encode('last_removal');

/** The journal entry of the last removal; 0 if there is none. */
export function readLastRemoval({ meta }: Databases, options?: object): number {
  // Many queries ask, and need no copy of the value.
  const bytes = options ? meta.get(KEY, options) : meta.getFast(KEY);
  return bytes ? Number(decodeKey(bytes.subarray(0, 8))) : 0;
}

/** Call this in the transaction that appends the entry. */
export function noteRemoval({ meta }: Databases, sequence: number): void {
  meta.put(KEY, encodeKey(BigInt(sequence)));
}

/** The last removal of an object. */
export interface LastRemoval {
  readonly sequence: number;
  /** The rows of the position table at that time. All rows of the object among them are void. */
  readonly rows: number;
}

export interface RemovalEntry extends Removal {
  readonly sequence: number;
  readonly rows: number;
}

/** The removals after a journal entry, the latest first. */
export function* removalsAfter(databases: Databases, sequence = 0, options?: object): Iterable<RemovalEntry> {
  for (let at = readLastRemoval(databases, options); at > sequence; ) {
    const bytes = databases.journal.get(encodeKey(BigInt(at)), options);
    const { removal, table } = bytes ? decodeJournal(bytes) : {};
    if (!removal || !table || removal.previous >= at)
      throw new DamagedValue(`the removal of entry ${at} of the journal`);
    yield { ...removal, sequence: at, rows: table.rows };
    at = removal.previous;
  }
}

/** The places of an empty table, a power of two. */
const SMALLEST = 64;
const MAX_FILL = 0.75;
/** The words of a place: both halves of the id, and one more than the number of the removal; 0 if it is empty. */
const [WORDS, HIGH, REMOVAL] = [3, 1, 2];

const scratch = new BigInt64Array(1);
const halves = new Uint32Array(scratch.buffer);

/**
 * The last removal of each object, by its id: a hash table with open addressing. A `Map` takes four times as much memory,
 * and holds at most 16.7 million objects.
 */
export class LastRemovals {
  #words = new Uint32Array(WORDS * SMALLEST);
  #size = 0;
  readonly #removals: LastRemoval[] = [];

  /** The number of objects. */
  get size(): number {
    return this.#size;
  }

  get(diaObjectId: bigint): LastRemoval | undefined {
    scratch[0] = diaObjectId;
    return this.#removals[this.#words[this.#find(halves[0]!, halves[1]!) + REMOVAL]! - 1];
  }

  /** Adds a removal. Its objects keep the removals that were added before. */
  add(removal: LastRemoval, ids: Iterable<bigint>): void {
    this.#removals.push(removal);
    for (const id of ids) {
      if (this.#size >= (MAX_FILL * this.#words.length) / WORDS) this.#grow();
      scratch[0] = id;
      if (this.#put(halves[0]!, halves[1]!, this.#removals.length)) this.#size++;
    }
  }

  /** @returns whether the place was empty */
  #put(low: number, high: number, removal: number): boolean {
    const at = this.#find(low, high);
    if (this.#words[at + REMOVAL] !== 0) return false;
    this.#words[at] = low;
    this.#words[at + HIGH] = high;
    this.#words[at + REMOVAL] = removal;
    return true;
  }

  /** The first word of the place of an id, or of the empty place for it. */
  #find(low: number, high: number): number {
    const words = this.#words;
    const mixed = Math.imul(Math.imul(low, 0x9e3779b1) ^ high, 0x85ebca6b);
    let at = ((mixed ^ (mixed >>> 15)) & (words.length / WORDS - 1)) * WORDS;
    while (words[at + REMOVAL] !== 0 && (words[at] !== low || words[at + HIGH] !== high)) {
      at += WORDS;
      if (at === words.length) at = 0;
    }
    return at;
  }

  #grow(): void {
    const former = this.#words;
    this.#words = new Uint32Array(2 * former.length);
    for (let at = 0; at < former.length; at += WORDS)
      if (former[at + REMOVAL] !== 0) this.#put(former[at]!, former[at + HIGH]!, former[at + REMOVAL]!);
  }
}

/** The last removal of each object that was removed after a journal entry. */
export function lastRemovals(databases: Databases, sequence: number, options?: object): LastRemovals {
  const found = new LastRemovals();
  for (const { sequence: at, rows, objects } of removalsAfter(databases, sequence, options))
    found.add(
      { sequence: at, rows },
      objects.map(({ diaObjectId }) => diaObjectId),
    );
  return found;
}
