/**
 * A database of the environment. Each value is followed by a checksum, so a value that has changed on disk is never
 * accepted.
 */
import type { Database, RangeOptions } from 'lmdb';
import { seal, seedOf, unseal } from './checksum.ts';
import { DamagedValue } from './store_error.ts';

/** Keys and values are bytes; src/core/store/records.ts makes and reads them. */
export type BinaryDatabase = Database<Uint8Array, Uint8Array> & {
  // The types of lmdb leave the options out.
  getBinaryFast(key: Uint8Array, options?: object): Uint8Array | undefined;
};

/**
 * The entries of an ascending range. LMDB does not detect that a page of its file holds the bytes of another page: some
 * entries are then missing, and the entries of the other page appear twice.
 * @throws DamagedValue at a key that is not greater than the previous one
 */
export function* inOrder(entries: Iterable<Entry>, name: string): Iterable<Entry> {
  let last: Uint8Array | undefined;
  for (const entry of entries) {
    if (last && Buffer.compare(last, entry.key) >= 0)
      throw new DamagedValue(
        `a page of ${name}`,
        `Cannot read ${name} because ${keyText(entry.key)} follows ${keyText(last)}, so entries are missing`,
      );
    last = entry.key;
    yield entry;
  }
}

/** @throws DamagedValue if the number of entries found differs from the number stored */
export function requireAll(what: string, found: number, stored: number): void {
  if (found === stored) return;
  throw new DamagedValue(
    `a page of the ${what}`,
    `Cannot read all ${what} because only ${found} of ${stored} were found`,
  );
}

export interface Entry {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

/** The options of LMDB: bounds, order, limit, and the read transaction. */
export type Range = Omit<RangeOptions, 'start' | 'end'> & { start?: Uint8Array; end?: Uint8Array };

/** The facts that LMDB records about a tree. */
export interface TreeStats {
  readonly entryCount: number;
  readonly treeBranchPageCount: number;
  readonly treeLeafPageCount: number;
  readonly overflowPages: number;
}

export const pagesOf = ({ treeBranchPageCount, treeLeafPageCount, overflowPages }: TreeStats) =>
  treeBranchPageCount + treeLeafPageCount + overflowPages;

interface Slot {
  key: Uint8Array;
  value: Buffer;
}

const newSlot = (): Slot => ({ key: new Uint8Array(8), value: Buffer.from(new ArrayBuffer(4096)) });

/** Makes a database read keys and values in place. */
const REUSED = {
  readKey: (target: Uint8Array, from: number, to: number) => target.subarray(from, to),
  decoderCopies: true,
  decoder: {
    // LMDB's own buffer is longer than the value, but has its length.
    decode: (bytes: Uint8Array, length: number) => (bytes.length === length ? bytes : bytes.subarray(0, length)),
  },
};

// LMDB modifies its options, so each call needs its own.
export class Table {
  readonly name: string;
  /** Whether values have a checksum. */
  readonly isSealed: boolean;
  readonly #database: BinaryDatabase;
  readonly #seed: number;
  /** The same database; the next read overwrites keys and values that it returned. */
  #reused: BinaryDatabase | undefined;

  constructor(name: string, database: BinaryDatabase, isSealed: boolean) {
    this.name = name;
    this.#database = database;
    this.#seed = seedOf(name);
    this.isSealed = isSealed;
  }

  /** @throws DamagedValue */
  get(key: Uint8Array, options?: object): Uint8Array | undefined {
    const value = this.#database.get(key, options as never);
    return value && this.#unsealed(key, value);
  }

  /**
   * Like `get`, but in a buffer that the next read overwrites.
   * @throws DamagedValue
   */
  getFast(key: Uint8Array, options?: object): Uint8Array | undefined {
    const value = this.#database.getBinaryFast(key, options);
    return value && this.#unsealed(key, value);
  }

