/** Reads stored data. It neither opens the database nor writes to it. */
import { createHash, hash } from 'node:crypto';
import type { RootDatabase } from 'lmdb';
import { countObjects } from './counts.ts';
import type { Databases } from './databases.ts';
import { readLogPosition } from './log_position.ts';
import { readCreated } from './meta.ts';
import { ObjectView } from './object_record.ts';
import { readRecord, records } from './object_tables.ts';
import { ObjectsAt, type StoredObjects } from './objects_at.ts';
import { readPositions } from './positions.ts';
import {
  decodeJournal,
  decodeKey,
  decodeObject,
  decodePlain,
  decodeProvenanceSet,
  decodeSources,
  decodeSourceValues,
  decodeTableState,
  EMPTY_TABLE,
  encodeKey,
  type HashedProvenanceSet,
  lastOrdinal,
  type SourceValues,
  scratchKey,
  type TableState,
} from './records.ts';
import { LastRemovals, lastRemovals, readLastRemoval } from './removals.ts';
import { DamagedValue } from './store_error.ts';
import type { Table } from './table.ts';
import {
  type CrossmatchRecord,
  type DeliverySource,
  type JournalEntry,
  type MatchSource,
  REMOVED_VERSION,
  type RecordedCrossmatches,
  STORED_VERSION,
  type StoredObject,
} from './types.ts';

/** The number of entries in a mark of the journal. The digest of the newest covers all stored objects, but no crossmatch. */
const MARKED_ENTRIES = 16;

/** Everything but the objects, which queries read in their own state. */
export type BesideObjects = Omit<StoreReader, 'readObject' | 'getSources' | 'readSources'>;

const NONE_REMOVED = new LastRemovals();
type SourcedEntry = JournalEntry & { readonly source: DeliverySource | undefined; readonly isImport: boolean };
type Root = Pick<RootDatabase<Uint8Array, Uint8Array>, 'readerCheck' | 'readerList' | 'resetReadTxn'>;

/**
 * Reads objects and the journal. Functions beside each kind of table read the rest from `databases`, such as
 * `readCounts` and `findByName`.
 */
