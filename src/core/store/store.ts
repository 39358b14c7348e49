/** Reading the store. Any number of processes and threads may read while one at a time writes (src/core/store/writer.ts). */
import { createHash, hash } from 'node:crypto';
import { holdEnd } from '../pool/thread_end.ts';
import { type CatalogRegistration, readCatalogs } from './catalog_registration.ts';
import { claimedIds, livePids, readDamage, readStop } from './claims.ts';
import { readCounters } from './counters.ts';
import { countObjects, readCounts } from './counts.ts';
import { DATABASE_NAMES, type DatabaseName, type Databases } from './databases.ts';
import { FullDisk, RESERVE_TO_END_BYTES, requireSpace, spaceFor } from './disk_space.ts';
import { type Environment, newestCommit, openEnvironment, readCreated, reusableBytes } from './environment.ts';
import { historyStart, whyNotInHistory } from './history.ts';
import type { OpenFiles } from './identity.ts';
import { readLease } from './leases.ts';
import { LEVEL, readLevel } from './level.ts';
import { readLogPosition } from './log_position.ts';
import { readPublished, sharedSettings } from './meta.ts';
import { readDone, readNight, readNotes } from './nights.ts';
import { readNodes } from './nodes.ts';
import { ObjectView } from './object_record.ts';
import { countRecords, readRecord, records } from './object_tables.ts';
import { ObjectsAt, type StoredObjects } from './objects_at.ts';
import { readPositions } from './positions.ts';
import {
  findRecent,
  latestIngest,
  type Oldest,
  oldestIds,
  type RecentQuery,
  readLatestIngest,
  recentInPieces,
} from './recent.ts';
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
import { countRegistry, findByName, findByObjid, readRegistry, readSnapshot } from './registry.ts';
import { LastRemovals, lastRemovals, readLastRemoval, removalsAfter } from './removals.ts';
import { type ReadTransaction, Snapshot } from './snapshot.ts';
import { idsBySource, type SourceName } from './source_index.ts';
import { DamagedValue, StoreError } from './store_error.ts';
import type { Table } from './table.ts';
import {
  type CrossmatchRecord,
  type DeliverySource,
  type JournalEntry,
  type MatchSource,
  type ObjectToCrossmatch,
  REMOVED_VERSION,
  type RecordedCrossmatches,
  STORED_VERSION,
  type StoredObject,
  type TnsRecord,
} from './types.ts';

export type { StoreCounts } from './counts.ts';
export { FORMAT_VERSION, requireDatabase } from './environment.ts';
export { StoreError } from './store_error.ts';

/** The number of entries in a mark of the journal. The digest of the newest covers all stored objects, but no crossmatch. */
const MARKED_ENTRIES = 16;

/** Everything but the objects, which queries read in their own state. */
export type BesideObjects = Omit<Store, 'readObject' | 'getSources' | 'readSources'>;

/**
 * Opens a data directory. `write` creates it (mode 0700) where there is none; `read` needs it to exist. A directory
 * with other content, a newer format, or a log of a higher level is rejected. If one process opens it in both modes,
 * `write` must come first: LMDB opens a file once per process, and keeps the first mode.
 * @param readableLevel the highest readable level of the log; by default the level of this release
 * @throws StoreError
 */
export function openStore(dataDir: string, mode: 'read' | 'write', readableLevel: number = LEVEL): Store {
  return holdEnd(() => new Store(openEnvironment(dataDir, mode, readableLevel), readableLevel));
}

const NONE_REMOVED = new LastRemovals();
type SourcedEntry = JournalEntry & { readonly source: DeliverySource | undefined; readonly isImport: boolean };

export class Store implements StoredObjects {
  readonly entry = undefined;
  readonly isPresent = true;
  /** How often later commits were made visible to reads. */
  reads = 0;
  /** For the writer only. */
  readonly databases: Databases;
  /** The highest level of the log that can be read here. */
  readonly readableLevel: number;
  /** Called when a write starts to wait for writes of other processes, and when the wait is over. */
  onWaiting: (isWaiting: boolean) => void = () => {};
  /** Called when the disk has too little space for a write, with the bytes that it may need. */
  onFullDisk: (neededBytes: number) => void = () => {};
  readonly #environment: Environment;
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

