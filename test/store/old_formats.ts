/** Data directories as earlier releases left them. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { open, type RootDatabase } from 'lmdb';
import { records } from '../../src/store/object_tables.ts';
import { encodeKey, encodePlain, RECORDED_OUTCOMES } from '../../src/store/records.ts';
import type { Store } from '../../src/store/store.ts';
import { Table } from '../../src/store/table.ts';
import type { StoredObject } from '../../src/store/types.ts';

const NOTHING = new Uint8Array(0);
/** The tables whose values are the same in every format. */
const UNCHANGED = ['sources', 'provenance_sets', 'payload_keys', 'catalogs'] as const;
/** The tables in today's form, but for their checksums. */
const SINCE_3 = ['journal', 'positions'] as const;
/** Format 1 had no listing by time, no registry, and no latest ingest time. */
const SINCE_2 = ['recent_ingest', 'recent_event', 'tns_objects', 'tns_names'] as const;

export type OldFormat = 1 | 2 | 3 | 4 | 5 | 6 | 8;

/**
 * Makes an old directory from the contents of a current store. Format 2 had no position table: its journal named the
 * ids that a commit stored. Format 3 had no checksums, format 4 no listing by source, format 6 no listing of every
 * object by time. Format 8 had the records of pending objects among the others.
 */
export async function writeOldFormat(store: Store, directory: string, format: OldFormat): Promise<void> {
  mkdirSync(directory);
  const binary = { keyEncoding: 'binary', encoding: 'binary' } as const;
  const path = join(directory, 'nearsky.mdb');
  if (format >= 4) await store.copyTo(path);
  const root = open<Uint8Array, Uint8Array>({ path, overlappingSync: false, maxDbs: 24, ...binary });
  const meta = root.openDB<Uint8Array, Uint8Array>('meta', binary);
  await meta.put(new TextEncoder().encode('created'), encodePlain('2026-10-01T00:00:00.000Z'));
  await meta.put(new TextEncoder().encode('format'), encodePlain(format));
  if (format >= 4) {
    for (const name of format < 7 ? ['objects_by_ingest', 'objects_by_event'] : [])
      await root.openDB(name, binary).drop();
    putPendingAmongOthers(root);
    if (format === 4) await root.openDB('matches_by_source', binary).drop();
    await root.close();
    return;
  }
  for (const name of [...UNCHANGED, ...(format > 1 ? SINCE_2 : []), ...(format > 2 ? SINCE_3 : [])]) {
    const database = root.openDB<Uint8Array, Uint8Array>(name, binary);
    for (const { key, value } of store.databases[name].getRange({})) await database.put(key, value);
  }
  const pending = root.openDB<Uint8Array, Uint8Array>('pending', binary);
  for (const key of store.databases.pending.getKeys()) await pending.put(key, NOTHING);
  if (format > 2) {
    const objects = root.openDB<Uint8Array, Uint8Array>('objects', binary);
    for (const { key, value } of records(store.databases)) await objects.put(key, value);
  }
  for (const name of format > 1 ? ['latest_ingest', 'counters'] : []) {
    const key = new TextEncoder().encode(name);
    const value = store.databases.meta.get(key);
    if (value) await meta.put(key, value);
  }
  if (format < 3) await writeUpTo2(root, store);
  await root.flushed;
  await root.close();
}

function putPendingAmongOthers(root: RootDatabase<Uint8Array, Uint8Array>): void {
  const tableOf = (name: string, isSealed: boolean) =>
    new Table(name, root.openDB<Uint8Array, Uint8Array>(name, { keyEncoding: 'binary', encoding: 'binary' }), isSealed);
  const objects = tableOf('objects', true);
  const ids = tableOf('pending', false);
  objects.transactionSync(() => {
    for (const { key, value } of [...tableOf('pending', true).getRange()]) {
      objects.put(key, value);
      ids.put(key, NOTHING);
    }
  });
}

async function writeUpTo2(root: RootDatabase<Uint8Array, Uint8Array>, store: Store): Promise<void> {
  const binary = { keyEncoding: 'binary', encoding: 'binary' } as const;
  const objects = root.openDB<Uint8Array, Uint8Array>('objects', binary);
  for (const object of store.objects()) await objects.put(encodeKey(object.diaObjectId), objectOfFormat2(object));
  const journal = root.openDB<Uint8Array, Uint8Array>('journal', binary);
  for (const { sequence, stored, delivered, crossmatched } of store.journalAfter(0)) {
    await journal.put(encodeKey(BigInt(sequence)), encodePlain([stored, delivered, crossmatched]));
  }
}

function objectOfFormat2({
  position,
  reliability,
  ingestTimeUs,
  eventTimeUs,
  state,
  ...object
}: StoredObject): Uint8Array {
  const { brokers, records, matches, tns } = object;
  return encodePlain([
    position?.ra ?? null,
    position?.dec ?? null,
    reliability,
    ingestTimeUs,
    eventTimeUs,
    state === 'pending' ? 0 : 1,
    brokers,
    records.flatMap(record => [
      record.matchVersion,
      record.crossmatchedAtUs,
      record.provenanceSet,
      record.brokersAtCrossmatch,
      record.catalogOutcomes.flatMap(([name, outcome]) => [name, RECORDED_OUTCOMES.indexOf(outcome)]),
    ]),
    matches.flatMap(match => [match.matchVersion, match.catalogName, match.catalogSourceId, match.separationArcsec]),
    tns && [
      tns.checked,
      tns.snapshotEpochUs,
      tns.objid,
      tns.name,
      tns.namePrefix,
      tns.classification,
      tns.redshift,
      tns.separationArcsec,
    ],
  ]);
}
