/** The whole store at one moment, whatever is written meanwhile. */
import type { Databases } from './databases.ts';
import { ObjectView } from './object_record.ts';
import { decodeKey, decodeSourceValues, encodeKey, type SourceValues } from './records.ts';
import { type ReadOptions, readRegistry, readSnapshot } from './registry.ts';
import type { TnsRecord } from './types.ts';

/** A read transaction that holds its pages; to be ended with `done`. */
export interface ReadTransaction {
  done(): void;
}

/** While a snapshot is open, the database file cannot reuse replaced pages, and grows. Close it. */
export class Snapshot {
  readonly #databases: Databases;
  readonly #transaction: ReadTransaction;
  constructor(databases: Databases, transaction: ReadTransaction) {
    this.#databases = databases;
    this.#transaction = transaction;
  }

  get #options(): ReadOptions {
    return { transaction: this.#transaction };
  }

  /** Every object by ascending id, with the sources of its matches; the next one is read into the same view. */
  *objects(): Iterable<{ readonly object: ObjectView; readonly sources: readonly SourceValues[] }> {
    const object = new ObjectView();
    for (const { key, value } of this.#databases.objects.getRange(this.#options as object)) {
      object.load(decodeKey(key), value);
      const bytes = object.hasMatches && this.#databases.sources.get(key, this.#options as object);
      yield { object, sources: bytes ? decodeSourceValues(bytes) : [] };
    }
  }

  /** The journal entry up to which everything is there: two snapshots with the same one have the same objects. */
  lastSequence(): number {
    const { journal } = this.#databases;
    for (const key of journal.getKeys({ ...(this.#options as object), reverse: true, limit: 1 }))
      return Number(decodeKey(key));
    return 0;
  }

  /** Reads an object into a view, with the sources of its matches; undefined where it is not stored. */
  read(diaObjectId: bigint, into: ObjectView): readonly SourceValues[] | undefined {
    const key = encodeKey(diaObjectId);
    const bytes = this.#databases.objects.get(key, this.#options);
    if (!bytes) return undefined;
    into.load(diaObjectId, bytes);
    const sources = into.hasMatches && this.#databases.sources.get(key, this.#options);
    return sources ? decodeSourceValues(sources) : [];
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
