/** The answers of the position search and the description, and the errors of tools (docs/contract.md, Connector). */

import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { separationArcsec } from '@nearsky/sky-index';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { delivery, type Json, NOW_US, startApp, TestApp } from '../../core/http/support.ts';
import { Connection, changedMeanwhile, EMPTY, UNLIMITED, withConnector } from './support.ts';
import { ABOUT, CENTRE, CROWD, CROWD_SIZE, fill, LOOKUP, NEAR } from './world.ts';

const test = suite('mcp/search');

const { app, close } = await startApp(fill, { ...UNLIMITED, MCP_API_BASE_URL: 'https://sky.example/' });
const connection = new Connection(app);
test.after(close);

const lookup = (identifiers: readonly unknown[]) => connection.lookup(identifiers);

const idsOf = (objects: Json) => objects.map(({ diaObjectId }: Json) => diaObjectId);

test('near a position: all that lies within, the nearest first [Connector]', async () => {
  const circle = { ra_deg: CENTRE.ra, dec_deg: CENTRE.dec };
  const { answer } = await connection.call(NEAR, circle);
  assert.equal(Object.keys(answer), [
    'center',
    'radius_arcsec',
    'order',
    'status',
    'objects_total',
    'objects_returned',
    'truncated',
    'objects',
    'status_meanings',
    'provenance_notes',
    'tns_notes',
  ]);
  assert.equal([answer.center, answer.radius_arcsec, answer.order], [CENTRE, 10, 'nearest_first']);
  assert.equal([answer.status, answer.objects_total, answer.truncated], ['objects_found', 10, false]);
  const expected = Array.from({ length: 10 }, (_, i) => `${CROWD + BigInt(CROWD_SIZE - 1 - i)}`);
  assert.equal(idsOf(answer.objects), expected);
  for (const { ra, dec, separation_arcsec } of answer.objects) {
    assert.is(separation_arcsec, separationArcsec(CENTRE.ra, CENTRE.dec, ra, dec));
  }
  const { answer: same } = await connection.call(NEAR, { ...circle, radius_arcsec: null });
  assert.equal(same, answer);
});

test('near a position: more than 20, and the address of all', async () => {
  const { answer } = await connection.call(NEAR, { ra_deg: 10, dec_deg: -10.0, radius_arcsec: 60 });
  assert.equal([answer.objects_total, answer.objects_returned, answer.truncated], [CROWD_SIZE, 20, true]);
  assert.is(answer.objects[0].diaObjectId, `${CROWD + BigInt(CROWD_SIZE - 1)}`);
  const { reasons, full_results } = answer.truncation;
  assert.equal(reasons, ['chat_object_limit']);
  assert.match(full_results.note, /10 of 30 .*ingest/);
  const url = 'https://sky.example/api/cone?ra=10&dec=-10&radius_arcsec=60&detail=full&page_size=100';
  assert.is(full_results.url, url);
  const result = await app.result(url.slice('https://sky.example'.length));
  assert.is(result.objects.length, CROWD_SIZE);
});

test('near a position: of equal separations the lowest id comes first', () =>
  withConnector(
    async ({ writer }) => {
      for (const id of [10n, 9n, 9007199254740993n, 9007199254740992n])
        await writer.ingest([delivery(id)], NOW_US - Number(id % 7n));
    },
    async other => {
      const { answer } = await other.call(NEAR, { ra_deg: 150, dec_deg: 2 });
      assert.equal(idsOf(answer.objects), ['9', '10', '9007199254740992', '9007199254740993']);
    },
  ));

test('near a position: an object that is removed meanwhile is listed as it was, or without a history not at all', async () => {
  for (const keepsHistory of [true, false])
    await withConnector(
      async ({ writer }) => {
        await writer.keepHistory(keepsHistory);
        await writer.ingest(
          [1n, 2n, 3n].map(id => delivery(id)),
          NOW_US,
        );
      },
      async (other, { writer }) => {
        const { answer } = await changedMeanwhile(
          () => writer.remove([2n], 'wrong'),
          () => other.call(NEAR, { ra_deg: 150, dec_deg: 2 }),
        );
        const expected = keepsHistory ? ['1', '2', '3'] : ['1', '3'];
        assert.equal([idsOf(answer.objects), answer.objects_total], [expected, expected.length]);
        assert.equal(Object.keys(answer.status_meanings), ['crossmatch_pending', 'objects_found']);
      },
    );
});

test('near a position: nothing there [Connector]', async () => {
  const { answer } = await connection.call(NEAR, { ra_deg: 0, dec_deg: 90, radius_arcsec: 60 });
  assert.equal([answer.status, answer.objects_total, answer.objects], ['no_rubin_object', 0, []]);
  assert.is(answer.reason, 'No object in the service lies within 60 arcsec of the position.');
  assert.equal(Object.keys(answer.status_meanings), ['no_rubin_object']);
});

async function assertInvalid(tool: string, args: unknown, named: RegExp): Promise<void> {
  const { isError, answer } = await connection.call(tool, args);
  assert.is(isError, true, JSON.stringify(args));
  assert.equal(Object.keys(answer.error), ['code', 'message', 'retryable']);
  assert.equal([answer.error.code, answer.error.retryable], ['invalid_arguments', false]);
  assert.match(answer.error.message, named);
}

