/** A data directory of an older format becomes one of today's. */
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { FORMAT_VERSION, openStore, type Store, StoreError } from '../../src/store/store.ts';
import { Writer } from '../../src/store/writer.ts';
import { withDirectory } from '../directory.ts';
import { type OldFormat, writeOldFormat } from './old_formats.ts';
import { startScript } from './script.ts';
import { delivery, failure, provenance, putObject, recounted, result } from './support.ts';

const test = suite('upgrade');

const always = { startUs: 0, endUs: 2 ** 53, asOfUs: 2 ** 53, limit: 1000 };
const everything = (store: Store) => [
  [...store.objects()],
  [...store.objects()].map(({ diaObjectId }) => store.getSources(diaObjectId)),
  store.journalAfter(0),
  rowsOf(store),
  store.pendingIds(1000),
  ...(['all', 'matched'] as const).flatMap(of =>
    (['ingest_time', 'event_time'] as const).map(timeField => store.recent({ of, timeField, ...always })),
  ),
  store.latestIngestTimeUs(),
  store.tnsSnapshotEpochUs(),
  store.counts(),
  [...store.databases.matches_by_source.getKeys()].map(key => Buffer.from(key).toString('hex')),
];

/** The position table, with its NaNs, and its digest. */
function rowsOf(store: Store): string {
  const { ids, fields } = store.positions(0, store.tableAt(store.lastSequence())!.rows);
  return `${ids} ${fields} ${store.tableAt(store.lastSequence())!.digest}`;
}

/** Fills `directory` with objects of every status and gives what its store holds. */
async function fill(directory: string, old: string, format: OldFormat): Promise<unknown[]> {
  const store = openStore(directory, 'write');
  const writer = new Writer(store);
  const ids = Array.from({ length: 300 }, (_, i) => BigInt(i));
  for (const [i, id] of ids.entries())
    await writer.ingest(
      [delivery(id, { eventTimeUs: 1e15 + (i % 7), ...(i % 9 ? {} : { position: null }) })],
      1e6 + (i % 5),
    );
  const more = Array.from({ length: 700 }, (_, i) => delivery(BigInt(5000 - i)));
  await writer.ingest([...more, delivery(7n, { broker: 'antares' })], 1_000_009);
  const source = { ra: 1, dec: 2, payload: { parallax: 0.5 } };
  const results = ids.slice(0, 200).map((id, i) => result(id, i % 2 ? [source] : []));
  await writer.recordCrossmatches(results, provenance, 2_000_000);
  putRerun(store, 3n);
  const held = everything(store);
  await writeOldFormat(store, old, format);
  await store.close();
  return held;
}

/** Makes of an object one that was crossmatched twice, and that the registry has a name for. */
function putRerun(store: Store, diaObjectId: bigint): void {
  const object = store.getObject(diaObjectId)!;
  const again = { ...object.records[0]!, matchVersion: 2, brokersAtCrossmatch: ['antares', 'é"'] };
  const matches = [2, 1].map(matchVersion => ({ ...object.matches[0]!, matchVersion, separationArcsec: 1 / 3 }));
  const tns = { checked: true, snapshotEpochUs: 5, objid: 2 ** 40, name: '2026a', namePrefix: 'SN' };
  const changed = { ...object, reliability: null, records: [...object.records, again], matches };
  putObject(store, { ...changed, tns: { ...tns, classification: null, redshift: 0.1, separationArcsec: 0 } });
}

for (const format of [1, 2, 3, 4, 5, 6, 8] as const) {
  test(`opening format ${format} for writing upgrades it to what today would have stored`, () =>
    withDirectory(async directory => {
      const old = join(directory, 'old');
      const expected = await fill(join(directory, 'new'), old, format);
      const error = await failure(() => openStore(old, 'read'));
      assert.instance(error, StoreError);
      const mend = `its format is ${format}, older than ${FORMAT_VERSION}: run \`nearsky upgrade --data ${old}\` once`;
      assert.ok(error.message.includes(mend), error.message);
      for (const mode of ['write', 'read'] as const) {
        const store = openStore(old, mode);
        assert.equal(everything(store), expected);
        assert.equal(store.counts(), recounted(store));
        await store.close();
      }
      const store = openStore(old, 'write');
      const writer = new Writer(store);
      await writer.ingest([delivery(100_000n)], 9_000_000);
      assert.equal((await writer.claim([100_000n])).ids, [100_000n]);
      assert.is(store.latestIngestTimeUs(), 9_000_000);
      assert.equal(store.journalAfter(store.lastSequence() - 1)[0]!.stored, [100_000n]);
      await store.close();
    }));

  test(`two processes may upgrade format ${format} at once`, () =>
    withDirectory(async directory => {
      const old = join(directory, 'old');
      const expected = await fill(join(directory, 'new'), old, format);
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
}

test.run();
