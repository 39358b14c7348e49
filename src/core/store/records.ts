/**
 * The bytes of every stored key and value; only this file, and `object_record.ts` for objects, know them. A value is a
 * msgpack array of positional fields, without shared structures; only a catalog registration is a map.
 */
import { createHash } from 'node:crypto';
import { CANONICAL, toJson } from '@nearsky/astrotables/json';
import { Packr } from 'msgpackr';
import type { Table } from './table.ts';
import type {
  CatalogRelease,
  CrossmatchVersions,
  DeliverySource,
  JournalEntry,
  MatchSource,
  PackedSource,
  ProvenanceSet,
  Removal,
  TnsRecord,
} from './types.ts';

export { decodeObject, encodeNewObject, encodeObject, RECORDED_OUTCOMES } from './object_record.ts';

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

/**
 * The key for an id, a sequence number or an ordinal, 0 to 2^63 - 1: eight bytes, big-endian, so that key order is
 * numeric order.
 */
export function encodeKey(id: bigint): Uint8Array {
  const key = new Uint8Array(8);
  scratchView.setBigInt64(0, id);
  key.set(scratch);
  return key;
}

/**
 * Like `encodeKey`, but in one buffer that the next call of these three overwrites. Only for a read that copies the key
 * at once.
 */
export function scratchKey(id: bigint): Uint8Array {
  scratchView.setBigInt64(0, id);
  return scratch;
}

export function decodeKey(key: Uint8Array): bigint {
  scratch.set(key);
  return scratchView.getBigInt64(0);
}

/** The highest key of a table that is keyed by ordinals; 0 when it is empty. */
export function lastOrdinal(table: Table, options?: object): number {
  for (const key of table.getKeys({ ...options, reverse: true, limit: 1 })) return Number(decodeKey(key));
  return 0;
}

const LATEST = 2n ** 63n - 1n;
const timeScratch = new DataView(new ArrayBuffer(16));
const timeBytes = new Uint8Array(timeScratch.buffer);

/**
 * The key for a time and an id. Ascending keys go from the latest time to the earliest; for equal times, ids ascend.
 */
export function encodeTimeKey(timeUs: number, id: bigint): Uint8Array {
  // The bytes of LATEST - timeUs, written in two halves, because a bigint would take several times as long.
  const high = Math.floor(timeUs / 2 ** 32);
  timeScratch.setUint32(0, 0x7fff_ffff - high);
  timeScratch.setUint32(4, 0xffff_ffff - (timeUs - high * 2 ** 32));
  timeScratch.setBigUint64(8, id);
  // V8 keeps such a small array on its heap, which is many times faster than a separate ArrayBuffer.
  const key = new Uint8Array(16);
  key.set(timeBytes);
  return key;
}

export function decodeTimeKey(key: Uint8Array): { readonly timeUs: number; readonly diaObjectId: bigint } {
  const view = new DataView(key.buffer, key.byteOffset, 16);
  return { timeUs: Number(LATEST - view.getBigUint64(0)), diaObjectId: view.getBigUint64(8) };
}

/**
 * The complement of `encodeTimeKey`: descending keys go from the latest time to the earliest; for equal times, ids
 * ascend.
 */
export function encodeRisingKey(timeUs: number, id: bigint): Uint8Array {
  return complement(encodeTimeKey(timeUs, id));
}

export function decodeRisingKey(key: Uint8Array): { readonly timeUs: number; readonly diaObjectId: bigint } {
  return decodeTimeKey(complement(Uint8Array.from(key)));
}

function complement(key: Uint8Array): Uint8Array {
  for (let i = 0; i < key.length; i++) key[i]! ^= 0xff;
  return key;
}

export function encodeTimeValue(timeUs: number): Uint8Array {
  return encodeKey(BigInt(timeUs));
}

export function decodeTimeValue(bytes: Uint8Array): number {
  return Number(decodeKey(bytes.subarray(0, 8)));
}

/**
 * Flat, four values per source: ra, dec, ordinal of the payload's key list or null, payload values. All payloads of a
 * catalog have the same keys, so the key list is stored once: `ordinalOf` returns its ordinal, and stores a new list.
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

const SOURCE_FIELDS = 4;

/** ra and dec take nine bytes each, the ordinal five, whatever their values. */
const ORDINAL_AT = 18;
const PLACE_BYTES = 23;
const [FLOAT64, UINT32] = [0xcb, 0xce];

/** The bytes of a source, for a `PackedSource`; ra and dec in degrees, the values in the order of the keys. */
export function packSource(ra: number, dec: number, values: readonly unknown[]): Uint8Array {
  const packedValues = packr.pack(values);
  const packed = new Uint8Array(PLACE_BYTES + packedValues.length);
  const view = new DataView(packed.buffer);
  packed[0] = FLOAT64;
  view.setFloat64(1, ra);
  packed[9] = FLOAT64;
  view.setFloat64(10, dec);
  packed[ORDINAL_AT] = UINT32;
  packed.set(packedValues, PLACE_BYTES);
  return packed;
}