export class StoreReader implements StoredObjects {
  readonly entry = undefined;
  readonly isPresent = true;
  /** How often later commits were made visible to reads. */
  reads = 0;
  /** The tables. Only files of `src/core/store` write to them. */
  readonly databases: Databases;
  readonly #root: Root;
  // Caches values by ordinal. The value of an ordinal never changes.
  readonly #provenanceSets = new Map<number, HashedProvenanceSet>();
  readonly #payloadKeys = new Map<number, readonly string[]>();
  readonly #view = new ObjectView();
  #archive: { readonly origin: string; readonly name: string } | undefined;
  /** The entry that `crossmatchesAfter` decoded last. */
  #crossmatches: RecordedCrossmatches | undefined;
  /** The entry that `changesAfter` decoded last. */
  #changes: RecordedCrossmatches | undefined;
  /** The removals between two journal entries that were read last. */
  #removals: { readonly since: number; readonly last: number; readonly found: LastRemovals } = {
    since: 0,
    last: 0,
    found: NONE_REMOVED,
  };

  constructor(databases: Databases, root: Root) {
    [this.databases, this.#root] = [databases, root];
  }

  getObject(diaObjectId: bigint): StoredObject | undefined {
    const bytes = readRecord(this.databases, diaObjectId);
    return bytes && decodeObject(diaObjectId, bytes);
  }

  readObject(diaObjectId: bigint, into: ObjectView): boolean {
    const bytes = readRecord(this.databases, diaObjectId);
    if (!bytes) return false;
    into.load(diaObjectId, bytes);
    return true;
  }

  /** The objects after a journal entry, from `historyStart` to `lastSequence`. */
  at = (entry: number) => new ObjectsAt(this, entry);

  getSources(diaObjectId: bigint): readonly MatchSource[] {
    const bytes = read(this.databases.sources, diaObjectId);
    return bytes ? decodeSources(bytes, ordinal => this.payloadKeys(ordinal)) : [];
  }

  readSources({ diaObjectId }: Pick<ObjectView, 'diaObjectId'>): readonly SourceValues[] {
    const bytes = read(this.databases.sources, diaObjectId);
    return bytes ? decodeSourceValues(bytes) : [];
  }

  countObjects = () => countObjects(this.databases);

  /** @throws RangeError when there is no such ordinal */
  provenanceSet(ordinal: number): HashedProvenanceSet {
    let set = this.#provenanceSets.get(ordinal);
    if (!set) {
      set = decodeProvenanceSet(readOrdinal(this.databases.provenance_sets, ordinal));
      this.#provenanceSets.set(ordinal, set);
    }
    return set;
  }

  /** The release of a catalog with which a crossmatch compared; undefined if it did not. */
  releaseIn({ provenanceSet }: Pick<CrossmatchRecord, 'provenanceSet'>, catalog: string): string | undefined {
    return this.provenanceSet(provenanceSet).set.catalogs.find(({ name }) => name === catalog)?.release;
  }

  /**
   * The keys of a payload, in the order of its values.
   * @throws RangeError when there is no such ordinal
   */
  payloadKeys(ordinal: number): readonly string[] {
    let keys = this.#payloadKeys.get(ordinal);
    if (!keys) {
      keys = readPayloadKeys(this.databases, ordinal);
      this.#payloadKeys.set(ordinal, keys);
    }
    return keys;
  }

  /** The sequence number of the newest journal entry; 0 when there is none. */
  lastSequence = () => lastOrdinal(this.databases.journal);

  /** Whether the journal has the entry; 0 stands for the state before the first. Faster than `lastSequence`. */
  hasEntry(sequence: number): boolean {
    return sequence === 0 || this.databases.journal.doesExist(encodeKey(BigInt(sequence)));
  }

  /**
   * The state of the position table after the commit of a journal entry (0: before the first); undefined when there is
   * no such entry.
   */
  tableAt(sequence: number): TableState | undefined {
    if (sequence === 0) return EMPTY_TABLE;
    const bytes = read(this.databases.journal, BigInt(sequence));
    return bytes && decodeTableState(bytes);
  }

  /**
   * A hexadecimal digest that differs for another journal, for example after the database was restored from a backup:
   * of all objects stored up to a journal entry, and of what its last entries say of crossmatches. Undefined if there
   * is no such entry.
   */
  journalMark(sequence: number): string | undefined {
    if (!this.tableAt(sequence)) return undefined;
    const mark = createHash('sha256');
    const start = encodeKey(BigInt(Math.max(1, sequence - MARKED_ENTRIES + 1)));
    const end = encodeKey(BigInt(sequence) + 1n);
    for (const { key, value } of this.databases.journal.getRange({ start, end })) mark.update(key).update(value);
    return mark.digest('hex');
  }

  /** The mark of the journal at an entry that was read. @throws DamagedValue if there is no such entry */
  markOf(sequence: number): string {
    const mark = this.journalMark(sequence);
    if (mark === undefined) throw new DamagedValue(`entry ${sequence} of the journal`);
    return mark;
  }

  /** The journal entries after `sequence`, ascending, at most `limit`. */
  journalAfter(sequence: number, limit = 1000): JournalEntry[] {
    return [...this.deliveriesAfter(sequence, limit)].map(({ source: _, isImport: __, ...entry }) => entry);
  }

  /** Like `journalAfter`, one at a time, with the source of the deliveries of each entry. */
  *deliveriesAfter(sequence: number, limit?: number): Iterable<SourcedEntry> {
    let from = this.tableAt(sequence)?.rows ?? 0;
    const range = { start: encodeKey(BigInt(sequence) + 1n), ...(limit !== undefined && { limit }) };
    for (const { key, value } of this.databases.journal.getRange(range)) {
      const { table, delivered, crossmatched, versions, removal, source } = decodeJournal(value);
      const { ids, count } = readPositions(this.databases, from, table.rows);
      const stored = Array.from({ length: count }, (_, row) => ids[4 * row]!);
      const removed = removal?.objects.map(({ diaObjectId }) => diaObjectId) ?? [];
      const entry = { sequence: Number(decodeKey(key)), stored, delivered, crossmatched, removed };
      yield { ...entry, source, isImport: versions === null };
      from = table.rows;
    }
  }

  /**
   * The journal entries after `sequence`, ascending, at most `limit`, each with the crossmatches that it recorded, which
   * may be none.
   */
  *crossmatchesAfter(sequence: number, limit: number): Iterable<RecordedCrossmatches> {
    for (const { key, value } of this.databases.journal.getRange({ start: encodeKey(BigInt(sequence) + 1n), limit })) {
      const at = Number(decodeKey(key));
      // An entry may have very many objects, and be read in many pieces.
      if (this.#crossmatches?.sequence !== at) this.#crossmatches = decodeCrossmatches(at, value);
      yield this.#crossmatches;
    }
  }

  /**
   * Like `crossmatchesAfter`, but with every change of an entry: first the objects that it stored, with the version
   * `STORED_VERSION`, then the crossmatched objects, then the removed objects, with the version `REMOVED_VERSION`.
   */
  *changesAfter(sequence: number, limit: number): Iterable<RecordedCrossmatches> {
    let { rows } = this.tableAt(sequence) ?? EMPTY_TABLE;
    for (const entry of this.crossmatchesAfter(sequence, limit)) {
      const { rows: end } = this.tableAt(entry.sequence)!;
      if (this.#changes?.sequence !== entry.sequence) this.#changes = this.#withStored(entry, rows, end);
      rows = end;
      yield this.#changes;
    }
  }

  #withStored(entry: RecordedCrossmatches, from: number, end: number): RecordedCrossmatches {
    const { ids, count } = readPositions(this.databases, from, end);
    const stored = Array.from({ length: count }, (_, row) => ids[4 * row]!);
    const versions = entry.versions ?? entry.ids.map(() => undefined);
    return {
      ...entry,
      ids: [...stored, ...entry.ids, ...entry.removed.map(({ diaObjectId }) => diaObjectId)],
      versions: [...stored.map(() => STORED_VERSION), ...versions, ...entry.removed.map(() => REMOVED_VERSION)],
    };
  }

  /** At least the objects that were removed after a journal entry, each with its last removal. */
  removedAfter(sequence: number): LastRemovals {
    const last = readLastRemoval(this.databases);
    if (last <= sequence) return NONE_REMOVED;
    const { since, last: known } = this.#removals;
    if (known !== last || since > sequence)
      this.#removals = { since: sequence, last, found: lastRemovals(this.databases, sequence) };
    return this.#removals.found;
  }

  /**
   * Returns a test whether an object was removed after a journal entry; it may have been stored anew since. Undefined if
   * nothing was removed.
   */
  removedSince(sequence: number): ((diaObjectId: bigint) => boolean) | undefined {
    const removed = this.removedAfter(sequence);
    return removed.size === 0 ? undefined : id => (removed.get(id)?.sequence ?? 0) > sequence;
  }

  /**
   * The id of the archive, 8 hexadecimal digits: equal in its copies and on all nodes of a log, different in other
   * archives.
   */
  get archive(): string {
    const origin = readLogPosition(this.databases)?.log ?? readCreated(this.databases);
    if (this.#archive?.origin !== origin) this.#archive = { origin, name: hash('sha256', origin).slice(0, 8) };
    return this.#archive.name;
  }

  /**
   * Every object, or the objects above `after`, by ascending id. All come from one snapshot, which stays open until the
   * iteration ends.
   */
  *objects(after?: bigint): Iterable<StoredObject> {
    for (const { key, value } of records(this.databases, above(after))) yield decodeObject(decodeKey(key), value);
  }

  /**
   * The ids of the objects that pass a test, ascending, at most `limit`; only those above `after`, if it is given. Every
   * object up to the last one is read.
   */
  idsWhere(test: (object: ObjectView) => boolean, limit: number, after?: bigint): readonly bigint[] {
    return this.idsAmong(test, { count: Number.POSITIVE_INFINITY, limit, after }).ids;
  }

  /**
   * Like `idsWhere`, but reads at most `count` objects.
   * @returns the ids, and the last object that was read; undefined if there is none after `after`
   */
  idsAmong(
    test: (object: ObjectView) => boolean,
    { count, limit, after }: { readonly count: number; readonly limit: number; readonly after: bigint | undefined },
  ): { readonly ids: readonly bigint[]; readonly last: bigint | undefined } {
    const ids: bigint[] = [];
    let last: bigint | undefined;
    let left = count;
    for (const { key, value } of records(this.databases, above(after))) {
      last = decodeKey(key);
      this.#view.load(last, value);
      if (test(this.#view) && ids.push(last) >= limit) break;
      if (--left === 0) break;
    }
    return { ids, last };
  }

  /** At most `limit` ids of pending objects, ascending; only those above `after`, if it is given. */
  pendingIds = (limit: number, after?: bigint) => idsIn(this.databases.pending, limit, after);

  /**
   * Like `pendingIds`, for objects whose current record has a catalog that could not be read. These objects need
   * another crossmatch.
   */
  unreadIds = (limit: number, after?: bigint) => idsIn(this.databases.unread, limit, after);

  /** The number of objects that pass a test; reads every object. */
  countWhere(test: (object: ObjectView) => boolean): number {
    let count = 0;
    for (const object of this.views()) if (test(object)) count++;
    return count;
  }

  /** Every object by ascending id. Each is read into the same view. */
  *views(): Iterable<ObjectView> {
    for (const { key, value } of records(this.databases)) {
      this.#view.load(decodeKey(key), value);
      yield this.#view;
    }
  }

  /** The processes that have this database open, according to the kernel: a killed process is not among them. */
  livePids(): Set<number> {
    this.#root.readerCheck();
    const [, ...rows] = this.#root.readerList().split('\n');
    return new Set(rows.map(row => Number.parseInt(row, 10)).filter(pid => pid > 0));
  }

  /**
   * Makes the next read see everything that is committed by now. Without this call, a thread that runs one task after
   * another without returning to its event loop would keep reading the same old snapshot.
   */
  resetRead(): void {
    this.reads++;
    this.#root.resetReadTxn();
  }
}

/** The range of the ids above another one; of all ids if it is undefined. */
const above = (id: bigint | undefined) => (id === undefined ? {} : { start: encodeKey(id + 1n) });

const idsIn = (table: Table, limit: number, after?: bigint) =>
  [...table.getKeys({ ...above(after), limit })].map(decodeKey);

/** The value of an id, in a buffer that the next read overwrites. */
function read(table: Table, id: bigint): Uint8Array | undefined {
  return table.getFast(scratchKey(id));
}

function decodeCrossmatches(sequence: number, bytes: Uint8Array): RecordedCrossmatches {
  const { crossmatched: ids, versions, removal } = decodeJournal(bytes);
  return {
    sequence,
    ids,
    versions: typeof versions === 'number' ? ids.map(() => versions) : (versions ?? undefined),
    isImport: versions === null,
    removed: removal?.objects ?? [],
  };
}

function readOrdinal(table: Table, ordinal: number): Uint8Array {
  const bytes = table.get(encodeKey(BigInt(ordinal)));
  if (!bytes) throw new RangeError(`Cannot read entry ${ordinal} because it is not stored: the database is damaged`);
  return bytes;
}

/** @throws RangeError when there is no such ordinal */
export function readPayloadKeys({ payload_keys }: Databases, ordinal: number): readonly string[] {
  return decodePlain(readOrdinal(payload_keys, ordinal)) as string[];
}
