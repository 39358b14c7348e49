import type { Ordinals } from '../../core/store/import.ts';
import { Interner } from '../../core/store/interner.ts';
import { encodePlain, encodeProvenanceSet } from '../../core/store/records.ts';
import type { Store } from '../../core/store/store.ts';
import type { ProvenanceSet } from '../../core/store/types.ts';

/** Thrown when a set or list is not stored yet. A thread that only reads cannot store it. */
export class NotStored extends Error {
  override name = 'NotStored';
}

/** The maximum number of cached lists. A catalog has few; lists beyond this number are looked up each time. */
const MAX_KNOWN = 100;

/** Finds the ordinals of stored sets and lists, in a thread that only reads. */
export class StoredOrdinals implements Ordinals {
  readonly #open: () => Store;
  /** The sets and lists of earlier lines. An ordinal never changes. */
  readonly #knownSets = new Map<ProvenanceSet, number>();
  readonly #knownKeys: { readonly keys: readonly string[]; readonly ordinal: number }[] = [];
  #stored: { readonly provenanceSets: Interner; readonly payloadKeys: Interner } | undefined;

  /** @param open returns the store, with everything visible that is committed */
  constructor(open: () => Store) {
    this.#open = open;
  }

  /** Call it when more may have been stored since the last call. */
  begin(): void {
    this.#stored = undefined;
  }

  findProvenanceSet(set: ProvenanceSet): number | undefined {
    const known = this.#knownSets.get(set);
    if (known !== undefined) return known;
    const ordinal = this.#look().provenanceSets.find(encodeProvenanceSet(set));
    if (ordinal !== undefined && this.#knownSets.size < MAX_KNOWN) this.#knownSets.set(set, ordinal);
    return ordinal;
  }

  /** @throws NotStored */
  provenanceSet(set: ProvenanceSet): number {
    return stored(this.findProvenanceSet(set));
  }

  /** @throws NotStored */
  payloadKeys(keys: readonly string[]): number {
    const known = this.#knownKeys.find(entry => isSame(entry.keys, keys));
    if (known) return known.ordinal;
    const ordinal = stored(this.#look().payloadKeys.find(encodePlain(keys)));
    if (this.#knownKeys.length < MAX_KNOWN) this.#knownKeys.push({ keys, ordinal });
    return ordinal;
  }

  #look() {
    if (!this.#stored) {
      const { databases } = this.#open();
      this.#stored = {
        provenanceSets: new Interner(databases.provenance_sets),
        payloadKeys: new Interner(databases.payload_keys),
      };
    }
    return this.#stored;
  }
}

function stored(ordinal: number | undefined): number {
  if (ordinal === undefined) throw new NotStored();
  return ordinal;
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((text, i) => text === b[i]);
}