/**
 * Stored sources with further ones appended, encoded as by `encodeSources`.
 * @param stored undefined if there are none
 */
export function appendSources(
  stored: Uint8Array | undefined,
  sources: readonly (MatchSource | PackedSource)[],
  ordinalOf: (keys: readonly string[]) => number,
): Uint8Array {
  const further = sources.map(source => {
    if (!('packed' in source)) return withoutHeader(encodeSources([source], ordinalOf)).fields;
    const { keys, packed } = source;
    new DataView(packed.buffer, packed.byteOffset).setUint32(ORDINAL_AT + 1, ordinalOf(keys));
    return packed;
  });
  const before = stored ? withoutHeader(stored) : { count: 0, fields: NO_FIELDS };
  return Buffer.concat([header(before.count + SOURCE_FIELDS * sources.length), before.fields, ...further]);
}

const NO_FIELDS = new Uint8Array(0);
const [FIXED_ARRAY, ARRAY16, ARRAY32] = [0x90, 0xdc, 0xdd];
const MAX_FIXED = 15;

/** The header of a msgpack array. */
function header(count: number): Uint8Array {
  if (count <= MAX_FIXED) return Uint8Array.of(FIXED_ARRAY | count);
  const bytes = new DataView(new ArrayBuffer(5));
  bytes.setUint8(0, ARRAY32);
  bytes.setUint32(1, count);
  return new Uint8Array(bytes.buffer);
}

/** The contents of a msgpack array: the number of values, and their bytes. */
function withoutHeader(array: Uint8Array): { readonly count: number; readonly fields: Uint8Array } {
  const view = new DataView(array.buffer, array.byteOffset, array.byteLength);
  const first = array[0]!;
  if (first === ARRAY16) return { count: view.getUint16(1), fields: array.subarray(3) };
  if (first === ARRAY32) return { count: view.getUint32(1), fields: array.subarray(5) };
  return { count: first & MAX_FIXED, fields: array.subarray(1) };
}

/** A stored source. Its payload keys are given by the ordinal of their list; null without a payload. */
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

/** @param keysOf returns the key list of an ordinal */
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

/** The objid is stored in the key only. */
export function encodeTnsRecord(record: TnsRecord): Uint8Array {
  const { name, namePrefix, ra, dec, classification, redshift, createdUs } = record;
  const fields = [name, namePrefix, ra, dec, classification, redshift];
  return packr.pack(createdUs === undefined ? fields : [...fields, createdUs]);
}

export function decodeTnsRecord(objid: number, bytes: Uint8Array): TnsRecord {
  const [name, namePrefix, ra, dec, classification, redshift, createdUs] = packr.unpack(bytes);
  const record = { objid, name, namePrefix, ra, dec, classification, redshift };
  return createdUs === undefined ? record : { ...record, createdUs };
}

/** The process that has claimed pending objects for crossmatching, and these objects. */
interface ClaimRecord {
  readonly pid: number;
  readonly ids: readonly bigint[];
  /** The outcome that another process left for the claiming process: see `passOutcome`. */
  readonly outcome?: unknown;
}

export function encodeClaim({ pid, ids, outcome }: ClaimRecord): Uint8Array {
  return packr.pack(outcome === undefined ? [pid, ids] : [pid, ids, outcome]);
}

export function decodeClaim(bytes: Uint8Array): ClaimRecord {
  const [pid, ids, outcome] = packr.unpack(bytes) as [number, bigint[], unknown?];
  return outcome === undefined ? { pid, ids } : { pid, ids, outcome };
}

/** The state of the position table. */
export interface TableState {
  readonly rows: number;
  /** The digest of all rows, in their order; see `appendPositions`. */
  readonly digest: Uint8Array;
}

/** The digest of a table without rows. */
export const EMPTY_TABLE: TableState = { rows: 0, digest: new Uint8Array(16) };

/**
 * A stored journal entry, with the state of the position table after the commit. The commit's rows are the last ones of
 * the table.
 */
export type JournalRecord = Pick<JournalEntry, 'delivered' | 'crossmatched'> & {
  readonly table: TableState;
  readonly versions?: CrossmatchVersions;
  readonly removal?: Removal | undefined;
  readonly source?: DeliverySource | undefined;
};

type PackedRemoval = [
  timeUs: number,
  reason: string,
  previous: number,
  [id: bigint, ra: number | null, dec: number | null, ingestTimeUs: number][],
];

