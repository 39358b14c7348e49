/** The counts of a night: in the commit of the data, on every node the same, and the night to which a time belongs. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { apply } from '../../../src/core/store/apply.ts';
import { decodeChange, encodeChange } from '../../../src/core/store/change_record.ts';
import type { ChangeOf } from '../../../src/core/store/changes.ts';
import { LEVEL } from '../../../src/core/store/level.ts';
import { latestNight, nightAfter, nightOf, nightStartUs, readNight } from '../../../src/core/store/nights.ts';
import { delivery, failure, provenance, result, withStore } from './support.ts';

const test = suite('store/nights');
const us = (time: string) => 1000 * Date.parse(time);

test('a night has the date of its evening in Chile', () => {
  assert.is(nightOf(us('2026-11-26T11:59:59.999Z')), '2026-11-25');
  assert.is(nightOf(us('2026-11-26T12:00:00Z')), '2026-11-26');
  assert.is(nightStartUs('2026-11-26'), us('2026-11-26T12:00:00Z'));
  assert.equal([nightAfter('2026-11-30', 1), nightAfter('2028-03-01', -1)], ['2026-12-01', '2028-02-29']);
  for (const night of ['2026-02-30', '2026-1-1', 'yesterday', '2026-11-26T00:00'])
    assert.throws(() => nightStartUs(night));
});

test('the latest night is the one of the last dusk', () => {
  assert.is(latestNight(us('2026-11-26T22:59:59Z')), '2026-11-25');
  assert.is(latestNight(us('2026-11-26T23:00:00Z')), '2026-11-26');
  assert.is(latestNight(us('2026-11-27T15:00:00Z')), '2026-11-26');
});

test('messages and crossmatches are counted in their night', () =>
  withStore(async (store, writer) => {
    const evening = us('2026-11-26T23:00:00Z');
    const unstored = { broker: 'lasair', below_cut: 1, skipped: 2, rejected: { 'not JSON': 3, 'no / id': 1 } };
    const deliveries = [
      delivery(1n),
      delivery(1n),
      delivery(1n, { broker: 'antares' }),
      delivery(2n, { position: null }),
    ];
    await writer.ingest(deliveries, evening, unstored);
    await writer.ingest([delivery(2n)], us('2026-11-27T12:00:00Z'));
    const source = { ra: 1, dec: 2, payload: null };
    await writer.recordCrossmatches([result(1n, [source, source]), result(2n), result(3n)], provenance, evening);
    await writer.recordCrossmatches([result(1n)], { ...provenance, crossmatch_radius_arcsec: 2 }, evening, true);
    const { brokers, catalogs, crossmatched } = readNight(store.databases, '2026-11-26');
    assert.equal(brokers.lasair, {
      messages: 10,
      stored: 2,
      further_broker: 0,
      duplicate: 1,
      below_cut: 1,
      skipped: 2,
      rejected: 4,
      rejected_by_reason: { 'no / id': 1, 'not JSON': 3 },
      without_position: 1,
    });
    assert.equal([brokers.antares!.messages, brokers.antares!.further_broker], [1, 1]);
    assert.equal(crossmatched, { objects: 3, again: 1 });
    assert.equal(catalogs.gaia_dr3, { matches: 2, outcomes: { searched: 3 } });
    assert.equal(catalogs.des_y6_gold, { matches: 0, outcomes: { outside_footprint: 3 } });
    assert.is(readNight(store.databases, '2026-11-27').brokers.lasair!.duplicate, 1);
    assert.equal(readNight(store.databases, '2026-11-25').brokers, {});
  }));

test('removed objects are counted by reason, in the night of their removal', () =>
  withStore(async (store, writer) => {
    await writer.ingest([delivery(1n), delivery(2n), delivery(3n)], us('2026-11-25T23:00:00Z'));
    const night = nightOf(1000 * Date.now());
    await writer.remove([1n, 2n, 9n], 'a test / again');
    await writer.remove([3n], 'too old');
    await writer.remove([3n], 'gone already');
    await writer.ingest([delivery(4n), delivery(4n, { broker: 'fink' })], us('2026-11-25T23:00:00Z'));
    await writer.remove([4n], 'too old', 'fink');
    // The night may have ended meanwhile.
    const nights = [...new Set([night, nightOf(1000 * Date.now())])].map(
      each => readNight(store.databases, each).removed,
    );
    assert.is(
      nights.reduce((sum, { objects }) => sum + objects, 0),
      3,
    );
    assert.is(
      nights.reduce((sum, { deliveries }) => sum + deliveries, 0),
      1,
    );
    assert.equal(Object.assign({}, ...nights.map(({ by_reason }) => by_reason)), { 'a test / again': 2, 'too old': 1 });
    assert.equal(readNight(store.databases, '2026-11-25').removed, { objects: 0, by_reason: {}, deliveries: 0 });
  }));

test('a change that fails stores nothing and counts nothing', () =>
  withStore(async (store, writer) => {
    const broken = { broker: 'lasair', below_cut: 1, skipped: 0, rejected: null as never };
    await failure(() => writer.ingest([delivery(1n)], us('2026-11-26T23:00:00Z'), broken));
    assert.is(store.getObject(1n), undefined);
    assert.equal(readNight(store.databases, '2026-11-26').brokers, {});
  }));

test('a change that is split counts its unstored messages once', async () => {
  const unstored = { broker: 'lasair', below_cut: 1, skipped: 2, rejected: { 'not JSON': 3 } };
  const deliveries = Array.from({ length: 9 }, (_, i) => delivery(BigInt(i)));
  const change = { kind: 'deliver', timeUs: us('2026-11-26T23:00:00Z'), deliveries, unstored } as const;
  const records = encodeChange(change, LEVEL, 300);
  assert.ok(records.length > 1);
  await withStore(async store => {
    store.databases.objects.transactionSync(() => {
      for (const record of records) apply(store.databases, decodeChange(record) as ChangeOf<'deliver'>);
    });
    assert.is(readNight(store.databases, '2026-11-26').brokers.lasair!.messages, 15);
  });
});

test.run();
