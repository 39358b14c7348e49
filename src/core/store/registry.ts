/**
 * The snapshot of the TNS registry. A load stages its objects under its own number; one commit then makes them the
 * snapshot. Readers see the former snapshot or the new one, never a mix. A load of any size is a series of small
 * commits. Changes to the published snapshot are one commit with their new epoch.
 */
import type { Databases } from './databases.ts';
import { MetaValue } from './meta.ts';
import { decodeKey, decodeTnsRecord, encodeKey, encodeTnsRecord } from './records.ts';
import { DamagedValue, RefusedChange } from './store_error.ts';
import { inOrder } from './table.ts';
import type { TnsRecord } from './types.ts';

const utf8 = new TextEncoder();

/** The HTTP validators of a downloaded file, for asking the server for a newer one. */
export interface Validators {
  readonly etag: string | null;
  readonly lastModified: string | null;
}

/** The published snapshot. Two snapshots with the same load and revision have the same objects. */
export interface RegistrySnapshot {
  /** The number of its load. */
  readonly load: number;
  /** The number of its changes since then. */
  readonly revision: number;
  /** The time at which the registry was in this state; microseconds since 1970. */
  readonly epochUs: number;
  /** The epoch of the whole file with which the load began. */
  readonly fileEpochUs: number;
  /** The validators of that file, if it was downloaded. */
  readonly validators: Validators | null;
}

/** The read transaction to use; by default the current one. */
export interface ReadOptions {
  readonly transaction?: object;
}

type SnapshotTuple = [
  load: number,
  epochUs: number,
  revision: number,
  fileEpochUs: number,
  validators: readonly [etag: string | null, lastModified: string | null] | null,
];

const stored = new MetaValue<SnapshotTuple>('tns_snapshot');
const lastLoad = new MetaValue<number>('tns_last_load');

export function readRegistrySnapshot(databases: Databases, options?: ReadOptions): RegistrySnapshot | undefined {
  const tuple = stored.read(databases, options);
  if (!tuple) return undefined;
  const [load, epochUs, revision, fileEpochUs, validators] = tuple;
  return {
    load,
    epochUs,
    revision,
    fileEpochUs,
    validators: validators && { etag: validators[0], lastModified: validators[1] },
  };
}

function writeSnapshot(databases: Databases, snapshot: RegistrySnapshot): void {
  const { load, epochUs, revision, fileEpochUs, validators } = snapshot;
  const packed = validators && ([validators.etag, validators.lastModified] as const);
  stored.write(databases, [load, epochUs, revision, fileEpochUs, packed]);
}

/** The epoch of the published snapshot, microseconds since 1970; null if there is none. */
export const readRegistryEpochUs = (databases: Databases, options?: ReadOptions) =>
  readRegistrySnapshot(databases, options)?.epochUs ?? null;

/**
 * The object of the published snapshot with this name. If there are several, the one with the lowest objid.
 * @param name bare and lowercase, as from `parseTnsName`
 * @param prefix the required prefix, in capitals; null if any prefix is accepted
 */
export function findByName(databases: Databases, name: string, prefix: string | null = null): TnsRecord | undefined {
  const snapshot = readRegistrySnapshot(databases);
  if (!snapshot) return undefined;
  const range = {
    start: registryNameKey(snapshot.load, name, 0n),
    end: registryNameKey(snapshot.load, name, 2n ** 63n),
  };
  for (const key of databases.tns_names.getKeys(range)) {
    const objid = decodeKey(key.subarray(-8));
    const record = findInLoad(databases, snapshot.load, Number(objid));
    if (record?.name.toLowerCase() !== name)
      throw new DamagedValue(`the name ${JSON.stringify(name)} of the TNS registry`);
    if (prefix === null || record.namePrefix?.toUpperCase() === prefix) return record;
  }
  return undefined;
}

/** The object of the published snapshot with this objid. */
export function findByObjid(databases: Databases, objid: number): TnsRecord | undefined {
  const snapshot = readRegistrySnapshot(databases);
  return snapshot && findInLoad(databases, snapshot.load, objid);
}

function findInLoad(databases: Databases, load: number, objid: number): TnsRecord | undefined {
  const bytes = databases.tns_objects.get(objectKey(load, BigInt(objid)));
  return bytes && decodeTnsRecord(objid, bytes);
}

/**
 * Every object of the published snapshot, by ascending objid.
 * @param first the lowest objid
 * @throws DamagedValue if they are not ascending
 */
export function* readRegistry(databases: Databases, options?: ReadOptions, first = 0): Iterable<TnsRecord> {
  const snapshot = readRegistrySnapshot(databases, options);
  if (!snapshot) return;
  const range = { start: objectKey(snapshot.load, BigInt(first)), end: objectKey(snapshot.load + 1, 0n), ...options };
  const { tns_objects } = databases;
  for (const { key, value } of inOrder(tns_objects.getRange(range as object), tns_objects.name)) {
    yield decodeTnsRecord(Number(decodeKey(key.subarray(8))), value);
  }
}

