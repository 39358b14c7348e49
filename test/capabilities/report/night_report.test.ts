/** The report of a night: each reason why a person must act, and the state of this machine. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { nightReport } from '../../../src/capabilities/report/night_report.ts';
import { noteError, noteSize } from '../../../src/core/store/nights.ts';
import type { Store } from '../../../src/core/store/store.ts';
import type { Writer } from '../../../src/core/store/writer.ts';
import { configOf } from '../../core/http/support.ts';
import { delivery, provenance, result, withStore } from '../../core/store/support.ts';

const test = suite('report/night_report');
const HOUR_US = 3_600_000_000;
const EVENING_US = 1000 * Date.parse('2026-11-26T23:30:00Z');
const MORNING_US = EVENING_US + 10 * HOUR_US;

/** The reasons after some changes, in the morning after the night. */
async function reasonsOf(fill: (writer: Writer, store: Store, directory: string) => Promise<unknown>) {
  let reasons: readonly string[] = [];
  await withStore(async (store, writer, directory) => {
    await fill(writer, store, directory);
    reasons = nightReport(store, configOf(directory), MORNING_US).needs_person;
  });
  return reasons;
}

const crossmatched = async (writer: Writer, ...ids: bigint[]) => {
  await writer.ingest(
    ids.map(id => delivery(id)),
    EVENING_US,
  );
  const all = ids.map(id => ({ ...result(id), catalogOutcomes: [['gaia_dr3', 'searched']] as const }));
  await writer.recordCrossmatches(all, provenance, EVENING_US);
};

test('nobody is needed after a night in which all went well, or without any message', async () => {
  assert.equal(await reasonsOf(async () => {}), []);
  assert.equal(await reasonsOf(writer => crossmatched(writer, 1n)), []);
});

test('objects that are pending for more than an hour, and why', async () => {
  const late = (hours: number) => (writer: Writer) => writer.ingest([delivery(1n)], MORNING_US - hours * HOUR_US);
  assert.equal(await reasonsOf(late(0.9)), []);
  assert.equal(await reasonsOf(late(1.1)), ['objects are pending for more than an hour: no catalog is registered']);
});

test('a share of rejected messages, and the reason of most', async () => {
  const rejecting = (count: number) => async (writer: Writer) => {
    const ids = Array.from({ length: 198 }, (_, i) => BigInt(i));
    await crossmatched(writer, ...ids);
    const rejected = { rare: 1, 'not JSON': count - 1 };
    await writer.ingest([], EVENING_US, { broker: 'lasair', below_cut: 0, skipped: 0, rejected });
  };
  assert.equal(await reasonsOf(rejecting(2)), []);
  assert.equal(await reasonsOf(rejecting(5)), ['5 of 203 messages of lasair were rejected, most because: not JSON']);
});

test('a broker that delivered nothing while another did', async () => {
  const before = (nights: number) => async (writer: Writer) => {
    await crossmatched(writer, 1n);
    await writer.ingest([delivery(1n, { broker: 'antares' })], EVENING_US - nights * 24 * HOUR_US);
  };
  assert.equal(await reasonsOf(before(8)), []);
  const [reason, ...others] = await reasonsOf(before(7));
  assert.match(reason!, /^antares delivered nothing/);
  assert.equal(others, []);
});

test('a file that could not be read, an unread catalog, a late stream and a late backup', async () => {
  const reasons = await reasonsOf(async (writer, { databases }) => {
    await writer.ingest([delivery(1n)], EVENING_US);
    await writer.recordCrossmatches([result(1n)], provenance, EVENING_US);
    databases.objects.transactionSync(() => {
      noteError(databases, 'ingest lasair', 'cut short', EVENING_US);
      noteError(databases, 'catalog unreadable', 'no such file', EVENING_US);
      noteError(databases, 'consume lasair', 'it reconnects by itself', EVENING_US);
    });
    for (let i = 2; i < 1003; i++) await writer.ingest([delivery(BigInt(i))], MORNING_US);
    await writer.commit({ kind: 'published', topic: 'matches', position: { sequence: 1, objects: 0, messages: 0 } });
  });
  assert.equal(reasons, [
    'ingest lasair: cut short',
    'some objects were crossmatched without a catalog, no such file',
    'the stream to matches is 1002 journal entries behind',
  ]);
});

test('the growth of the database over the noted nights', () =>
  withStore(async (store, writer, directory) => {
    const { databases } = store;
    await crossmatched(writer, 1n);
    const at = (nights: number, bytes: number) =>
      databases.objects.transactionSync(() => noteSize(databases, bytes, EVENING_US - nights * 24 * HOUR_US));
    at(4, 0);
    // Only the first size of a night counts.
    at(4, 1e6);
    at(40, 1e15);
    const { disk } = nightReport(store, configOf(directory), MORNING_US);
    assert.is(disk.growth_per_night, Math.round(disk.database / 4));
    assert.is(disk.nights_left, Math.floor(disk.free! / disk.growth_per_night!));
    writeFileSync(join(directory, 'index'), 'x'.repeat(1000));
    assert.is(nightReport(store, configOf(directory), MORNING_US).disk.total, disk.total + 1000);
  }));

test('errors are counted by kind, with the last one', () =>
  withStore(async (store, writer, directory) => {
    await writer.noteError('publish', 'first');
    await writer.noteError('publish', 'second');
    const { errors } = nightReport(store, configOf(directory), Date.now() * 1000 + 12 * HOUR_US, nightNow());
    assert.equal([errors.publish!.count, errors.publish!.last], [2, 'second']);
  }));

const nightNow = () => new Date(Date.now() - 43_200_000).toISOString().slice(0, 10);

test.run();
