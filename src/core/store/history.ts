/**
 * Former records, from which the state after an earlier journal entry can be read. A change that stores an object keeps
 * the record that it replaces, under the object's id and the number of the change's own journal entry. The kept record
 * is empty if the object was not stored before. So the state after entry N is the first kept record above N, or the
 * present record if there is none.
 *
 * An archive keeps a history only if its operator wants one (`Writer.keepHistory`). The history is not part of the
 * archive, so nodes that share a log may differ in it.
 *
 * Sources of matches are only appended, so a former record is read with the present sources. Only an import may insert
 * sources, and only a removal removes them; both keep the former ones too, under the same key with a further zero byte.
 *
 * The latest ingest time after each entry is kept as well, under an id that no object has.
 */
import type { Databases } from './databases.ts';
import { copyRecord } from './object_tables.ts';
import { readLatestIngest } from './recent.ts';
import {
  decodeKey,
  decodePlain,
  decodeTimeValue,
  encodeKey,
  encodePlain,
  encodeTimeValue,
  lastOrdinal,
} from './records.ts';
import { DamagedValue } from './store_error.ts';
import { type Entry, inOrder } from './table.ts';

const START_KEY = new TextEncoder().encode('history_start');
const ID_BYTES = 8;
const RECORD_KEY_BYTES = 16;
const SOURCES_KEY_BYTES = RECORD_KEY_BYTES + 1;
const LATEST_INGEST_ID = -1n;
const NOTHING = new Uint8Array(0);

/** Keeps what one change replaces, in its open transaction; does nothing if the archive keeps no history. */
export class History {
  readonly #databases: Databases;
  /** The number of the journal entry that the change will append; undefined without a history. */
  readonly #sequence: Uint8Array | undefined;

  constructor(databases: Databases) {
    this.#databases = databases;
    if (historyStart(databases) !== undefined) this.#sequence = encodeKey(BigInt(lastOrdinal(databases.journal)) + 1n);
  }