test('arguments that are wrong [Connector]', async () => {
  for (const identifiers of [undefined, null, 'SN 2026abc', {}, [], 7]) {
    await assertInvalid(LOOKUP, { identifiers }, /identifiers .*1 to 100/);
  }
  await assertInvalid(LOOKUP, { identifiers: Array(101).fill('1') }, /identifiers .*1 to 100.*101/);
  await assertInvalid(LOOKUP, undefined, /identifiers/);
  assert.is((await lookup(Array(100).fill('1'))).requested, 100);
  const good = { ra_deg: 1, dec_deg: 2 };
  for (const ra_deg of [undefined, null, '1', true, -0.1, 360.1, [1]]) {
    await assertInvalid(NEAR, { ...good, ra_deg }, /ra_deg .*0 to 360/);
  }
  for (const dec_deg of [undefined, null, '1', -90.1, 90.1]) {
    await assertInvalid(NEAR, { ...good, dec_deg }, /dec_deg .*-90 to 90/);
  }
  for (const radius_arcsec of [0, -1, 60.01, '10', false]) {
    await assertInvalid(NEAR, { ...good, radius_arcsec }, /radius_arcsec .*60/);
  }
  for (const args of [
    good,
    { ra_deg: 0, dec_deg: -90, radius_arcsec: 60 },
    { ra_deg: 360, dec_deg: 90, radius_arcsec: 1e-9 },
  ]) {
    assert.is((await connection.call(NEAR, args)).isError, false);
  }
});

test('the service', async () => {
  const { answer } = await connection.call(ABOUT, { ignored: true });
  assert.equal(Object.keys(answer), [
    'service_version',
    'database',
    'catalogs',
    'crossmatch_radius_arcsec',
    'crossmatch_rule',
    'reliability_cuts',
    'tns_resolution',
    'tns_snapshot_epoch',
    'tns_match_radius_arcsec',
    'max_search_radius_arcsec',
    'latest_alert_ingest',
    'latest_alert_ingest_note',
    'does_not_answer',
  ]);
  const { provenance, tns_snapshot_epoch } = (await app.get('/api/status')).body;
  assert.equal(answer.catalogs, provenance.catalogs);
  assert.equal(answer.reliability_cuts, provenance.reliability_cuts);
  assert.equal([answer.service_version, answer.database], [provenance.service_version, 'ok']);
  assert.equal([answer.tns_resolution, answer.tns_snapshot_epoch], ['available', tns_snapshot_epoch]);
  assert.equal(
    [answer.crossmatch_radius_arcsec, answer.tns_match_radius_arcsec, answer.max_search_radius_arcsec],
    [1, 1, 60],
  );
  assert.is(answer.latest_alert_ingest, '2026-09-21T14:13:20.123456+00:00');
  assert.ok(answer.does_not_answer.length > 0 && /nearest/.test(answer.crossmatch_rule));
});

test('a database that cannot be read: lookups say so and when to try again, the description says it in its answer', async () => {
  const { app: broken, close: end } = startUnreadable();
  try {
    const other = new Connection(broken);
    for (const [tool, args] of [
      [LOOKUP, { identifiers: ['1'] }],
      [NEAR, { ra_deg: 1, dec_deg: 2 }],
    ] as const) {
      const { isError, answer } = await other.call(tool, args);
      assert.is(isError, true);
      const { code, retryable, retry_after_seconds } = answer.error;
      assert.equal([code, retryable, retry_after_seconds], ['service_unavailable', true, 30]);
    }
    const { isError, answer } = await other.call(ABOUT);
    assert.equal([isError, answer.database, answer.latest_alert_ingest], [false, 'unavailable', null]);
    assert.equal([answer.tns_resolution, answer.tns_snapshot_epoch], ['unavailable', null]);
  } finally {
    await end();
  }
});

function startUnreadable() {
  const unreadable = new TestApp(join(tmpdir(), 'nearsky-not-there'), UNLIMITED);
  return { app: unreadable, close: () => unreadable.app.close() };
}

test('a search that takes longer than the budget', () =>
  withConnector(
    fill,
    async other => {
      const { isError, answer } = await other.call(NEAR, { ra_deg: 10, dec_deg: -10, radius_arcsec: 60 });
      assert.is(isError, true);
      // Where a turn of the event loop takes longer than this budget, the search is never begun (docs/contract.md, decision P4).
      const { code, retryable, retry_after_seconds } = answer.error;
      if (code === 'service_unavailable') assert.equal([retryable, retry_after_seconds], [true, 30]);
      else assert.equal([code, retryable, retry_after_seconds], ['query_too_expensive', false, undefined]);
    },
    { API_REQUEST_BUDGET_SECONDS: '0.001' },
  ));

test('an empty service answers', () =>
  withConnector(EMPTY, async other => {
    assert.is((await other.call(ABOUT)).answer.latest_alert_ingest, null);
    assert.is((await other.call(LOOKUP, { identifiers: ['1'] })).answer.results[0].status, 'not_in_service');
  }));

test.run();
