/** GET /api/cone: parameters, the page, the cursor (docs/contract.md, Cone; Cursors). */

import { separationArcsec } from '@nearsky/sky-index';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { formatTime } from '../../../src/core/base/times.ts';
import {
  crossmatched,
  delivery,
  match,
  NOW_US,
  PROVENANCE,
  type Running,
  reshape,
  searched,
  startApp,
  type TestApp,
  type World,
} from './support.ts';

const HOUR_US = 3_600_000_000;
const FUTURE_US = 4_000_000_000_000_000;

/** Ten objects within 10 arcsec of (150, 2), in ingest order of the tens digit, ids descending within one instant; then the hard places. */
async function fill(world: World): Promise<void> {
  const { writer } = world;
  for (const batch of [1n, 2n]) {
    const ids = [5n, 4n, 3n, 2n, 1n].map(unit => batch * 10n + unit);
    const near = (id: bigint) => ({ ra: 150 + Number(id % 10n) * 0.0005, dec: 2 });
    await writer.ingest(
      ids.map(id => delivery(id, { position: near(id) })),
      NOW_US + Number(batch),
    );
  }
  await writer.ingest([delivery(98n, { position: null })], NOW_US);
  await writer.ingest(
    [
      delivery(31n, { position: { ra: 359.9999, dec: 10 } }),
      delivery(32n, { position: { ra: 0, dec: 10 } }),
      delivery(33n, { position: { ra: 360, dec: 10 } }),
      delivery(34n, { position: { ra: 0.0001, dec: 10 } }),
      delivery(41n, { position: { ra: 10, dec: 89.999 } }),
      delivery(42n, { position: { ra: 190, dec: 89.999 } }),
      delivery(43n, { position: { ra: 0, dec: 90 } }),
      delivery(44n, { position: { ra: 77, dec: -90 } }),
    ],
    NOW_US,
  );
  await crossmatched(world, 11n, searched('gaia_dr3'), [match('gaia_dr3', '1')]);
  await crossmatched(world, 12n, searched('gaia_dr3'));
  reshape(world, 12n, { records: [] });
}

const test = suite<{ running: Running }>('http/cone');

test.before(async context => {
  context.running = await startApp(fill);
});

test.after(({ running }) => running.close());

const HERE = '/api/cone?ra=150&dec=2&radius_arcsec=20';

async function ids(app: TestApp, query: string): Promise<number[]> {
  const { objects } = await app.result(`/api/cone?${query}`);
  return objects.map((object: { diaObjectId: number }) => object.diaObjectId);
}

test('the page: keys, their order and values [Cone]', async ({ running: { app } }) => {
  const before = new Date();
  const { status, body } = await app.get(
    '/api/cone?ra=%20150.0&dec=%2B2&radius_arcsec=2e1&page_size=3&detail=ids&other=1',
  );
  assert.is(status, 200);
  assert.equal(Object.keys(body), [
    'provenance',
    'detail',
    'count',
    'provenance_sets',
    'truncated',
    'results',
    'as_of',
    'page_size',
    'next_cursor',
  ]);
  assert.equal([body.detail, body.count, body.truncated, body.page_size], ['ids', 1, false, 3]);
  assert.ok(new Date(body.as_of) >= before && new Date(body.as_of) <= new Date());
  assert.type(body.next_cursor, 'string');
  const { objects, ...result } = body.results[0];
  assert.equal(Object.keys(body.results[0]), [
    'index',
    'kind',
    'input',
    'normalized',
    'status',
    'objects',
    'total',
    'truncated',
    'truncation',
  ]);
  assert.equal(result, {
    index: 0,
    kind: 'position',
    input: { ra: ' 150.0', dec: '+2', radius_arcsec: '2e1' },
    normalized: { kind: 'position', ra: 150, dec: 2, radius_arcsec: 20 },
    status: 'objects_found',
    total: 10,
    truncated: false,
    truncation: null,
  });
  assert.equal(objects.length, 3);
  assert.equal(Object.keys(objects[0]), [
    'diaObjectId',
    'diaObjectId_str',
    'status',
    'crossmatch',
    'separation_arcsec',
  ]);
});

test('ascending ingest time, then id; each with its status, separation and provenance [Cone]', async ({
  running: { app },
}) => {
  const { body } = await app.get(HERE);
  const [{ objects }] = body.results;
  assert.equal(
    objects.map((object: { diaObjectId: number }) => object.diaObjectId),
    [11, 12, 13, 14, 15, 21, 22, 23, 24, 25],
  );
  assert.equal(
    objects.slice(0, 3).map((object: { status: string }) => object.status),
    ['coincident_sources', 'no_coincident_source', 'crossmatch_pending'],
  );
  for (const object of objects) assert.is(object.separation_arcsec, separationArcsec(150, 2, object.ra, object.dec));
  assert.is(Object.keys(objects[0]).at(-1), 'separation_arcsec');
  const [hash, bestGuess] = Object.keys(body.provenance_sets);
  assert.equal(body.provenance_sets[hash!], { basis: 'recorded', ...PROVENANCE });
  assert.is(bestGuess, 'best_guess_current_settings');
});