  /** Keeps what is stored for an object, and reads it only if the archive keeps a history. */
  keepStored(key: Uint8Array, { withSources }: { readonly withSources: boolean }): void {
    if (!this.#sequence) return;
    const sources = withSources ? this.#databases.sources.get(key) : undefined;
    this.keep(key, copyRecord(this.#databases, key), sources);
  }

  /**
   * @param key the object's key
   * @param record the replaced record; undefined if the object is new
   * @param sources the replaced sources, if they are not merely followed by further ones
   */
  keep(key: Uint8Array, record: Uint8Array | undefined, sources?: Uint8Array): void {
    if (!this.#sequence) return;
    const { history } = this.#databases;
    const at = new Uint8Array(SOURCES_KEY_BYTES);
    at.set(key);
    at.set(this.#sequence, ID_BYTES);
    const recordKey = at.subarray(0, RECORD_KEY_BYTES);
    // A change may store an object twice. The entry then replaces the record from before the first time.
    if (record && history.doesExist(recordKey)) return;
    history.put(recordKey, record ?? NOTHING);
    if (sources) history.put(at, sources);
  }
}

type Former = (databases: Databases, diaObjectId: bigint, sequence: number, options?: object) => Uint8Array | undefined;

/** The record after a journal entry: undefined if it is the present one, empty if the object was not stored. */
export const formerRecord: Former = (...of) => former(RECORD_KEY_BYTES, ...of);

/** The sources that belong to the record after a journal entry; undefined if the present ones do. */
export const formerSources: Former = (...of) => former(SOURCES_KEY_BYTES, ...of);

function former(keyBytes: number, ...[{ history }, diaObjectId, sequence, options]: Parameters<Former>) {
  const range = { ...options, start: keyOf(diaObjectId, BigInt(sequence) + 1n), end: keyOf(diaObjectId + 1n, 0n) };
  for (const { key, value } of history.getRange(range)) if (key.length === keyBytes) return value;
  return undefined;
}

/**
 * The records after a journal entry, by ascending id.
 * @param present the present records, by ascending id
 */
export function* recordsAfter(
  databases: Databases,
  sequence: number,
  present: Iterable<Entry>,
  options: object,
): Iterable<Entry> {
  const former = formerRecords(databases, sequence, options);
  try {
    let next = former.next();
    for (const entry of present) {
      let isFormer = false;
      for (; !next.done; next = former.next()) {
        const order = Buffer.compare(next.value.key, entry.key);
        if (order > 0) break;
        isFormer ||= order === 0;
        if (next.value.value.length > 0) yield next.value;
      }
      if (!isFormer) yield entry;
    }
    for (; !next.done; next = former.next()) if (next.value.value.length > 0) yield next.value;
  } finally {
    former.return();
  }
}

/** The records after a journal entry that differ from the present ones, by ascending id; empty where none was stored. */
function* formerRecords({ history }: Databases, sequence: number, options: object): Generator<Entry, void> {
  const range = { ...options, end: keyOf(LATEST_INGEST_ID, 0n) };
  let last: bigint | undefined;
  for (const { key, value } of inOrder(history.getRange(range), history.name)) {
    const found = decodeHistoryKey(key);
    if (!found.isRecord || found.sequence <= sequence || found.diaObjectId === last) continue;
    last = found.diaObjectId;
    yield { key: key.subarray(0, ID_BYTES), value };
  }
}

const keyOf = (diaObjectId: bigint, sequence: bigint) => Buffer.concat([encodeKey(diaObjectId), encodeKey(sequence)]);

/** Reads the key of a former record, or of the former sources that belong to it. */
export function decodeHistoryKey(key: Uint8Array) {
  return {
    diaObjectId: decodeKey(key.subarray(0, ID_BYTES)),
    sequence: Number(decodeKey(key.subarray(ID_BYTES, RECORD_KEY_BYTES))),
    isRecord: key.length === RECORD_KEY_BYTES,
    isLatestIngest: decodeKey(key.subarray(0, ID_BYTES)) === LATEST_INGEST_ID,
  };
}

/** The first journal entry whose state can be read; undefined if the archive keeps no history. */
export function historyStart({ meta }: Databases, options?: object): number | undefined {
  // Many queries ask, and need no copy of the value.
  const bytes = options ? meta.get(START_KEY, options) : meta.getFast(START_KEY);
  return bytes ? (decodePlain(bytes) as number) : undefined;
}

/** The reason why the state after a journal entry cannot be read, about a parameter; undefined if it can be read. */
export function whyNotInHistory(
  databases: Databases,
  entry: number,
  param = 'at',
  options?: object,
): string | undefined {
  const oldest = historyStart(databases, options);
  if (oldest === undefined) return `${param} needs a history, which is not kept here (NEARSKY_HISTORY): leave it out`;
  const newest = lastOrdinal(databases.journal, options);
  if (entry >= oldest && entry <= newest) return undefined;
  const why =
    entry > newest
      ? `the newest journal entry is ${newest}`
      : `the history begins with journal entry ${oldest}, when this service began to keep it`;
  return `${param} must be from ${oldest} to ${newest} (got ${entry}): ${why}`;
}

/** Keeps a history from the present state on. Call this in a write transaction, like the other two. */
export function beginHistory(databases: Databases): void {
  const sequence = lastOrdinal(databases.journal);
  databases.meta.put(START_KEY, encodePlain(sequence));
  keepLatestIngest(databases, sequence);
}

/** Keeps the latest ingest time after a journal entry, in its transaction, if the archive keeps a history. */
export function keepLatestIngest(databases: Databases, sequence: number): void {
  if (historyStart(databases) === undefined) return;
  const key = keyOf(LATEST_INGEST_ID, BigInt(sequence));
  databases.history.put(key, encodeTimeValue(readLatestIngest(databases) ?? 0));
}

/** @throws DamagedValue if it is missing */
export function latestIngestAt({ history }: Databases, sequence: number, options?: object): number {
  const value = history.get(keyOf(LATEST_INGEST_ID, BigInt(sequence)), options);
  if (!value) throw new DamagedValue(`the latest ingest time after entry ${sequence} of the journal`);
  return decodeTimeValue(value);
}

export function endHistory({ meta }: Databases): void {
  meta.remove(START_KEY);
}

/** Removes at most `limit` former records. */
export function removeFormer({ history }: Databases, limit: number): void {
  for (const key of [...history.getKeys({ limit })]) history.remove(key);
}
