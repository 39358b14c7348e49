/**
 * The snapshot of the TNS registry. A load stages its objects under a number of its own and then publishes them in one commit, so that
 * readers see the former snapshot or the new one, never a mix, and a load of any size is a row of small commits.
 */
import { type Databases, StoreError } from './environment.ts';
import { decodeKey, decodePlain, decodeTnsRecord, encodeKey, encodePlain, encodeTnsRecord } from './records.ts';
import type { TnsRecord } from './types.ts';

const utf8 = new TextEncoder();
const SNAPSHOT_KEY = utf8.encode('tns_snapshot');
const LAST_LOAD_KEY = utf8.encode('tns_last_load');

/** What is published: the number of its load and its epoch. */
interface Snapshot {
  readonly load: number;
  readonly epochUs: number;
}

/** A read transaction to read in, where it is not the current one. */
export interface ReadOptions {
  readonly transaction?: object;
}

export function readSnapshot({ meta }: Databases, options?: ReadOptions): Snapshot | undefined {
  const bytes = meta.get(SNAPSHOT_KEY, options as object);
  if (!bytes) return undefined;
  const [load, epochUs] = decodePlain(bytes) as [number, number];
  return { load, epochUs };
}

/** The object of the published snapshot whose name, lowercased, is this; of several the one with the lowest objid. */
export function findByName(databases: Databases, name: string): TnsRecord | undefined {
  const snapshot = readSnapshot(databases);
  if (!snapshot) return undefined;
  const range = { start: nameKey(snapshot.load, name, 0n), end: nameKey(snapshot.load, name, 2n ** 63n), limit: 1 };
  for (const key of databases.tns_names.getKeys(range)) {
    const objid = decodeKey(key.subarray(-8));
    return decodeTnsRecord(Number(objid), databases.tns_objects.get(objectKey(snapshot.load, objid))!);
  }
  return undefined;
}

/** Every object of the published snapshot, by ascending objid. */
export function* readRegistry(databases: Databases, options?: ReadOptions): Iterable<TnsRecord> {
  const snapshot = readSnapshot(databases, options);
  if (!snapshot) return;
  const range = { start: objectKey(snapshot.load, 0n), end: objectKey(snapshot.load + 1, 0n), ...options };
  for (const { key, value } of databases.tns_objects.getRange(range as object)) {
    yield decodeTnsRecord(Number(decodeKey(key.subarray(8))), value);
  }
}

/** The number of a new load. This and the functions below are to be called in a write transaction. */
export function beginLoad({ meta }: Databases): number {
  const bytes = meta.get(LAST_LOAD_KEY);
  const load = (bytes ? (decodePlain(bytes) as number) : 0) + 1;
  meta.put(LAST_LOAD_KEY, encodePlain(load));
  return load;
}

/** What became of an object that was to be added to a load. */
export type StageOutcome = 'added' | 'unchanged' | 'conflict';

/** Adds an object to a load; `conflict` where the load holds another one of that objid, which then stays. */
export function stage(databases: Databases, load: number, record: TnsRecord): StageOutcome {
  const objid = BigInt(record.objid);
  const key = objectKey(load, objid);
  const value = encodeTnsRecord(record);
  const staged = databases.tns_objects.get(key);
  if (staged) return Buffer.compare(staged, value) === 0 ? 'unchanged' : 'conflict';
  databases.tns_objects.put(key, value);
  databases.tns_names.put(nameKey(load, record.name.toLowerCase(), objid), new Uint8Array(0));
  return 'added';
}

/** @throws StoreError when a load that began later is published already */
export function publish(databases: Databases, load: number, epochUs: number): void {
  const current = readSnapshot(databases);
  if (current && current.load > load) {
    throw new StoreError('Cannot replace the TNS registry as another load did so meanwhile: load it again');
  }
  databases.meta.put(SNAPSHOT_KEY, encodePlain([load, epochUs]));
}

/** Removes at most `limit` keys of the loads from `first` up to `end`, exclusive; how many there were. */
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
function nameKey(load: number, name: string, objid: bigint): Uint8Array {
  const bytes = utf8.encode(name);
  const key = new Uint8Array(8 + bytes.length + 1 + 8);
  key.set(encodeKey(BigInt(load)));
  key.set(bytes, 8);
  key.set(encodeKey(objid), 8 + bytes.length + 1);
  return key;
}