/** The number of objects in the published snapshot, or of their names. Counts them, because no total is stored. */
export function countRegistry(
  databases: Databases,
  name: 'tns_objects' | 'tns_names' = 'tns_objects',
  options?: ReadOptions,
): number {
  const snapshot = readRegistrySnapshot(databases, options);
  if (!snapshot) return 0;
  const range = { start: objectKey(snapshot.load, 0n), end: objectKey(snapshot.load + 1, 0n), ...options };
  return databases[name].getKeysCount(range as object);
}

/** Begins a load, and returns its number. Call this in a write transaction, like the functions below. */
export function beginLoad(databases: Databases): number {
  const load = (lastLoad.read(databases) ?? 0) + 1;
  lastLoad.write(databases, load);
  return load;
}

export type StageOutcome = 'added' | 'unchanged' | 'conflict';

/**
 * Adds an object to a load. Returns `conflict` if the load already has another object with that objid; the earlier
 * object stays.
 */
export function stage(databases: Databases, load: number, record: TnsRecord): StageOutcome {
  const staged = databases.tns_objects.get(objectKey(load, BigInt(record.objid)));
  if (staged) return Buffer.compare(staged, encodeTnsRecord(record)) === 0 ? 'unchanged' : 'conflict';
  put(databases, load, record);
  return 'added';
}

/** Adds an object to a load, or replaces the object with the same objid. */
export function change(databases: Databases, load: number, record: TnsRecord): void {
  const known = findInLoad(databases, load, record.objid);
  if (known) databases.tns_names.remove(registryNameKey(load, known.name.toLowerCase(), BigInt(record.objid)));
  put(databases, load, record);
}

function put(databases: Databases, load: number, record: TnsRecord): void {
  const objid = BigInt(record.objid);
  databases.tns_objects.put(objectKey(load, objid), encodeTnsRecord(record));
  databases.tns_names.put(registryNameKey(load, record.name.toLowerCase(), objid), new Uint8Array(0));
}

/**
 * Publishes a load.
 * @param base the snapshot that it must replace (null: none); undefined if it may replace any
 * @throws RefusedChange if a load that began later is already published, or the published snapshot is not `base`
 */
export function publish(
  databases: Databases,
  snapshot: Omit<RegistrySnapshot, 'revision'>,
  base?: RegistrySnapshot | null,
): void {
  const current = readRegistrySnapshot(databases);
  if ((current && current.load > snapshot.load) || (base !== undefined && !isSame(current, base))) {
    throw replacedMeanwhile();
  }
  writeSnapshot(databases, { ...snapshot, revision: 0 });
}

/**
 * Changes the published snapshot and its epoch.
 * @throws RefusedChange if the published snapshot is no longer `base`
 */
export function changePublished(
  databases: Databases,
  base: RegistrySnapshot,
  records: readonly TnsRecord[],
  epochUs: number,
): void {
  if (!isSame(readRegistrySnapshot(databases), base)) throw replacedMeanwhile();
  for (const record of records) change(databases, base.load, record);
  writeSnapshot(databases, { ...base, revision: base.revision + 1, epochUs });
}

/** Whether both have the same objects. */
export function isSame(a: RegistrySnapshot | undefined, b: RegistrySnapshot | null): boolean {
  return a?.load === b?.load && a?.revision === b?.revision;
}

const replacedMeanwhile = () =>
  new RefusedChange('Cannot replace the TNS registry because another load has replaced it meanwhile: load it again');

/**
 * Removes at most `limit` keys of the loads from `first` up to `end`, exclusive; returns the number of removed keys.
 */
export function removeLoads(databases: Databases, first: number, end: number, limit: number): number {
  let removed = 0;
  for (const database of [databases.tns_objects, databases.tns_names]) {
    const range = { start: encodeKey(BigInt(first)), end: encodeKey(BigInt(end)), limit: limit - removed };
    const keys = [...database.getKeys(range)];
    for (const key of keys) database.remove(key);
    removed += keys.length;
    if (removed === limit) break;
  }
  return removed;
}

/** Ascending by load, then objid. */
function objectKey(load: number, objid: bigint): Uint8Array {
  const key = new Uint8Array(16);
  key.set(encodeKey(BigInt(load)));
  key.set(encodeKey(objid), 8);
  return key;
}

/** Ascending by load, then name, then objid; a name has no zero byte. */
export function registryNameKey(load: number, name: string, objid: bigint): Uint8Array {
  const bytes = utf8.encode(name);
  const key = new Uint8Array(8 + bytes.length + 1 + 8);
  key.set(encodeKey(BigInt(load)));
  key.set(bytes, 8);
  key.set(encodeKey(objid), 8 + bytes.length + 1);
  return key;
}
