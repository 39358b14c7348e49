/** Checks whether a database is intact: everything that an export reads, and everything derived from other data. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { messageOf } from '../../core/base/error_text.ts';
import { checksum } from '../../core/store/checksum.ts';
import { CountChanges, readCounts } from '../../core/store/counts.ts';
import { FILE_NAME } from '../../core/store/data_files.ts';
import { requireDatabase } from '../../core/store/environment.ts';
import { decodeHistoryKey } from '../../core/store/history.ts';
import { isStored } from '../../core/store/object_tables.ts';
import { checkPages } from '../../core/store/pages.ts';
import { afterRemoval, readPositions } from '../../core/store/positions.ts';
import { readLatestIngest } from '../../core/store/recent.ts';
import {
  decodeClaim,
  decodeJournal,
  decodeKey,
  decodeObject,
  decodePlain,
  decodeProvenanceSet,
  decodeSourceValues,
  decodeTnsRecord,
  EMPTY_TABLE,
  encodeKey,
  encodeRisingKey,
  encodeTimeKey,
  encodeTimeValue,
  provenanceHash,
} from '../../core/store/records.ts';
import { registryNameKey } from '../../core/store/registry.ts';
import { LastRemovals, lastRemovals } from '../../core/store/removals.ts';
import { encodeSourceKey } from '../../core/store/source_index.ts';
import { openStore, type Store } from '../../core/store/store.ts';
import { type Entry, keyText, type Table } from '../../core/store/table.ts';
import type { StoredObject } from '../../core/store/types.ts';
import { isUnread } from '../../core/store/unread.ts';

export interface CheckReport {
  /** The faults, one line each; empty if the database is intact. */
  readonly faults: readonly string[];
  /** The number of further faults, which are not listed. */
  readonly more: number;
  readonly objects: number;
  readonly pending: number;
  readonly journalEntries: number;
}

const MAX_NAMED = 20;
const PROGRESS_OBJECTS = 1000;

/**
 * Reads a data directory from end to end; other processes may use it meanwhile. It first looks for damage that could
 * make LMDB crash the process.
 * @throws StoreError if the directory cannot be opened
 */
export async function checkDirectory(dataDir: string, onProgress: (text: string) => void): Promise<CheckReport> {
  requireDatabase(dataDir);
  const file = join(dataDir, FILE_NAME);
  const pages = () => checkPages(file, { onProgress: count => onProgress(`${count} pages checked`) });
  const before = pages();
  await using store =
    before.faults.length > 0 && pages().txnid === before.txnid ? undefined : openStore(dataDir, 'read');
  if (!store) return { faults: before.faults, more: 0, objects: 0, pending: 0, journalEntries: 0 };
  const transaction = store.readTransaction();
  try {
    // While this transaction is open, no writer overwrites the pages of this commit or of a later one.
    const { faults } = before.faults.length > 0 ? pages() : before;
    if (faults.length > 0) {
      store.requireUndisturbed();
      return { faults, more: 0, objects: 0, pending: 0, journalEntries: 0 };
    }
    const report = new Check(store, { transaction }, onProgress).run();
    store.requireUndisturbed();
    return report;
  } finally {
    transaction.done();
  }
}

/** A sum over entries in any order: equal for equal entries. */
class Sum {
  count = 0;
  #low = 0;
  #high = 0;

  add(key: Uint8Array, value: Uint8Array = NOTHING): void {
    this.count++;
    this.#low = (this.#low + checksum(1, key, value, value.length)) >>> 0;
    this.#high = (this.#high + checksum(2, key, value, value.length)) >>> 0;
  }

  equals(other: Sum): boolean {
    return this.count === other.count && this.#low === other.#low && this.#high === other.#high;
  }
}

const NOTHING = new Uint8Array(0);