  constructor(environment: Environment, readableLevel: number) {
    this.#environment = environment;
    this.readableLevel = readableLevel;
    this.databases = environment.databases;
    // Other processes see that this one is alive by its entry in LMDB's table of readers. The first read makes the
    // entry, and opening databases removes it.
    this.tnsSnapshot();
  }

  /** The files that the store has open, to detect when other files, or none, are at their paths. */
  get files(): OpenFiles {
    return this.#environment.files;
  }

  /**
   * A file that was removed or replaced can still be read by the processes that have it open, but no other process sees
   * their writes.
   * @throws StoreError if the files were removed or replaced
   */
  requireInPlace(): void {
    const change = this.files.change();
    if (change) throw new StoreError(`Cannot trust the database because ${change.reason}`);
  }

  /** Whether the file system is mounted read-only, so that no file can be written in the data directory. */
  get isReadOnly(): boolean {
    return this.#environment.unlockedSince !== undefined;
  }

  /**
   * Call this after reading and before using the data. On a file system that is read-only here, another host may
   * overwrite pages while they are being read.
   * @throws StoreError if there was a commit since this store was opened without a lock
   */
  requireUndisturbed(): void {
    const { dataDir, unlockedSince } = this.#environment;
    if (unlockedSince === undefined || newestCommit(dataDir) === unlockedSince) return;
    throw new StoreError(
      `Cannot trust the data read from ${dataDir} because its file system is read-only here and another host wrote to it meanwhile: run again while nothing writes, or set --data to the writable directory`,
    );
  }

