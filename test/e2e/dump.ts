/**
 * Everything that a store contains, as plain data to compare; and the checks that any store must pass at any moment.
 */
import * as assert from 'uvu/assert';
import { openStore, type Store } from '../../src/core/store/store.ts';

export interface Dump {
  /** By id: everything of the object but the times at which it was stored and crossmatched. */
  readonly objects: ReadonlyMap<string, string>;
  readonly pending: ReadonlySet<string>;
  readonly journal: { readonly stored: string[]; readonly delivered: string[]; readonly crossmatched: string[] };
}

const text = (value: unknown) => JSON.stringify(value, (_key, v) => (typeof v === 'bigint' ? `${v}n` : v));

/** Opens the data directory, checks it, dumps it and closes it. */
export async function readDump(dataDir: string): Promise<Dump> {
  const store = openStore(dataDir, 'read');
  try {
    return dump(store);
  } finally {
    await store.close();
  }
}

/** By id: everything of each object but the times at which it was stored and crossmatched. */
export function objectsIn(store: Store): Map<string, string> {
  const objects = new Map<string, string>();
  for (const object of store.objects()) {
    const { ingestTimeUs, records, ...rest } = object;
    const sources = store.getSources(object.diaObjectId);
    assert.is(sources.length, object.matches.length, `${object.diaObjectId}: a source for each match`);
    assert.is(records.length > 0, object.state === 'crossmatched', `${object.diaObjectId}: a record with the state`);
    assert.ok(ingestTimeUs > 0);
    const provenance = records.map(record => store.provenanceSet(record.provenanceSet).hash);
    const timeless = records.map(({ crossmatchedAtUs: _, provenanceSet: __, ...record }) => record);
    objects.set(String(object.diaObjectId), text({ ...rest, records: timeless, provenance, sources }));
  }
  return objects;
}

function dump(store: Store): Dump {
  const objects = objectsIn(store);
  const pending = new Set(store.pendingIds(Number.MAX_SAFE_INTEGER).map(String));
  const awaiting: string[] = [];
  const crossmatched: string[] = [];
  for (const { diaObjectId, state, records } of store.objects()) {
    if (state === 'pending') awaiting.push(String(diaObjectId));
    crossmatched.push(...records.map(() => String(diaObjectId)));
  }
  assert.equal(awaiting, [...pending], 'what is pending is listed as pending, once');
  const journal = readJournal(store);
  assert.equal(sorted(journal.stored), sorted([...objects.keys()]), 'the journal names each object once');
  const further = [...objects].flatMap(([id, object]) =>
    (JSON.parse(object).brokers as string[]).slice(1).map(() => id),
  );
  assert.equal(sorted(journal.delivered), sorted(further), 'the journal names each further broker once');
  assert.equal(sorted(journal.crossmatched), sorted(crossmatched), 'the journal names each recorded crossmatch once');
  return { objects, pending, journal };
}

const sorted = (ids: readonly string[]) => [...ids].sort();

function readJournal(store: Store): Dump['journal'] {
  const journal: Dump['journal'] = { stored: [], delivered: [], crossmatched: [] };
  const entries = store.journalAfter(0, Number.MAX_SAFE_INTEGER);
  assert.equal(
    entries.map(entry => entry.sequence),
    entries.map((_, i) => i + 1),
    'the journal has no gaps',
  );
  for (const entry of entries)
    for (const kind of ['stored', 'delivered', 'crossmatched'] as const) journal[kind].push(...entry[kind].map(String));
  return journal;
}
