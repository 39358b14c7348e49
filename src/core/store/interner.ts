import { latin1 } from '@nearsky/astrotables/bytes';
import { decodeKey, encodeKey } from './records.ts';
import { DamagedValue } from './store_error.ts';
import type { Table } from './table.ts';

/**
 * Numbers the distinct values of a table from 1. Such tables stay small, so the whole table is read at first use. An
 * interner is valid only within one write transaction, because its additions may be rolled back.
 */
export class Interner {
  readonly #table: Table;
  #ordinals: Map<string, number> | undefined;

  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * The ordinal of a value; undefined when it is not stored.
   * @throws DamagedValue, like `ordinalOf`
   */
  find(value: Uint8Array): number | undefined {
    return this.#stored().get(latin1(value));
  }

  /** The ordinal of a value, which is stored if it is new. */
  ordinalOf(value: Uint8Array): number {
    const ordinals = this.#stored();
    const text = latin1(value);
    let ordinal = ordinals.get(text);
    if (ordinal === undefined) {
      ordinal = ordinals.size + 1;
      this.#table.put(encodeKey(BigInt(ordinal)), value);
      ordinals.set(text, ordinal);
    }
    return ordinal;
  }

  #stored(): Map<string, number> {
    if (!this.#ordinals) {
      this.#ordinals = new Map();
      for (const { key, value } of this.#table.getRange()) {
        const ordinal = Number(decodeKey(key));
        // With entries missing, the next new value would get an ordinal that is in use.
        if (ordinal !== this.#ordinals.size + 1) throw new DamagedValue(`a page of ${this.#table.name}`);
        this.#ordinals.set(latin1(value), ordinal);
      }
    }
    return this.#ordinals;
  }
}
