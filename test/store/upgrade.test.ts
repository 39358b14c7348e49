/** A data directory of format 1 becomes one of format 2. */
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openStore, type Store, StoreError } from '../../src/store/store.ts';
import { Writer } from '../../src/store/writer.ts';
import { withDirectory } from '../e2e/support.ts';
import { writeFormat1 } from './format1.ts';
import { delivery, failure, provenance, result, startScript } from './support.ts';

const test = suite('upgrade');

const always = { startUs: 0, endUs: 2 ** 53, asOfUs: 2 ** 53, limit: 1000 };
const everything = (store: Store) => [
  [...store.objects()],
  [...store.objects()].map(({ diaObjectId }) => store.getSources(diaObjectId)),
  store.journalAfter(0),
  store.pendingIds(1000),
  store.recent({ timeField: 'ingest_time', ...always }),
  store.recent({ timeField: 'event_time', ...always }),
  store.latestIngestTimeUs(),
  store.tnsSnapshotEpochUs(),
];

/** Fills `directory` with objects of every status and gives what its store holds. */
async function fill(directory: string, old: string): Promise<unknown[]> {
  const store = openStore(directory, 'write');
  const writer = new Writer(store);
  const ids = Array.from({ length: 300 }, (_, i) => BigInt(i));
  for (const [i, id] of ids.entries())
    await writer.ingest([delivery(id, { eventTimeUs: 1e15 + (i % 7) })], 1_000_000 + (i % 5));
  const source = { ra: 1, dec: 2, payload: { parallax: 0.5 } };
  const results = ids.slice(0, 200).map((id, i) => result(id, i % 2 ? [source] : []));
  await writer.recordCrossmatches(results, provenance, 2_000_000);
  const held = everything(store);
  await writeFormat1(store, old);
  await store.close();
  return held;
}

test('opening format 1 for writing upgrades it to what today would have stored', () =>
  withDirectory(async directory => {
    const old = join(directory, 'old');
    const expected = await fill(join(directory, 'new'), old);
    const error = await failure(() => openStore(old, 'read'));
    assert.instance(error, StoreError);
    assert.match(error.message, /its format is 1, older than 2: run `nearsky import --data \S+old \/dev\/null` once/);
    for (const mode of ['write', 'read'] as const) {
      const store = openStore(old, mode);
      assert.equal(everything(store), expected);
      await store.close();
    }
    const store = openStore(old, 'write');
    await new Writer(store).ingest([delivery(1000n)], 9_000_000);
    assert.is(store.latestIngestTimeUs(), 9_000_000);
    await store.close();
  }));

test('two processes may upgrade it at once', () =>
  withDirectory(async directory => {
    const old = join(directory, 'old');
    const expected = await fill(join(directory, 'new'), old);
    const script = new URL('./upgrade_process.ts', import.meta.url);
    const ended = await Promise.all([1, 2].map(() => startScript(script, [old]).ended));
    assert.equal(
      ended.map(({ code }) => code),
      [0, 0],
    );
    const store = openStore(old, 'read');
    assert.equal(everything(store), expected);
    await store.close();
  }));

test.run();
