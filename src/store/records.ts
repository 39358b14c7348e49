/**
 * The bytes of every stored key and value; no file but this and `object_record.ts`, for objects, knows them. A value is a msgpack array
 * of positional fields, without shared structures; only a catalog registration is a map.
 */
import { Packr } from 'msgpackr';
import type { JournalEntry, MatchSource, ProvenanceSet, TnsRecord } from './types.ts';

export { decodeObject, encodeObject, RECORDED_OUTCOMES } from './object_record.ts';

const packr = new Packr({ useRecords: false, mapsAsObjects: true, copyBuffers: true });

/** Plain data (64-bit integers as bigints) as the bytes of a value. */
export function encodePlain(value: unknown): Uint8Array {
  return packr.pack(value);
}

/** Plain data from the bytes of a value, which may be overwritten afterwards. */
export function decodePlain(bytes: Uint8Array): unknown {
  return packr.unpack(bytes);
}

const scratch = new Uint8Array(8);
const scratchView = new DataView(scratch.buffer);

/** The key of an id, a sequence number or an ordinal, 0 to 2^63 - 1: eight bytes, big-endian, so that key order is numeric order. */
export function encodeKey(id: bigint): Uint8Array {
  const key = new Uint8Array(8);
  scratchView.setBigInt64(0, id);
  key.set(scratch);
  return key;
}

/** As `encodeKey`, in one buffer that any next call of these three overwrites: for a single read, which copies it at once. */
export function scratchKey(id: bigint): Uint8Array {
  scratchView.setBigInt64(0, id);
  return scratch;
}

export function decodeKey(key: Uint8Array): bigint {
  scratch.set(key);
  return scratchView.getBigInt64(0);
}

const LATEST = 2n ** 63n - 1n;

/** A time and an id, so that ascending keys go from the latest time to the earliest, and within a time from the lowest id up. */
export function encodeTimeKey(timeUs: number, id: bigint): Uint8Array {
  const key = new Uint8Array(16);
  const view = new DataView(key.buffer);
  view.setBigUint64(0, LATEST - BigInt(timeUs));
  view.setBigUint64(8, id);
  return key;
}

export function decodeTimeKey(key: Uint8Array): { readonly timeUs: number; readonly diaObjectId: bigint } {
  const view = new DataView(key.buffer, key.byteOffset, 16);
  return { timeUs: Number(LATEST - view.getBigUint64(0)), diaObjectId: view.getBigUint64(8) };
}

export function encodeTimeValue(timeUs: number): Uint8Array {
  return encodeKey(BigInt(timeUs));
}

export function decodeTimeValue(bytes: Uint8Array): number {
  return Number(decodeKey(bytes.subarray(0, 8)));
}

/**
 * Flat, four a source: ra, dec, ordinal of the payload's key list or null, payload values. The keys of a catalog's payloads are the
 * same for every match, so they are stored once: `ordinalOf` gives the ordinal of a list, stored on demand.
 */
export function encodeSources(
  sources: readonly MatchSource[],
  ordinalOf: (keys: readonly string[]) => number,
): Uint8Array {
  const flat = sources.flatMap(({ ra, dec, payload }) => {
    return payload ? [ra, dec, ordinalOf(Object.keys(payload)), Object.values(payload)] : [ra, dec, null, null];
  });
  return packr.pack(flat);
}

/** A source as it is stored: the keys of its payload by their ordinal, null without a payload. */
export interface SourceValues {
  readonly ra: number | null;
  readonly dec: number | null;
  readonly keys: number | null;
  readonly values: readonly unknown[];
}

export function decodeSourceValues(bytes: Uint8Array): SourceValues[] {
  const flat = packr.unpack(bytes) as unknown[];
  const sources: SourceValues[] = [];
  for (let i = 0; i < flat.length; i += 4) {
    const [ra, dec, keys] = [flat[i], flat[i + 1], flat[i + 2]] as (number | null)[];
    sources.push({ ra: ra!, dec: dec!, keys: keys!, values: flat[i + 3] as unknown[] });
  }
  return sources;
}

/** @param keysOf gives the key list of an ordinal */
export function decodeSources(bytes: Uint8Array, keysOf: (ordinal: number) => readonly string[]): MatchSource[] {
  return decodeSourceValues(bytes).map(({ ra, dec, keys, values }) => {
    return { ra, dec, payload: keys === null ? null : zip(keysOf(keys), values) };
  });
}