/** The databases that list what the objects contain, with the names for messages. */
const LISTS = [
  ['unread', 'the objects with a catalog that could not be read'],
  ['recent_ingest', 'the objects with matches', 'listing by ingest time'],
  ['recent_event', 'the objects with matches', 'listing by event time'],
  ['objects_by_ingest', 'the objects', 'listing by ingest time'],
  ['objects_by_event', 'the objects', 'listing by event time'],
  ['matches_by_source', 'the matches', 'listing by source'],
] as const;
type List = (typeof LISTS)[number][0];

class Check {
  readonly #store: Store;
  readonly #options: object;
  readonly #onProgress: (text: string) => void;
  readonly #faults: string[] = [];
  #more = 0;

  constructor(store: Store, options: object, onProgress: (text: string) => void) {
    this.#store = store;
    this.#options = options;
    this.#onProgress = onProgress;
  }

  run(): CheckReport {
    const { databases } = this.#store;
    const sets = this.#ordinals(databases.provenance_sets, bytes => {
      const { hash, set } = decodeProvenanceSet(bytes);
      if (hash !== provenanceHash(set)) throw new Error('its hash does not match its content');
      return 0;
    });
    const keys = this.#ordinals(databases.payload_keys, bytes => (decodePlain(bytes) as string[]).length);
    const { pending, rows, listed, ...found } = this.#objects(sets, keys);
    for (const [name, what, list] of LISTS)
      this.#same(what, listed[name], this.#sumOf(databases[name], name.startsWith('recent')), list);
    const journal = this.#journal();
    this.#same('the objects', rows, journal.rows, 'position table');
    this.#history(sets, journal.entries);
    this.#registry();
    for (const { value } of this.#entries(databases.catalogs)) decodePlain(value);
    for (const { value } of this.#entries(databases.claims)) decodeClaim(value);
    this.#meta(found.latestUs);
    const counts = readCounts(this.#store.databases, this.#options);
    const made = found.counts.total(counts.journalEntries);
    if (!isDeepStrictEqual(counts, made)) {
      this.#fault(`the counts do not match the objects: ${JSON.stringify(counts)}, not ${JSON.stringify(made)}`);
    }
    if (counts.journalEntries !== journal.entries)
      this.#fault('the number of journal entries differs from the stored count');
    return {
      faults: this.#faults,
      more: this.#more,
      objects: rows.count,
      pending,
      journalEntries: journal.entries,
    };
  }

  #fault(text: string): void {
    if (this.#faults.length < MAX_NAMED) this.#faults.push(text);
    else this.#more++;
  }

  #same(what: string, one: Sum, other: Sum, list = `list of ${what.replace('the ', '')}`): void {
    if (one.equals(other)) return;
    this.#fault(`${what} and the ${list} differ (${one.count} and ${other.count} entries)`);
  }

  /** The undamaged entries of tables; the others are faults. */
  *#entries(...tables: readonly Table[]): Iterable<Entry & { readonly table: Table }> {
    for (const table of tables) {
      for (const { key, value } of table.scan(this.#options)) {
        if (value) yield { table, key, value };
        else if (table.name !== 'meta') this.#fault(`${keyText(key)} of ${table.name}: its bytes have changed`);
      }
    }
  }

  /** Handles an entry; an error counts as a fault of the entry. */
  #try<T>(what: string, action: () => T): T | undefined {
    try {
      return action();
    } catch (error) {
      this.#fault(`${what}: ${messageOf(error)}`);
      return undefined;
    }
  }

  #sumOf(table: Table, withValues = false): Sum {
    const sum = new Sum();
    for (const { key, value } of this.#entries(table)) sum.add(key, withValues ? value : NOTHING);
    return sum;
  }

  /** Calls `read` on each value of a table whose keys must be 1, 2, 3 and so on; returns the results. */
  #ordinals(table: Table, read: (bytes: Uint8Array) => number): Map<number, number> {
    const values = new Map<number, number>();
    let last = 0;
    for (const { key, value } of this.#entries(table)) {
      const ordinal = Number(decodeKey(key));
      if (ordinal !== ++last) this.#fault(`${table.name}: ${ordinal} follows ${last - 1}`);
      last = ordinal;
      values.set(ordinal, this.#try(`${ordinal} of ${table.name}`, () => read(value)) ?? 0);
    }
    return values;
  }

  #objects(sets: ReadonlyMap<number, number>, keys: ReadonlyMap<number, number>) {
    const { objects, pending, sources } = this.#store.databases;
    const found = {
      pending: 0,
      rows: new Sum(),
      listed: Object.fromEntries(LISTS.map(([name]) => [name, new Sum()])) as Record<List, Sum>,
      counts: new CountChanges(),
    };
    const { listed } = found;
    let latestUs = Number.NEGATIVE_INFINITY;
    let withSources = 0;
    for (const { table, key, value } of this.#entries(objects, pending)) {
      this.#try(`object ${keyText(key)}`, () => {
        const object = decodeObject(decodeKey(key), value);
        const { diaObjectId, position, ingestTimeUs, eventTimeUs, matches } = object;
        found.counts.changed(undefined, object);
        found.rows.add(key, rowBytes(position?.ra ?? Number.NaN, position?.dec ?? Number.NaN, ingestTimeUs));
        if (found.rows.count % PROGRESS_OBJECTS === 0) this.#onProgress(`${found.rows.count} objects checked`);
        latestUs = Math.max(latestUs, ingestTimeUs);
        const isPending = object.state === 'pending';
        if (isPending) found.pending++;
        if (isPending !== (table === pending))
          this.#fault(`object ${keyText(key)}: it is ${object.state}, but in the table ${table.name}`);
        if (isUnread(object)) listed.unread.add(key);
        requireSets(object, sets);
        listed.objects_by_ingest.add(encodeRisingKey(ingestTimeUs, diaObjectId));
        listed.objects_by_event.add(encodeRisingKey(eventTimeUs, diaObjectId));
        if (matches.length === 0) return;
        listed.recent_ingest.add(encodeTimeKey(ingestTimeUs, diaObjectId), encodeTimeValue(ingestTimeUs));
        listed.recent_event.add(encodeTimeKey(eventTimeUs, diaObjectId), encodeTimeValue(ingestTimeUs));
        const keysBySource = matches.map(match => encodeSourceKey(match, diaObjectId));
        for (const each of new Map(keysBySource.map(each => [keyText(each), each])).values())
          listed.matches_by_source.add(each);
        const bytes = sources.get(key, this.#options);
        if (!bytes) throw new Error('the sources of its matches are missing');
        withSources++;
        const stored = decodeSourceValues(bytes);
        if (stored.length !== matches.length)
          throw new Error(`it has ${matches.length} matches, ${stored.length} sources`);
        for (const { keys: ordinal, values } of stored) {
          if (ordinal !== null && keys.get(ordinal) !== values.length)
            throw new Error('the columns of a payload differ');
        }
      });
    }
    const stored = sources.getKeysCount(this.#options);
    if (stored !== withSources) this.#fault(`${withSources} objects have matches, ${stored} have sources`);
    return { ...found, latestUs };
  }

  /** Follows the journal, and the position table with it, from the beginning. */
  #journal(): { readonly rows: Sum; readonly entries: number } {
    const { databases } = this.#store;
    const rows = new Sum();
    const removals = this.#removals();
    let table = EMPTY_TABLE;
    let entries = 0;
    for (const { key, value } of this.#entries(databases.journal)) {
      const sequence = Number(decodeKey(key));
      if (sequence !== ++entries) this.#fault(`the journal: entry ${sequence} follows ${entries - 1}`);
      entries = sequence;
      this.#try(`entry ${sequence} of the journal`, () => {
        const entry = decodeJournal(value);
        const { count, ids, fields } = readPositions(databases, table.rows, entry.table.rows);
        const { digest } = table;
        const hash = createHash('sha256').update(digest).update(new Uint8Array(ids.buffer)).digest();
        const appended = { rows: entry.table.rows, digest: count === 0 ? digest : hash.subarray(0, digest.length) };
        const removed = entry.removal?.objects.map(({ diaObjectId }) => diaObjectId);
        const expected = removed ? afterRemoval(appended, removed).digest : appended.digest;
        const first = table.rows;
        table = entry.table;
        for (let i = 0; i < count; i++) {
          const row = rowBytes(fields[4 * i + 1]!, fields[4 * i + 2]!, fields[4 * i + 3]!);
          const id = ids[4 * i]!;
          if (first + i >= (removals.get(id)?.rows ?? 0)) rows.add(encodeKey(id), row);
        }
        if (Buffer.compare(expected, entry.table.digest) !== 0) throw new Error('its digest does not match its rows');
        for (const id of removed ?? [])
          if ((removals.get(id)?.sequence ?? 0) < sequence) throw new Error('the chain of removals lacks it');
        for (const id of [...entry.delivered, ...entry.crossmatched]) {
          const isRemoved = (removals.get(id)?.sequence ?? 0) > sequence;
          if (!isRemoved && !isStored(databases, id)) throw new Error(`it lists object ${id}, which is not stored`);
        }
      });
    }
    return { rows, entries };
  }

  #removals(): LastRemovals {
    return this.#try('the removals', () => lastRemovals(this.#store.databases, 0, this.#options)) ?? new LastRemovals();
  }

  /** Reads the former records of objects, and the former sources, which follow their record. */
  #history(sets: ReadonlyMap<number, number>, lastSequence: number): void {
    let matches = 0;
    for (const { key, value } of this.#entries(this.#store.databases.history)) {
      const { diaObjectId, sequence, isRecord, isLatestIngest } = decodeHistoryKey(key);
      this.#try(`object ${diaObjectId} before entry ${sequence} of the journal`, () => {
        if (sequence > lastSequence) throw new Error('there is no such entry');
        if (isLatestIngest) return;
        if (!isRecord) {
          if (decodeSourceValues(value).length !== matches)
            throw new Error('it has more or fewer sources than matches');
          return;
        }
        matches = 0;
        if (value.length === 0) return;
        const object = decodeObject(diaObjectId, value);
        matches = object.matches.length;
        requireSets(object, sets);
      });
    }
  }

  #registry(): void {
    const { tns_objects, tns_names } = this.#store.databases;
    const names = new Sum();
    for (const { key, value } of this.#entries(tns_objects)) {
      this.#try(`${keyText(key)} of the TNS registry`, () => {
        const objid = decodeKey(key.subarray(8));
        const { name } = decodeTnsRecord(Number(objid), value);
        names.add(registryNameKey(Number(decodeKey(key.subarray(0, 8))), name.toLowerCase(), objid));
      });
    }
    this.#same('the objects of the TNS registry', names, this.#sumOf(tns_names), 'list of their names');
  }

  #meta(latestUs: number): void {
    const { meta } = this.#store.databases;
    for (const key of meta.getKeys(this.#options)) {
      const name = Buffer.from(key).toString('latin1');
      if (name !== 'data_format' && name !== 'created')
        this.#try(`"${name}" of meta`, () => meta.get(key, this.#options));
    }
    const stored =
      this.#try('the latest ingest time', () => readLatestIngest(this.#store.databases)) ?? Number.NEGATIVE_INFINITY;
    if (stored < latestUs) this.#fault('the latest ingest time does not match the objects');
  }
}

/** @throws Error if a crossmatch of the object refers to a provenance set that is not stored */
function requireSets({ records }: StoredObject, sets: ReadonlyMap<number, number>): void {
  for (const { provenanceSet } of records) {
    if (!sets.has(provenanceSet)) throw new Error(`its provenance set ${provenanceSet} is missing`);
  }
}

/** An object's row in the position table, without its id. */
function rowBytes(ra: number, dec: number, ingestTimeUs: number): Uint8Array {
  return new Uint8Array(new Float64Array([ra, dec, ingestTimeUs]).buffer);
}
