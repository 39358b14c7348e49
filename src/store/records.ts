/**
 * The bytes of every stored key and value; no other file knows them. A value is a msgpack array of positional fields, without
 * shared structures; only a catalog registration is a map.
 */
import { Packr } from 'msgpackr';
import type {
  CrossmatchRecord,
  JournalEntry,
  MatchSource,
  MatchSummary,
  ProvenanceSet,
  RecordedOutcome,
  StoredObject,
  TnsAssociation,
  TnsRecord,
} from './types.ts';

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

const STATES = ['pending', 'crossmatched'] as const;
/** In the order of the numbers that stand for them. */
export const RECORDED_OUTCOMES: readonly RecordedOutcome[] = [
  'searched',
  'outside_footprint',
  'skipped_read_failure',
  'not_searched_invalid_position',
];

type ObjectTuple = [
  ra: number | null,
  dec: number | null,
  reliability: number | null,
  ingestTimeUs: number,
  eventTimeUs: number,
  state: number,
  brokers: string[],
  /** Flat, five a record; `outcomes` in turn is flat: catalog name, index in RECORDED_OUTCOMES. */
  records: unknown[],
  /** Flat, four a match: version, catalog name, source id, separation in arcsec. */
  matches: unknown[],
  tns: unknown[] | null,
];

export function encodeObject(object: Omit<StoredObject, 'diaObjectId'>): Uint8Array {
  const tuple: ObjectTuple = [
    object.position?.ra ?? null,
    object.position?.dec ?? null,
    object.reliability,
    object.ingestTimeUs,
    object.eventTimeUs,
    STATES.indexOf(object.state),
    [...object.brokers],
    object.records.flatMap(record => [
      record.matchVersion,
      record.crossmatchedAtUs,
      record.provenanceSet,
      [...record.brokersAtCrossmatch],
      record.catalogOutcomes.flatMap(([name, outcome]) => [name, RECORDED_OUTCOMES.indexOf(outcome)]),
    ]),
    object.matches.flatMap(m => [m.matchVersion, m.catalogName, m.catalogSourceId, m.separationArcsec]),
    object.tns && encodeTns(object.tns),
  ];
  return packr.pack(tuple);
}

export function decodeObject(diaObjectId: bigint, bytes: Uint8Array): StoredObject {
  const tuple = packr.unpack(bytes) as ObjectTuple;
  const [ra, dec, reliability, ingestTimeUs, eventTimeUs, state, brokers, records, matches, tns] = tuple;
  return {
    diaObjectId,
    position: ra === null || dec === null ? null : { ra, dec },
    reliability,
    ingestTimeUs,
    eventTimeUs,
    state: STATES[state]!,
    brokers,
    records: decodeRecords(records),
    matches: decodeMatches(matches),
    tns: tns && decodeTns(tns),
  };
}

function decodeRecords(flat: readonly unknown[]): CrossmatchRecord[] {
  const records: CrossmatchRecord[] = [];
  for (let i = 0; i < flat.length; i += 5) {
    const outcomes = flat[i + 4] as (string | number)[];
    const catalogOutcomes: [string, RecordedOutcome][] = [];
    for (let j = 0; j < outcomes.length; j += 2) {
      catalogOutcomes.push([outcomes[j] as string, RECORDED_OUTCOMES[outcomes[j + 1] as number]!]);
    }
    records.push({
      matchVersion: flat[i] as number,
      crossmatchedAtUs: flat[i + 1] as number,
      provenanceSet: flat[i + 2] as number,
      brokersAtCrossmatch: flat[i + 3] as string[],
      catalogOutcomes,
    });
  }
  return records;
}

function decodeMatches(flat: readonly unknown[]): MatchSummary[] {
  const matches: MatchSummary[] = [];
  for (let i = 0; i < flat.length; i += 4) {
    matches.push({
      matchVersion: flat[i] as number,
      catalogName: flat[i + 1] as string,
      catalogSourceId: flat[i + 2] as string,
      separationArcsec: flat[i + 3] as number,
    });
  }
  return matches;
}

function encodeTns(tns: TnsAssociation): unknown[] {
  return [
    tns.checked,
    tns.snapshotEpochUs,
    tns.objid,
    tns.name,
    tns.namePrefix,
    tns.classification,
    tns.redshift,
    tns.separationArcsec,
  ];
}

function decodeTns(tuple: readonly unknown[]): TnsAssociation {
  const [checked, snapshotEpochUs, objid, name, namePrefix, classification, redshift, separationArcsec] = tuple;
  return {
    checked,
    snapshotEpochUs,
    objid,
    name,
    namePrefix,
    classification,
    redshift,
    separationArcsec,
  } as TnsAssociation;
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

/** @param keysOf gives the key list of an ordinal */
export function decodeSources(bytes: Uint8Array, keysOf: (ordinal: number) => readonly string[]): MatchSource[] {
  const flat = packr.unpack(bytes) as unknown[];
  const sources: MatchSource[] = [];
  for (let i = 0; i < flat.length; i += 4) {
    const ordinal = flat[i + 2] as number | null;
    const payload = ordinal === null ? null : zip(keysOf(ordinal), flat[i + 3] as unknown[]);
    sources.push({ ra: flat[i] as number | null, dec: flat[i + 1] as number | null, payload });
  }
  return sources;
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