test('the radius is inclusive [Cone]', async ({ running: { app } }) => {
  const edge = separationArcsec(150, 2, 150 + 3 * 0.0005, 2);
  assert.equal(await ids(app, `ra=150&dec=2&radius_arcsec=${edge}`), [11, 12, 13, 21, 22, 23]);
  assert.equal(await ids(app, `ra=150&dec=2&radius_arcsec=${edge - 1e-9}`), [11, 12, 21, 22]);
});

test('across RA 0/360 and over the poles [Cone]', async ({ running: { app } }) => {
  for (const ra of ['0', '360', '359.99999'])
    assert.equal(await ids(app, `ra=${ra}&dec=10&radius_arcsec=1`), [31, 32, 33, 34], ra);
  assert.equal(await ids(app, 'ra=100&dec=90&radius_arcsec=3.6001'), [41, 42, 43]);
  assert.equal(await ids(app, 'ra=10&dec=89.999&radius_arcsec=7.2001'), [41, 42, 43]);
  assert.equal(await ids(app, 'ra=0&dec=-90&radius_arcsec=0.1'), [44]);
});

test('nothing there', async ({ running: { app } }) => {
  const empty = await app.result('/api/cone?ra=10&dec=-45&radius_arcsec=60');
  assert.equal([empty.status, empty.objects, empty.total, empty.truncated], ['no_rubin_object', [], 0, false]);
});

test('what was ingested while the clock was ahead is listed; recent windows still end now', async () => {
  const running = await startApp(async world => {
    await world.writer.ingest([delivery(99n, { position: { ra: 150, dec: 2 } })], FUTURE_US);
    await crossmatched(world, 99n, searched('gaia_dr3'), [match('gaia_dr3', '1')]);
  });
  try {
    const get = (path: string) => running.app.get(path);
    const { body } = await get(`${HERE}&detail=ids`);
    assert.equal([body.results[0].objects.length, body.as_of], [1, formatTime(FUTURE_US)]);
    const recent = '/api/recent-crossmatches';
    const day = `${formatTime(FUTURE_US - HOUR_US)}&end=${formatTime(FUTURE_US + HOUR_US)}`.replaceAll('+', '%2B');
    assert.is((await get(`${recent}?start=${day}`)).body.count, 1);
    assert.ok(new Date((await get(recent)).body.window.end) <= new Date());
  } finally {
    await running.close();
  }
});

test('parameters: what is missing, bad or out of range is named, the first in order', async ({ running: { app } }) => {
  const all = { ra: '150', dec: '2', radius_arcsec: '20', detail: 'ids', page_size: '5', response: 'objects' };
  const bad: [keyof typeof all, (string | undefined)[]][] = [
    ['response', ['', 'Objects', 'all']],
    ['ra', [undefined, '', 'x', 'nan', '-0.001', '360.0001', 'inf', '1e999', '0x1']],
    ['dec', [undefined, '', '90.01', '-90.01']],
    ['radius_arcsec', [undefined, '', '0', '-1', '60.0001', 'NaN']],
    ['detail', ['', 'all', 'IDS']],
    ['page_size', ['', '0', '-3', '5.0', '1e2', 'x']],
  ];
  for (const [index, [name, values]] of bad.entries()) {
    for (const value of values) {
      const broken = Object.fromEntries(bad.slice(index).map(([later]) => [later, 'zzz']));
      const search = new URLSearchParams({ ...all, ...broken });
      if (value === undefined) search.delete(name);
      else search.set(name, value);
      const { status, body } = await app.get(`/api/cone?${search}`);
      assert.equal(
        [status, body.code, body.param, body.retryable],
        [400, 'invalid_parameter', name, false],
        `${name}=${value}`,
      );
    }
  }
  const first = (await app.get('/api/cone?zzz_min=1&response=zzz&ra=zzz')).body;
  assert.equal([first.code, first.param], ['invalid_parameter', 'zzz_min'], 'filters come first');
});

test('page_size: default 100, clamped to 2000 [Cone]', async ({ running: { app } }) => {
  assert.is((await app.get(HERE)).body.page_size, 100);
  assert.is((await app.get(`${HERE}&page_size=2001`)).body.page_size, 2000);
});

test('a walk: pages in order, the same total and as_of, a cursor until the last [Cone]', async ({
  running: { app },
}) => {
  const seen: number[] = [];
  const first = (await app.get(`${HERE}&page_size=4&detail=position`)).body;
  let page = first;
  for (let pages = 1; ; pages++) {
    const [result] = page.results;
    seen.push(...result.objects.map((object: { diaObjectId: number }) => object.diaObjectId));
    assert.equal(
      [result.total, page.as_of, page.detail, result.status],
      [10, first.as_of, 'position', 'objects_found'],
    );
    assert.equal(result.normalized, first.results[0].normalized);
    if (page.next_cursor === null) {
      assert.is(pages, 3);
      break;
    }
    const { next_cursor } = page;
    page = (await app.get(`/api/cone?cursor=${next_cursor}&page_size=4`)).body;
    assert.equal(page.results[0].input, { cursor: next_cursor });
  }
  assert.equal(seen, [11, 12, 13, 14, 15, 21, 22, 23, 24, 25]);
});

