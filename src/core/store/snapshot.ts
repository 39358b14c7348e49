/** A snapshot of the whole store, unaffected by later writes. */
import { countObjects, countObjectsAt } from './counts.ts';
import type { Databases } from './databases.ts';
import { formerRecord, formerSources, latestIngestAt, recordsAfter, whyNotInHistory } from './history.ts';
import { ObjectView } from './object_record.ts';
import { copyRecord, records } from './object_tables.ts';
import { decodeKey, decodeSourceValues, encodeKey, lastOrdinal, type SourceValues, scratchKey } from './records.ts';
import { countRegistry, type ReadOptions, readRegistry, readRegistryEpochUs } from './registry.ts';
import { DamagedValue, StoreError } from './store_error.ts';
import { inOrder, type Range, requireAll } from './table.ts';
import type { TnsRecord } from './types.ts';

/** A read transaction, which preserves the pages of the snapshot. The caller must end it with `done`. */
export interface ReadTransaction {
  done(): void;
}

const NO_BYTES = new Uint8Array(0);

/** Must be closed: while a snapshot is open, the database file cannot reuse replaced pages, and grows. */
export class Snapshot {
  readonly databases: Databases;
  readonly #transaction: ReadTransaction;
  readonly #at: number | undefined;

  /**
   * @param at the journal entry after which the snapshot has the objects; undefined for the last one
   * @throws StoreError if the history does not have the entry; the transaction is then ended
   */
  constructor(databases: Databases, transaction: ReadTransaction, at?: number) {
    this.databases = databases;
    this.#transaction = transaction;
    this.#at = at;
    const why = at === undefined ? undefined : whyNotInHistory(databases, at, 'at', this.options);
    if (why === undefined) return;
    this.close();
    throw new StoreError(why);
  }

  /** For reading the tables as they were in this snapshot. */
  get options(): ReadOptions {
    return { transaction: this.#transaction };
  }

  /**
   * Every object by ascending id. Each is read into the same view.
   * @throws DamagedValue if an object cannot be found, at the latest after the last object
   */
  *objects(): Iterable<ObjectView> {
    const object = new ObjectView();
    const [at, options] = [this.#at, this.options];
    const present = inOrder(records(this.databases, options as Range), 'objects');
    let count = 0;
    for (const { key, value } of at === undefined ? present : recordsAfter(this.databases, at, present, options)) {
      count++;
      object.load(decodeKey(key), value);
      yield object;
    }
    const stored =
      at === undefined ? countObjects(this.databases, options) : countObjectsAt(this.databases, at, options);
    requireAll('objects', count, stored);
  }

  /** The number of the last journal entry. Two snapshots with the same number have the same objects after any entry. */
  lastSequence(): number {
    return lastOrdinal(this.databases.journal, this.options);
  }

  /** The latest ingest time of any object after a journal entry of the history; 0 if there was none. */
  latestIngestTimeUs(at: number): number {
    return latestIngestAt(this.databases, at, this.options);
  }

  /** @throws DamagedValue if entries of the journal are missing: they are numbered from 1 without gaps */
  requireJournal(lastSequence: number): void {
    const stored = this.databases.journal.getKeysCount(this.options as object);
    requireAll('entries of the journal', lastSequence, stored);
  }

  /**
   * Reads an object into a view, with the sources of its matches; undefined if it is not stored.
   * @throws DamagedValue if its sources cannot be found
   */
  read(diaObjectId: bigint, into: ObjectView): readonly SourceValues[] | undefined {
    const key = encodeKey(diaObjectId);
    const former = this.#former(formerRecord, diaObjectId);
    const bytes = former ?? copyRecord(this.databases, key, this.options);
    if (!bytes || bytes.length === 0) return undefined;
    into.load(diaObjectId, bytes);
    return this.sourcesOf(into);
  }

  /** The history's record for the entry of this snapshot. */
  #former(of: typeof formerRecord, diaObjectId: bigint): Uint8Array | undefined {
    return this.#at === undefined ? undefined : of(this.databases, diaObjectId, this.#at, this.options);
  }

  /** The sources of an object's matches. @throws DamagedValue like `sourceBytesOf` */
  sourcesOf(object: ObjectView): readonly SourceValues[] {
    return object.hasStoredMatches ? decodeSourceValues(this.sourceBytesOf(object)) : [];
  }

  /**
   * The sources of an object's matches, for `decodeSourceValues`; empty if it has no matches. The next read overwrites
   * them.
   * @throws DamagedValue if the sources cannot be found
   */
  sourceBytesOf({ diaObjectId, hasStoredMatches }: ObjectView): Uint8Array {
    if (!hasStoredMatches) return NO_BYTES;
    const former = this.#former(formerSources, diaObjectId);
    const bytes = former ?? this.databases.sources.getFast(scratchKey(diaObjectId), this.options);
    if (!bytes) throw new DamagedValue(`the sources of object ${diaObjectId}`);
    return bytes;
  }

  /** The epoch of the TNS registry's snapshot; null when none is loaded, or after an earlier entry: it has no history. */
  tnsSnapshotEpochUs(): number | null {
    if (this.#at !== undefined) return null;
    return readRegistryEpochUs(this.databases, this.options);
  }

  /**
   * Every object of the TNS registry by ascending objid; none after an earlier entry.
   * @throws DamagedValue like `objects`
   */
  *tnsRecords(): Iterable<TnsRecord> {
    if (this.#at !== undefined) return;
    let count = 0;
    for (const record of readRegistry(this.databases, this.options)) {
      count++;
      yield record;
    }
    const named = countRegistry(this.databases, 'tns_names', this.options);
    requireAll('objects of the TNS registry', count, named);
  }

  close(): void {
    this.#transaction.done();
  }
}
