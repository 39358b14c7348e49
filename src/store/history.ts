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
import { DamagedValue } from './table.ts';

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
    const { objects, sources } = this.#databases;
    this.keep(key, objects.get(key), withSources ? sources.get(key) : undefined);
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

/** The record after a journal entry: undefined if it is the present one, empty if the object was not stored. */
export function formerRecord(databases: Databases, diaObjectId: bigint, sequence: number): Uint8Array | undefined {
  return former(databases, diaObjectId, sequence, RECORD_KEY_BYTES);
}

/** The sources that belong to the record after a journal entry; undefined if the present ones do. */
export function formerSources(databases: Databases, diaObjectId: bigint, sequence: number): Uint8Array | undefined {
  return former(databases, diaObjectId, sequence, SOURCES_KEY_BYTES);
}

function former({ history }: Databases, diaObjectId: bigint, sequence: number, keyBytes: number) {
  const range = { start: keyOf(diaObjectId, BigInt(sequence) + 1n), end: keyOf(diaObjectId + 1n, 0n) };
  for (const { key, value } of history.getRange(range)) if (key.length === keyBytes) return value;
  return undefined;
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
export function historyStart({ meta }: Databases): number | undefined {
  const bytes = meta.getFast(START_KEY);
  return bytes ? (decodePlain(bytes) as number) : undefined;
}

/** Keeps a history from the present state on. To be called in a write transaction, like the other two. */
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
export function latestIngestAt({ history }: Databases, sequence: number): number {
  const value = history.getFast(keyOf(LATEST_INGEST_ID, BigInt(sequence)));
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
