/** A snapshot of the whole store, unaffected by later writes. */
import { countObjects } from './counts.ts';
import type { Databases } from './databases.ts';
import { ObjectView } from './object_record.ts';
import { decodeKey, decodeSourceValues, encodeKey, type SourceValues } from './records.ts';
import { countRegistry, type ReadOptions, readRegistry, readSnapshot } from './registry.ts';
import { DamagedValue, inOrder, requireAll } from './table.ts';
import type { TnsRecord } from './types.ts';

/** A read transaction, which preserves the pages of the snapshot. The caller must end it with `done`. */
export interface ReadTransaction {
  done(): void;
}

/** Must be closed: while a snapshot is open, the database file cannot reuse replaced pages, and grows. */
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

  /**
   * Every object by ascending id, with the sources of its matches. The next object is read into the same view.
   * @throws StoreError if an object or its sources cannot be found, at the latest after the last object
   */
  *objects(): Iterable<{ readonly object: ObjectView; readonly sources: readonly SourceValues[] }> {
    const object = new ObjectView();
    const { objects } = this.#databases;
    let count = 0;
    for (const { key, value } of inOrder(objects.getRange(this.#options as object), objects.name)) {
      count++;
      object.load(decodeKey(key), value);
      yield { object, sources: this.#sourcesOf(object, key) };
    }
    requireAll('objects', count, countObjects(this.#databases, this.#options));
  }

  /** The number of the last journal entry in the snapshot. Two snapshots with the same number have the same objects. */
  lastSequence(): number {
    const { journal } = this.#databases;
    for (const key of journal.getKeys({ ...(this.#options as object), reverse: true, limit: 1 }))
      return Number(decodeKey(key));
    return 0;
  }

  /** @throws StoreError if entries of the journal are missing: they are numbered from 1 without gaps */
  requireJournal(lastSequence: number): void {
    const stored = this.#databases.journal.getKeysCount(this.#options as object);
    requireAll('entries of the journal', lastSequence, stored);
  }

  /**
   * Reads an object into a view, with the sources of its matches; undefined if it is not stored.
   * @throws StoreError if its sources cannot be found
   */
  read(diaObjectId: bigint, into: ObjectView): readonly SourceValues[] | undefined {
    const key = encodeKey(diaObjectId);
    const bytes = this.#databases.objects.get(key, this.#options);
    if (!bytes) return undefined;
    into.load(diaObjectId, bytes);
    return this.#sourcesOf(into, key);
  }

  #sourcesOf(object: ObjectView, key: Uint8Array): readonly SourceValues[] {
    if (!object.hasMatches) return [];
    const bytes = this.#databases.sources.get(key, this.#options);
    if (!bytes) throw new DamagedValue(`the sources of object ${object.diaObjectId}`);
    return decodeSourceValues(bytes);
  }

  /** The epoch of the TNS registry's snapshot; null when none is loaded. */
  tnsSnapshotEpochUs(): number | null {
    return readSnapshot(this.#databases, this.#options)?.epochUs ?? null;
  }

  /**
   * Every object of the TNS registry by ascending objid.
   * @throws StoreError like `objects`
   */
  *tnsRecords(): Iterable<TnsRecord> {
    let count = 0;
    for (const record of readRegistry(this.#databases, this.#options)) {
      count++;
      yield record;
    }
    const named = countRegistry(this.#databases, 'tns_names', this.#options);
    requireAll('objects of the TNS registry', count, named);
  }

  close(): void {
    this.#transaction.done();
  }
}