test('a page that ends with the last object has no cursor; page_size is not pinned', async ({ running: { app } }) => {
  assert.is((await app.get(`${HERE}&page_size=10`)).body.next_cursor, null);
  const { next_cursor } = (await app.get(`${HERE}&page_size=1`)).body;
  const rest = (await app.get(`/api/cone?cursor=${next_cursor}`)).body;
  assert.equal([rest.results[0].objects.length, rest.page_size, rest.next_cursor], [9, 100, null]);
});

test('what a cursor pins may be repeated but not changed [Cone]', async ({ running: { app } }) => {
  const { next_cursor } = (await app.get(`${HERE}&page_size=1&detail=ids`)).body;
  const follow = (more: string) => app.get(`/api/cone?cursor=${next_cursor}${more}`);
  const same = await follow('&ra=150.0&dec=2e0&radius_arcsec=20&detail=ids');
  assert.is(same.status, 200);
  assert.equal(same.body.results[0].input, { ra: '150.0', dec: '2e0', radius_arcsec: '20', cursor: next_cursor });
  const changed = {
    ra: ['151', 'x', ''],
    dec: ['2.1', ''],
    radius_arcsec: ['21', ''],
    detail: ['matches', 'zzz', ''],
    page_size: ['0'],
  };
  for (const [name, values] of Object.entries(changed)) {
    for (const value of values) {
      const { status, body } = await follow(`&${name}=${value}`);
      assert.equal([status, body.param], [400, name], `${name}=${value}`);
    }
  }
});

function forged(fields: object): string {
  const good = {
    k: 'cone_search',
    t: '2026-09-21T14:13:20+00:00',
    i: 5,
    a: '2026-09-22T00:00:00+00:00',
    ra: 150,
    dec: 2,
    r: 20,
    d: 'ids',
  };
  return Buffer.from(JSON.stringify({ ...good, ...fields })).toString('base64url');
}

test('a forged cursor: whatever is wrong in it names cursor', async ({ running: { app } }) => {
  const param = async (query: string) => (await app.get(`/api/cone?${query}`)).body.param;
  assert.is((await app.get(`/api/cone?cursor=${forged({})}`)).status, 200);
  assert.is(await param('cursor=&ra=1&dec=1&radius_arcsec=1'), 'cursor', 'empty is not absent');
  assert.is(await param(`cursor=${forged({ i: true })}&ra=zzz`), 'cursor');
  assert.is(await param(`cursor=${forged({ ra: 361 })}`), 'cursor');
  assert.is(await param(`cursor=${forged({ dec: -91 })}`), 'cursor');
  assert.is(await param(`cursor=${forged({ r: 61 })}`), 'cursor');
  assert.is(await param(`cursor=${forged({ r: 0 })}`), 'cursor');
  assert.is(await param(`cursor=${forged({ d: 'zzz' })}`), 'cursor');
  assert.is(await param(`cursor=${forged({ ra: 361 })}&dec=3`), 'cursor');
  assert.is(await param(`cursor=${forged({ ra: 361 })}&page_size=0`), 'cursor');
});

test('a page past the end is empty, with the true total; an as_of before everything has none', async ({
  running: { app },
}) => {
  const past = (await app.get(`/api/cone?cursor=${forged({ t: '2030-01-01T00:00:00', a: '2031-01-01T00:00:00' })}`))
    .body;
  const [{ objects, total, status }] = past.results;
  assert.equal([objects, total, status, past.next_cursor], [[], 10, 'objects_found', null]);
  const early = (await app.get(`/api/cone?cursor=${forged({ a: '2020-01-01T00:00:00' })}`)).body.results[0];
  assert.equal([early.objects, early.total, early.status], [[], 0, 'no_rubin_object']);
  const exact = (await app.get(`/api/cone?cursor=${forged({ t: '2020-01-01', a: formatTime(NOW_US + 1) })}`)).body;
  assert.is(exact.results[0].total, 5, 'what was ingested at as_of is part of the walk');
});

test('answers to queries asked at once are each its own', async ({ running: { app } }) => {
  const queries = Array.from({ length: 300 }, (_, i) => i % 3);
  const paths = ['ra=0&dec=10&radius_arcsec=1', 'ra=0&dec=-90&radius_arcsec=0.1', 'ra=100&dec=90&radius_arcsec=3.6001'];
  const found = await Promise.all(queries.map(kind => ids(app, paths[kind]!)));
  const expected = [[31, 32, 33, 34], [44], [41, 42, 43]];
  assert.equal(
    found,
    queries.map(kind => expected[kind]),
  );
});

test.run();
