/** The objects by time: formats, the present, and the state after an entry. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { formatTime } from '../../../src/core/base/times.ts';
import { fill } from '../../core/http/history.ts';
import { assertOrder } from '../../core/http/order.ts';
import { crossmatched, delivery, type Json, match, NOW_US, searched, withApp } from '../../core/http/support.ts';

const test = suite('listing/listing');
/** On 2100-01-01. */
const FUTURE_US = 4_102_444_800_000_000;

test('Accept: JSON unless the header names another format; nothing is refused [P15]', () =>
  withApp(
    async () => {},
    async app => {
      for (const accept of ['application/xml', 'text/html', 'application/json;q=0', 'nonsense', '*/*;q=0', ',', '']) {
        const { status, headers } = await app.get('/api/objects', { headers: { Accept: accept } });
        assert.equal([status, headers.get('Content-Type')], [200, 'application/json'], accept);
      }
    },
  ));

test('what was ingested while the clock was ahead is listed', () =>
  withApp(
    async world => {
      await world.writer.ingest([delivery(99n)], FUTURE_US);
      await crossmatched(world, 99n, searched('gaia_dr3'), [match('gaia_dr3', '1')]);
    },
    async app => {
      const { body } = await app.get('/api/objects?detail=ids');
      assert.equal([body.objects.length, body.as_of], [1, formatTime(FUTURE_US)]);
    },
  ));

test('an object whose newest crossmatch found nothing has no coincident sources [Objects]', () =>
  withApp(
    async world => {
      await world.writer.ingest([delivery(5n)], NOW_US);
      await crossmatched(world, 5n, searched('gaia_dr3'), [match('gaia_dr3', '9')]);
    },
    async (app, { writer }) => {
      const listed = async () =>
        (await app.get('/api/objects?status=coincident_sources&time_field=event_time')).body.objects.length;
      assert.is(await listed(), 1);
      const result = { diaObjectId: 5n, catalogOutcomes: searched('gaia_dr3'), matches: [] };
      const provenance = { crossmatch_radius_arcsec: 2, catalogs: [], reliability_cuts: [] };
      await writer.recordCrossmatches([result], provenance, NOW_US, true);
      assert.is(await listed(), 0);
    },
  ));

test('an object is counted from the entry that stored it on [The state after an entry]', () =>
  withApp(fill, async (app, { writer }) => {
    await writer.ingest([delivery(6n)], NOW_US - 1e6);
    const counts = [];
    for (const at of [0, 1, 2, 3, 4]) counts.push((await app.get(`/api/objects?response=count&at=${at}`)).body.total);
    assert.equal(counts, [0, 1, 2, 2, 3]);
  }));

test('a removed object at the end of a window, which is exclusive, is neither listed nor counted [The state after an entry]', async () => {
  await withApp(fill, async (app, { writer, store }) => {
    await writer.ingest([delivery(6n, { eventTimeUs: NOW_US - 9e6 })], NOW_US + 5e6);
    const at = store.lastSequence();
    await writer.remove([6n], 'wrong');
    for (const [field, timeUs] of [
      ['ingest_time', NOW_US + 5e6],
      ['event_time', NOW_US - 9e6],
    ] as const) {
      const found = async (startUs: number, endUs: number) => {
        const window = `start=${formatTime(startUs)}&end=${formatTime(endUs)}`.replaceAll('+', '%2B');
        const path = `/api/objects?at=${at}&time_field=${field}&${window}`;
        const listed = (await app.get(path)).body.objects.map(({ diaObjectId }: Json) => diaObjectId);
        return [listed, (await app.get(`${path}&response=count`)).body.total];
      };
      assert.equal(await found(timeUs - 1, timeUs), [[], 0], field);
      assert.equal(await found(timeUs, timeUs + 1), [[6], 1], field);
    }
  });
});

test('with a history, as_of is the latest ingest time of the state [The state after an entry]', async () => {
  await withApp(fill, async (app, { writer }) => {
    await writer.ingest([delivery(6n)], NOW_US + 5e6);
    await writer.remove([6n], 'wrong');
    const asOf = [];
    for (const at of [0, 3, 4, 5]) asOf.push((await app.get(`/api/objects?at=${at}`)).body.as_of);
    assert.equal(
      asOf,
      [0, NOW_US, NOW_US + 5e6, NOW_US].map(timeUs => formatTime(timeUs)),
    );
  });
});

test('the order of checks [Objects by time]', () =>
  withApp(
    async () => {},
    async app => {
      await assertOrder(app, '/api/objects', undefined, [
        ['zz_min', '1'],
        ['start', 'x'],
        ['end', 'x'],
        ['time_field', 'x'],
        ['detail', 'x'],
        ['page_size', 'x'],
        ['status', 'not_in_service'],
        ['response', 'x'],
        ['cursor', 'x'],
        ['format', 'x'],
      ]);
      const window = 'start=2026-02-01&end=2026-01-01';
      assert.equal((await app.get(`/api/objects?cursor=x&${window}`)).body.params, ['start', 'end']);
      assert.equal((await app.get(`/api/objects?page_size=x&${window}`)).body.param, 'page_size');
    },
  ));

test.run();