  /**
   * @param doing completes the message "Cannot …"
   * @param entries the number of entries that a transaction will change; 0 if it only abandons unfinished work
   * @throws StoreError if the disk may have too little space for the transaction
   */
  requireSpace(doing: string, entries: number): void {
    const bytes = entries === 0 ? RESERVE_TO_END_BYTES : spaceFor(entries, this.files.bytes);
    try {
      requireSpace(doing, this.#environment.dataDir, bytes);
    } catch (error) {
      if (error instanceof FullDisk) this.onFullDisk(bytes);
      throw error;
    }
  }

  getObject(diaObjectId: bigint): StoredObject | undefined {
    const bytes = readRecord(this.databases, diaObjectId);
    return bytes && decodeObject(diaObjectId, bytes);
  }

  /** The data for a crossmatch; undefined if the object is not stored. */
  objectToCrossmatch(diaObjectId: bigint): ObjectToCrossmatch | undefined {
    if (!this.readObject(diaObjectId, this.#view)) return undefined;
    const { position, positionErrorMas, eventTimeUs, state } = this.#view;
    return {
      diaObjectId,
      position,
      ...(positionErrorMas !== undefined && { positionErrorMas }),
      eventTimeUs,
      current: state === 'crossmatched' ? this.#view.record : undefined,
    };
  }

  readObject(diaObjectId: bigint, into: ObjectView): boolean {
    const bytes = readRecord(this.databases, diaObjectId);
    if (!bytes) return false;
    into.load(diaObjectId, bytes);
    return true;
  }

  /** The objects after a journal entry, from `historyStart` to `lastSequence`. */
  at = (entry: number) => new ObjectsAt(this, entry);

  /** The first journal entry whose state can be read; undefined if the archive keeps no history. */
  historyStart = () => historyStart(this.databases);

  /** The reason why the state after a journal entry cannot be read, about a parameter; undefined if it can be read. */
  whyNotInHistory = (entry: number, param?: string) => whyNotInHistory(this.databases, entry, undefined, param);

  /** At most `limit` ids, ascending, of the objects that may have a match of any version with a source. */
  idsBySource = (source: SourceName, limit: number) => idsBySource(this.databases, source, limit);

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

  /** The number of the newest journal entry, and a hexadecimal digest of all objects in the order of their ingest. */
  journalState(): { readonly sequence: number; readonly digest: string } {
    const sequence = this.lastSequence();
    return { sequence, digest: Buffer.from(this.tableAt(sequence)!.digest).toString('hex') };
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

  /**
   * The rows of the position table from `from` (inclusive) to `to` (exclusive). Throws a RangeError if it does not have
   * them.
   */
  positions = (from: number, to: number) => readPositions(this.databases, from, to);

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
      const { ids, count } = this.positions(from, table.rows);
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
    const { ids, count } = this.positions(from, end);
    const stored = Array.from({ length: count }, (_, row) => ids[4 * row]!);
    const versions = entry.versions ?? entry.ids.map(() => undefined);
    return {
      ...entry,
      ids: [...stored, ...entry.ids, ...entry.removed.map(({ diaObjectId }) => diaObjectId)],
      versions: [...stored.map(() => STORED_VERSION), ...versions, ...entry.removed.map(() => REMOVED_VERSION)],
    };
  }

  /** The journal entry of the last removal; 0 if nothing was ever removed. */
  lastRemoval = () => readLastRemoval(this.databases);

  /** The removals after a journal entry, by default all, the latest first. */
  removals = (sequence = 0) => removalsAfter(this.databases, sequence);

  /** At least the objects that were removed after a journal entry, each with its last removal. */
  removedAfter(sequence: number): LastRemovals {
    const last = this.lastRemoval();
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

  /** The position up to which the matches are published, by topic. */
  published = () => readPublished(this.databases);

  /** Whether nothing was ever stored. */
  get isEmpty(): boolean {
    const isArchive = (name: DatabaseName) => !['meta', 'claims', 'history'].includes(name);
    return DATABASE_NAMES.filter(isArchive).every(name => this.databases[name].entryCount() === 0);
  }

  /** The last lease of that name. */
  lease = (name: string) => readLease(this.databases, name);

  /** The settings that must be equal on all nodes of the log; undefined if no node has shared its settings. */
  sharedSettings = () => sharedSettings.read(this.databases);

  /** The nodes of the log that have reported themselves recently. */
  nodes = () => readNodes(this.databases);

  /** The reason why a running process of this node has stopped following the log; undefined if none has. */
  whyStopped = () => readStop(this.databases, this.livePids());

  /** The damage found by a running or earlier process of this node; undefined if there is none. */
  damage = () => readDamage(this.databases);

  /** The level of the log that the archive follows. */
  logLevel = () => readLevel(this.databases);

  /**
   * The id of the archive, 8 hexadecimal digits: equal in its copies and on all nodes of a log, different in other
   * archives.
   */
  get archive(): string {
    const origin = this.logPosition()?.log ?? readCreated(this.databases);
    if (this.#archive?.origin !== origin) this.#archive = { origin, name: hash('sha256', origin).slice(0, 8) };
    return this.#archive.name;
  }

  /** The position of the archive in the log that it follows; undefined without a log. */
  logPosition = () => readLogPosition(this.databases);

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

  /** The number of objects that pass a test; reads every object. */
  countWhere(test: (object: ObjectView) => boolean): number {
    let count = 0;
    this.forEachObject(object => {
      if (test(object)) count++;
    });
    return count;
  }

  /** Calls a function with every object, by ascending id. The object is overwritten by the next one. */
  forEachObject(see: (object: ObjectView) => void): void {
    this.idsWhere(object => {
      see(object);
      return false;
    }, Number.POSITIVE_INFINITY);
  }

  /** At most `limit` ids of pending objects, ascending; only those above `after`, if it is given. */
  pendingIds = (limit: number, after?: bigint) => idsIn(this.databases.pending, limit, after);

  /**
   * Like `pendingIds`, for objects whose current record has a catalog that could not be read. These objects need
   * another crossmatch.
   */
  unreadIds = (limit: number, after?: bigint) => idsIn(this.databases.unread, limit, after);

  /** The number of pending objects, counted without reading them. */
  pendingCount(): number {
    return this.databases.pending.entryCount();
  }

  /** Every registered catalog, by ascending name. */
  catalogs = () => readCatalogs(this.databases);

  /** The names of the registered catalogs, ascending; reads none of the registrations. */
  catalogNames(): string[] {
    return [...this.databases.catalogs.getKeys({})].map(key => new TextDecoder().decode(key));
  }

  catalog(name: string): CatalogRegistration | undefined {
    const bytes = this.databases.catalogs.get(new TextEncoder().encode(name));
    return bytes && (decodePlain(bytes) as CatalogRegistration);
  }

  /**
   * One page of the objects, or of those that have matches, in any state: the newest first; objects with equal times by
   * ascending id.
   */
  recent = (query: RecentQuery) => findRecent(this.databases, query);

  /** Like `recent`, but in pieces, so that other work may run between two of them. Pieces may be empty. */
  recentInPieces = (query: RecentQuery) => recentInPieces(this.databases, query);

  /** Ids by ascending ingest time. */
  oldestIds = (part: Oldest) => oldestIds(this.databases, part);

  /** The latest ingest time of any object; null when there is none. */
  latestIngestTimeUs = () => readLatestIngest(this.databases);

  /** The latest ingest time that is not after `asOfUs`; undefined when there is none. */
  latestIngestUntil = (asOfUs: number) => latestIngest(this.databases, asOfUs);

  /** Counts of everything that any process has ever done to the store. */
  counters = () => readCounters(this.databases);

  /** The activity of a night, `YYYY-MM-DD`. */
  night = (night: string) => readNight(this.databases, night);

  /** The errors that this machine noted in a night, and the size of its database then. */
  notes = (night: string) => readNotes(this.databases, night);

  /** The last backup and export of this machine. */
  done = () => readDone(this.databases);

  /** The number of entries of a database, counted without reading them. */
  entryCount(name: 'objects' | 'pending'): number {
    return name === 'objects' ? countRecords(this.databases) : this.pendingCount();
  }

  /** The published snapshot of the TNS registry; undefined when none is loaded. */
  tnsSnapshot = () => readSnapshot(this.databases);

  /** The epoch of the TNS registry's snapshot; null when none is loaded. */
  tnsSnapshotEpochUs(): number | null {
    return readSnapshot(this.databases)?.epochUs ?? null;
  }

  /** The number of objects of the TNS registry; counts them. */
  tnsCount = () => countRegistry(this.databases);

  /** Every object of the TNS registry by ascending objid, by default from the first on. */
  tnsRecords = (first?: number) => readRegistry(this.databases, undefined, first);

  /** The object of the TNS registry with that objid. */
  tnsByObjid(objid: number): TnsRecord | undefined {
    const snapshot = this.tnsSnapshot();
    return snapshot && findByObjid(this.databases, snapshot.load, objid);
  }

  /**
   * The object of the TNS registry with that name. If there are several, the one with the lowest objid.
   * @param name bare and lowercase, as from `parseTnsName`
   * @param prefix the required prefix, in capitals; null if any prefix is accepted
   */
  tnsByName = (name: string, prefix: string | null = null) => findByName(this.databases, name, prefix);

  /** The bytes of the database file that hold no data, and that later commits use. */
  reusableBytes = () => reusableBytes(this.#environment);

  /** The processes that have this database open, according to the kernel: a killed process is not among them. */
  livePids = () => livePids(this.#environment.root);

  /**
   * Makes the next read see everything that is committed by now. Without this call, a thread that runs one task after
   * another without returning to its event loop would keep reading the same old snapshot.
   */
  resetRead(): void {
    this.reads++;
    this.#environment.root.resetReadTxn();
  }

  /** A read transaction of the present state; to be ended with `done`. */
  readTransaction(): ReadTransaction {
    this.resetRead();
    return this.#environment.root.useReadTransaction();
  }

  /**
   * A snapshot of the whole store; to be closed.
   * @param at the journal entry after which it has the objects; undefined for the present ones
   * @throws StoreError if the history does not have the entry
   */
  snapshot(at?: number): Snapshot {
    return new Snapshot(this.databases, this.readTransaction(), at);
  }

  /** Copies a snapshot of the database to a new file. Writers can continue meanwhile. */
  async copyTo(file: string): Promise<void> {
    await this.#environment.root.backup(file, false);
  }

  /** The number of pending objects that living processes have claimed. */
  claimedCount(): number {
    return claimedIds(this.databases, this.livePids()).size;
  }

  /** The numbers of stored objects, by status, outcome and matches, counted without reading them. */
  counts = (options?: object) => readCounts(this.databases, options);

  /** Closes this thread's handle; the store must not be used afterwards. */
  async close(): Promise<void> {
    await holdEnd(() => this.#environment.root.close());
  }

  [Symbol.asyncDispose] = () => this.close();
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
