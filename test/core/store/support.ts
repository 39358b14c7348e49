/** Shared by the tests of the store. */
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { publishLoad } from '../../../src/capabilities/names/registry_writer.ts';
import { CountChanges, type StoreCounts } from '../../../src/core/store/counts.ts';
import { copyRecord, putRecord } from '../../../src/core/store/object_tables.ts';
import { decodeObject, encodeKey, encodeObject } from '../../../src/core/store/records.ts';
import { openStore, type Store } from '../../../src/core/store/store.ts';
import type {
  CrossmatchResult,
  Delivery,
  MatchSource,
  ProvenanceSet,
  StoredObject,
} from '../../../src/core/store/types.ts';
import { Writer } from '../../../src/core/store/writer.ts';
import { withDirectory } from '../../directory.ts';

/** Runs a test with a new store, open for writing. */
export function withStore(body: (store: Store, writer: Writer, directory: string) => Promise<void>): Promise<void> {
  return withDirectory(async directory => {
    const store = openStore(directory, 'write');
    try {
      await body(store, new Writer(store), directory);
    } finally {
      await store.close();
    }
  });
}

/** The rejection of a promise, or the error that a function throws. */
export async function failure(action: () => unknown): Promise<Error> {
  try {
    await action();
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error('expected an error, got none');
}

/** The association of an object without a match in the registry. */
export const NO_TNS = {
  objid: null,
  name: null,
  namePrefix: null,
  classification: null,
  redshift: null,
  separationArcsec: null,
};

export function delivery(diaObjectId: bigint, fields: Partial<Delivery> = {}): Delivery {
  return {
    diaObjectId,
    position: { ra: 186.66952249928116, dec: -6.714927120071068 },
    reliability: 0.97,
    eventTimeUs: 1_772_010_265_123_456,
    broker: 'lasair',
    ...fields,
  };
}

export function result(diaObjectId: bigint, sources: readonly MatchSource[] = []): CrossmatchResult {
  return {
    diaObjectId,
    catalogOutcomes: [
      ['gaia_dr3', 'searched'],
      ['des_y6_gold', 'outside_footprint'],
      ['delve_dr3_gold', 'skipped_read_failure'],
      ['skymapper_dr4', 'not_searched_invalid_position'],
    ],
    matches: sources.map((source, i) => {
      return {
        catalogName: 'gaia_dr3',
        catalogSourceId: String(2n ** 62n + BigInt(i)),
        separationArcsec: 0.25 + i,
        source,
      };
    }),
  };
}

/** Stores an object unchanged, in a state that ingest and crossmatch may not produce. */
export function putObject({ databases }: Store, object: StoredObject): void {
  const { diaObjectId, ...fields } = object;
  const key = encodeKey(diaObjectId);
  const before = copyRecord(databases, key);
  databases.objects.transactionSync(() => {
    const counts = new CountChanges();
    counts.changed(before && decodeObject(diaObjectId, before), object);
    counts.store(databases);
    for (const table of [databases.objects, databases.pending]) table.remove(key);
    putRecord(databases, key, encodeObject(fields));
  });
}

/**
 * Changes bytes of the database file, wherever it holds these, as a failing disk would.
 * @param at the place of the byte to be changed among `bytes`
 * @returns puts them back
 */
export function damage(directory: string, bytes: Uint8Array, at: number): () => void {
  const path = join(directory, 'nearsky.mdb');
  const file = readFileSync(path);
  const places: number[] = [];
  for (let place = file.indexOf(bytes); place >= 0; place = file.indexOf(bytes, place + 1)) places.push(place + at);
  if (places.length === 0) throw new Error('the bytes to be damaged are not in the database file');
  const write = (change: number) => {
    const descriptor = openSync(path, 'r+');
    for (const place of places) writeSync(descriptor, Uint8Array.of(file[place]! ^ change), 0, 1, place);
    closeSync(descriptor);
  };
  write(0x10);
  return () => write(0);
}

/** The counts of a store, made of its objects. */
export function recounted(store: Store): StoreCounts {
  const counts = new CountChanges();
  for (const object of store.objects()) counts.changed(undefined, object);
  return counts.total(store.databases.journal.getKeysCount());
}

export const provenance: ProvenanceSet = {
  crossmatch_radius_arcsec: 1,
  catalogs: [{ name: 'gaia_dr3', release: 'Gaia DR3' }],
  reliability_cuts: [
    { broker: 'lasair', min_reliability: 0.6, enforced_by: 'broker', status: 'declared', as_of: '2026-10-01' },
    { broker: 'pittgoogle', min_reliability: 0.6, enforced_by: 'service', status: 'service_setting', as_of: null },
  ],
};

/** Stores 900 objects, matches of most of them, and a registry. */
export async function fill(_: Store, writer: Writer): Promise<void> {
  const ids = Array.from({ length: 900 }, (_, i) => BigInt(i * 7919));
  for (let from = 0; from < ids.length; from += 300) {
    const some = ids.slice(from, from + 300);
    await writer.ingest(
      some.map((id, i) => delivery(id, { eventTimeUs: 1e15 + i })),
      1.7e15 + from,
    );
    const source = { ra: 1, dec: 2, payload: { parallax: 0.5, text: 'x'.repeat(100) } };
    const results = some.filter((_, i) => i % 5).map((id, i) => result(id, i % 2 ? [source] : []));
    await writer.recordCrossmatches(results, provenance, 1.71e15);
  }
  const load = await writer.commit({ kind: 'begin_registry' });
  const names = Array.from({ length: 200 }, (_, objid) => ({ objid, name: `2026a${objid}`, namePrefix: 'AT' }));
  const rest = { ra: 1, dec: 2, classification: null, redshift: null };
  await writer.commit({ kind: 'stage_registry', load, records: names.map(name => ({ ...name, ...rest })) });
  await publishLoad(writer, load, 1.7e15);
}