/** An entry has the crossmatches of a commit, a removal, or the source of deliveries. */
type PackedJournal = [
  delivered: bigint[],
  crossmatched: bigint[],
  versions?: CrossmatchVersions,
  removal?: PackedRemoval | null,
  source?: [timeUs: number, brokers: string | string[]],
];

const TABLE_STATE_BYTES = 8 + EMPTY_TABLE.digest.length;

/**
 * The table's state comes first, at fixed offsets, because it is read far more often than the rest. A msgpack array
 * follows.
 */
export function encodeJournal({ table, delivered, crossmatched, ...rest }: JournalRecord): Uint8Array {
  const { versions, removal, source } = rest;
  const further = source
    ? [[], null, [source.timeUs, source.brokers]]
    : removal
      ? [[], packedRemoval(removal)]
      : versions === undefined
        ? []
        : [versions];
  const ids = packr.pack([delivered, crossmatched, ...further]);
  const bytes = new Uint8Array(TABLE_STATE_BYTES + ids.length);
  new DataView(bytes.buffer).setFloat64(0, table.rows);
  bytes.set(table.digest, 8);
  bytes.set(ids, TABLE_STATE_BYTES);
  return bytes;
}

export function decodeJournal(bytes: Uint8Array): JournalRecord {
  const [delivered, crossmatched, versions, removal, source] = packr.unpack(
    bytes.subarray(TABLE_STATE_BYTES),
  ) as PackedJournal;
  return {
    table: decodeTableState(bytes),
    delivered,
    crossmatched,
    versions,
    removal: removal ? removalOf(removal) : undefined,
    source: source && { timeUs: source[0], brokers: source[1] },
  };
}

function packedRemoval({ timeUs, reason, previous, objects }: Removal): PackedRemoval {
  return [
    timeUs,
    reason,
    previous,
    objects.map(({ diaObjectId, position, ingestTimeUs }) => {
      return [diaObjectId, position?.ra ?? null, position?.dec ?? null, ingestTimeUs];
    }),
  ];
}

function removalOf([timeUs, reason, previous, packed]: PackedRemoval): Removal {
  const objects = packed.map(([diaObjectId, ra, dec, ingestTimeUs]) => {
    return { diaObjectId, position: ra === null || dec === null ? null : { ra, dec }, ingestTimeUs };
  });
  return { timeUs, reason, previous, objects };
}

/** The table's state of a journal entry, whose bytes may be overwritten afterwards. */
export function decodeTableState(bytes: Uint8Array): TableState {
  const rows = new DataView(bytes.buffer, bytes.byteOffset).getFloat64(0);
  return { rows, digest: new Uint8Array(bytes.subarray(8, TABLE_STATE_BYTES)) };
}

/** SHA-256 of the set's canonical JSON, as 64 lowercase hex digits. Equal sets have equal hashes. */
export function provenanceHash(set: ProvenanceSet): string {
  return createHash('sha256').update(toJson(set, CANONICAL)).digest('hex');
}

export function encodeProvenanceSet(set: ProvenanceSet): Uint8Array {
  return packr.pack([
    provenanceHash(set),
    set.crossmatch_radius_arcsec,
    set.catalogs.map(packedRelease),
    set.reliability_cuts.map(cut => [cut.broker, cut.min_reliability, cut.enforced_by, cut.status, cut.as_of]),
  ]);
}

/** Entries as short as possible: most catalogs have neither motions nor a radius of their own. */
function packedRelease({ name, release, proper_motion, radius_arcsec, radius_column }: CatalogRelease) {
  const moves = proper_motion ?? false;
  if (radius_column !== undefined) return [name, release, moves, radius_arcsec, radius_column];
  if (radius_arcsec !== undefined) return [name, release, moves, radius_arcsec];
  return moves ? [name, release, true] : [name, release];
}

/** A provenance set with the hash of its content (see `provenanceHash`). */
export interface HashedProvenanceSet {
  readonly hash: string;
  readonly set: ProvenanceSet;
}

export function decodeProvenanceSet(bytes: Uint8Array): HashedProvenanceSet {
  const [hash, radius, catalogs, cuts] = packr.unpack(bytes) as [string, number | null, unknown[][], unknown[][]];
  const set: unknown = {
    crossmatch_radius_arcsec: radius,
    catalogs: catalogs.map(([name, release, moves, radius_arcsec, radius_column]) => ({
      name,
      release,
      ...(moves === true && { proper_motion: true }),
      ...(radius_arcsec !== undefined && { radius_arcsec }),
      ...(radius_column !== undefined && { radius_column }),
    })),
    reliability_cuts: cuts.map(([broker, min_reliability, enforced_by, status, as_of]) => {
      return { broker, min_reliability, enforced_by, status, as_of };
    }),
  };
  return { hash, set: set as ProvenanceSet };
}