  /** A value that was stored without a checksum. */
  getPlain(key: Uint8Array): Uint8Array | undefined {
    return this.#database.get(key);
  }

  doesExist(key: Uint8Array): boolean {
    return this.#database.doesExist(key);
  }

  /** Stores a value. Like `remove`, to be called inside `transactionSync`. */
  put(key: Uint8Array, value: Uint8Array): void {
    this.#database.put(key, this.isSealed ? seal(this.#seed, key, value) : value);
  }

  remove(key: Uint8Array): void {
    this.#database.remove(key);
  }

  /**
   * The entries of a range by ascending key, all from one snapshot.
   * @throws DamagedValue at a damaged one
   */
  *getRange(range: Range = {}): Iterable<Entry> {
    for (const { key, value } of this.#database.getRange({ ...range } as RangeOptions)) {
      yield { key, value: this.#unsealed(key, value) };
    }
  }

  /**
   * Like `getRange`, but three times as fast, because it reuses its buffers: the entry after the next one overwrites the
   * key and the value of an entry.
   * @throws DamagedValue like `getRange`
   */
  *stream(range: Range = {}): Iterable<Entry> {
    this.#reused ??= Object.assign(Object.create(this.#database), REUSED) as BinaryDatabase;
    const slots = [newSlot(), newSlot()] as const;
    let slot: Slot = slots[0];
    for (const { key, value } of this.#reused.getRange({ ...range } as RangeOptions)) {
      slot = slot === slots[0] ? slots[1] : slots[0];
      if (slot.key.length !== key.length) slot.key = new Uint8Array(key.length);
      slot.key.set(key);
      const { length } = value;
      if (slot.value.length < length) slot.value = Buffer.from(new ArrayBuffer(2 * length));
      (value as Buffer).copy(slot.value, 0, 0, length);
      yield { key: slot.key, value: this.#unsealed(slot.key, slot.value.subarray(0, length)) };
    }
  }

  /** Like `getRange`, but returns a damaged value as undefined, and continues. */
  *scan(range: Range = {}): Iterable<{ readonly key: Uint8Array; readonly value: Uint8Array | undefined }> {
    for (const { key, value } of this.#database.getRange({ ...range } as RangeOptions)) {
      yield { key, value: this.isSealed ? unseal(this.#seed, key, value) : value };
    }
  }

  getKeys(range: Range = {}): Iterable<Uint8Array> {
    return this.#database.getKeys({ ...range } as RangeOptions);
  }

  /** Counts the keys of a range by reading them; `entryCount` is faster. */
  getKeysCount(range: Range = {}): number {
    return this.#database.getKeysCount({ ...range } as RangeOptions);
  }

  /** The number of entries, counted without reading them. */
  entryCount(): number {
    return this.#stats.entryCount;
  }

  /** The number of pages, counted without reading them. */
  pageCount(): number {
    return pagesOf(this.#stats);
  }

  get #stats(): TreeStats {
    return this.#database.getStats() as TreeStats;
  }

  /**
   * Runs `change` in a write transaction: either all of it is committed and flushed on return, or, if it throws, none
   * of it.
   */
  transactionSync<T>(change: () => T): T {
    return this.#database.transactionSync(change);
  }

  #unsealed(key: Uint8Array, value: Uint8Array): Uint8Array {
    if (!this.isSealed) return value;
    const unsealed = unseal(this.#seed, key, value);
    if (unsealed) return unsealed;
    throw new DamagedValue(`${keyText(key)} of ${this.name}`);
  }
}

/** A readable form of a key: an id or ordinal as a number, a name unchanged, any other key as hexadecimal digits. */
export function keyText(key: Uint8Array): string {
  const bytes = Buffer.from(key);
  if (bytes.length === 8) return `${bytes.readBigUInt64BE()}`;
  const text = bytes.toString('latin1');
  return /^[\x20-\x7e]+$/.test(text) ? `"${text}"` : `0x${bytes.toString('hex')}`;
}