function zip(keys: readonly string[], values: readonly unknown[]): Record<string, unknown> {
  const record: Record<string, unknown> = {};
  for (let i = 0; i < keys.length; i++) record[keys[i]!] = values[i];
  return record;
}

/** The objid is in the key. */
export function encodeTnsRecord(record: TnsRecord): Uint8Array {
  const { name, namePrefix, ra, dec, classification, redshift } = record;
  return packr.pack([name, namePrefix, ra, dec, classification, redshift]);
}

export function decodeTnsRecord(objid: number, bytes: Uint8Array): TnsRecord {
  const [name, namePrefix, ra, dec, classification, redshift] = packr.unpack(bytes);
  return { objid, name, namePrefix, ra, dec, classification, redshift };
}

/** The process that has claimed pending objects to crossmatch them, and which. */
export interface ClaimRecord {
  readonly pid: number;
  readonly ids: readonly bigint[];
}

export function encodeClaim({ pid, ids }: ClaimRecord): Uint8Array {
  return packr.pack([pid, ids]);
}

export function decodeClaim(bytes: Uint8Array): ClaimRecord {
  const [pid, ids] = packr.unpack(bytes) as [number, bigint[]];
  return { pid, ids };
}

/** How far the position table has come. */
export interface TableState {
  readonly rows: number;
  /** Of all rows, in their order; see `appendPositions`. */
  readonly digest: Uint8Array;
}

/** Of a table without rows. */
export const EMPTY_TABLE: TableState = { rows: 0, digest: new Uint8Array(16) };

/** A journal entry as it is stored: with the table's state after the commit, whose rows are the last ones. */
export type JournalRecord = Pick<JournalEntry, 'delivered' | 'crossmatched'> & { readonly table: TableState };

const TABLE_STATE_BYTES = 8 + EMPTY_TABLE.digest.length;

/** The table's state in fixed places, then a msgpack array: the state is read far more often than the rest. */
export function encodeJournal({ table, delivered, crossmatched }: JournalRecord): Uint8Array {
  const ids = packr.pack([delivered, crossmatched]);
  const bytes = new Uint8Array(TABLE_STATE_BYTES + ids.length);
  new DataView(bytes.buffer).setFloat64(0, table.rows);
  bytes.set(table.digest, 8);
  bytes.set(ids, TABLE_STATE_BYTES);
  return bytes;
}

export function decodeJournal(bytes: Uint8Array): JournalRecord {
  const [delivered, crossmatched] = packr.unpack(bytes.subarray(TABLE_STATE_BYTES)) as [bigint[], bigint[]];
  return { table: decodeTableState(bytes), delivered, crossmatched };
}

/** The table's state of a journal entry, whose bytes may be overwritten afterwards. */
export function decodeTableState(bytes: Uint8Array): TableState {
  const rows = new DataView(bytes.buffer, bytes.byteOffset).getFloat64(0);
  return { rows, digest: new Uint8Array(bytes.subarray(8, TABLE_STATE_BYTES)) };
}

export function encodeProvenanceSet(hash: string, set: ProvenanceSet): Uint8Array {
  return packr.pack([
    hash,
    set.crossmatch_radius_arcsec,
    set.catalogs.map(({ name, release }) => [name, release]),
    set.reliability_cuts.map(cut => [cut.broker, cut.min_reliability, cut.enforced_by, cut.status, cut.as_of]),
  ]);
}

/** A provenance set with the hash of its content (see `contentHash`). */
export interface HashedProvenanceSet {
  readonly hash: string;
  readonly set: ProvenanceSet;
}

export function decodeProvenanceSet(bytes: Uint8Array): HashedProvenanceSet {
  const [hash, radius, catalogs, cuts] = packr.unpack(bytes) as [string, number | null, string[][], unknown[][]];
  const set = {
    crossmatch_radius_arcsec: radius,
    catalogs: catalogs.map(([name, release]) => ({ name, release })),
    reliability_cuts: cuts.map(([broker, min_reliability, enforced_by, status, as_of]) => {
      return { broker, min_reliability, enforced_by, status, as_of };
    }),
  };
  return { hash, set: set as ProvenanceSet };
}
