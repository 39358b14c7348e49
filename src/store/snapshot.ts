/** Everything that is stored at one moment, whatever is written meanwhile. */
import type { Databases } from './environment.ts';
import { decodeKey, decodeObject } from './records.ts';
import { type ReadOptions, readRegistry, readSnapshot } from './registry.ts';
import type { MatchSource, StoredObject, TnsRecord } from './types.ts';

/** A read transaction that holds its pages; to be ended with `done`. */
export interface ReadTransaction {
  done(): void;
}

/** While it is open the database file cannot reuse what is replaced, and grows. Close it. */
export class Snapshot {
  readonly #databases: Databases;
  readonly #transaction: ReadTransaction;
  readonly #decodeSources: (bytes: Uint8Array) => readonly MatchSource[];

  constructor(
    databases: Databases,
    transaction: ReadTransaction,
    decodeSources: (bytes: Uint8Array) => readonly MatchSource[],
  ) {
    this.#databases = databases;
    this.#transaction = transaction;
    this.#decodeSources = decodeSources;
  }

  get #options(): ReadOptions {
    return { transaction: this.#transaction };
  }

  /** Every object by ascending id, with the sources of its matches. */
  *objects(): Iterable<{ readonly object: StoredObject; readonly sources: readonly MatchSource[] }> {
    for (const { key, value } of this.#databases.objects.getRange(this.#options as object)) {
      const object = decodeObject(decodeKey(key), value);
      const bytes = object.matches.length > 0 && this.#databases.sources.get(key, this.#options as object);
      yield { object, sources: bytes ? this.#decodeSources(bytes) : [] };
    }
  }

  /** The epoch of the TNS registry's snapshot; null when none is loaded. */
  tnsSnapshotEpochUs(): number | null {
    return readSnapshot(this.#databases, this.#options)?.epochUs ?? null;
  }

  /** Every object of the TNS registry by ascending objid. */
  tnsRecords(): Iterable<TnsRecord> {
    return readRegistry(this.#databases, this.#options);
  }

  close(): void {
    this.#transaction.done();
  }
}
