/** GET /api/recent-crossmatches: parameters, the window, the page, the cursor (docs/contract.md, Recent crossmatches; Cursors). */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { formatTime } from '../../../src/core/base/times.ts';
import {
  crossmatched,
  delivery,
  type Json,
  match,
  NOW_US,
  type Running,
  reshape,
  searched,
  startApp,
  type TestApp,
  type World,
} from './support.ts';

const HOUR_US = 3_600_000_000;
const MAX_ID = 2n ** 63n - 1n;
const START = formatTime(NOW_US - HOUR_US).replace('+', '%2B');
const END = formatTime(NOW_US + HOUR_US).replace('+', '%2B');
const PATH = '/api/recent-crossmatches';
const WINDOW = `${PATH}?start=${START}&end=${END}`;

const TNS = {
  checked: true,
  snapshotEpochUs: NOW_US,
  objid: 5,
  name: '2026abc',
  namePrefix: 'SN',
  classification: null,
  redshift: null,
  separationArcsec: 0.5,
};

/** Ids by ingest time: 10, 11 and the largest at once; 20 a microsecond later; their event times go the other way. */
async function fill(world: World): Promise<void> {
  const { writer } = world;
  const event = (eventTimeUs: number) => ({ eventTimeUs });
  await writer.ingest(
    [11n, MAX_ID, 10n, 12n].map(id => delivery(id, event(NOW_US))),
    NOW_US,
  );
  await writer.ingest([delivery(20n, event(NOW_US - 1))], NOW_US + 1);
  await writer.ingest([delivery(30n, { ...event(NOW_US - 2 * HOUR_US), position: null })], NOW_US + 2);
  await writer.ingest([delivery(40n), delivery(41n)], NOW_US + 3);
  const gaia = match('gaia_dr3', '9');
  const two = [
    match('skymapper_dr4', '7', { payload: null }),
    { ...match('gaia_dr3', '10'), separationArcsec: 0.5 },
    gaia,
  ];
  await crossmatched(world, 10n, searched('gaia_dr3'), two);
  reshape(world, 10n, { tns: TNS });
  await crossmatched(world, 11n, searched('gaia_dr3'), [match('gaia_dr3', '1', { ra: null })]);
  for (const id of [MAX_ID, 20n, 30n]) await crossmatched(world, id, searched('gaia_dr3'), [gaia]);
  await crossmatched(world, 40n, searched('gaia_dr3'));
  await crossmatched(world, 12n, searched('gaia_dr3'), [gaia]);
  reshape(world, 12n, { state: 'pending' });
}

const test = suite<{ running: Running }>('http/recent');

test.before(async context => {
  context.running = await startApp(fill);
});

test.after(({ running }) => running.close());

async function ids(app: TestApp, query: string): Promise<string[]> {
  const { status, body, text } = await app.get(query);
  assert.is(status, 200, text);
  assert.is(body.count, body.objects.length);
  return body.objects.map((object: Json) => object.diaObjectId_str);
}

const ORDER = ['30', '20', '10', '11', '12', `${MAX_ID}`];

test('the page: keys and their order [Recent crossmatches]', async ({ running: { app } }) => {
  const before = Date.now();
  const { status, body } = await app.get(`${WINDOW}&detail=ids&other=1&radius_arcsec=x`);
  assert.is(status, 200);
  assert.equal(Object.keys(body), [
    ...['provenance', 'window', 'time_field', 'detail', 'page_size', 'count', 'next_cursor', 'objects', 'as_of'],
  ]);
  assert.equal(body.window, { start: formatTime(NOW_US - HOUR_US), end: formatTime(NOW_US + HOUR_US) });
  assert.equal(
    [body.time_field, body.detail, body.page_size, body.count, body.next_cursor],
    ['ingest_time', 'ids', 1000, 6, null],
  );
  assert.ok(Date.parse(body.as_of) >= before && Date.parse(body.as_of) <= Date.now());
  assert.is(Object.keys(body.provenance).length, 5);
});

test('objects with matches, whatever their state: the newest first, then by id [Recent crossmatches]', async ({
  running: { app },
}) => {
  assert.equal(await ids(app, WINDOW), ORDER);
  assert.equal(await ids(app, `${WINDOW}&time_field=event_time`), ['10', '11', '12', `${MAX_ID}`, '20']);
});

test('each level: its keys, and none of a lookup [Recent crossmatches]', async ({ running: { app } }) => {
  const at = async (detail: string) => {
    const { objects } = (await app.get(`${WINDOW}&detail=${detail}`)).body;
    return Object.fromEntries(objects.map((object: Json) => [object.diaObjectId_str, object]));
  };
  const base = ['diaObjectId', 'diaObjectId_str'];
  assert.equal(Object.keys((await at('ids'))['10']), base);
  const position = await at('position');
  assert.equal(Object.keys(position['10']), [...base, 'ra', 'dec']);
  assert.equal([position['10'].ra, position['10'].dec, position['30'].ra, position['30'].dec], [150, 2, null, null]);
  const matches = await at('matches');
  assert.equal(Object.keys(matches['10']), [...base, 'ra', 'dec', 'matches']);
  assert.equal(matches['10'].matches.map(Object.entries), [
    [
      ['catalog_name', 'gaia_dr3'],
      ['catalog_source_id', '9'],
      ['separation_arcsec', 0.25],
    ],
    [
      ['catalog_name', 'skymapper_dr4'],
      ['catalog_source_id', '7'],
      ['separation_arcsec', 0.25],
    ],
  ]);
  assert.is(matches['12'].matches.length, 1, 'left over on a pending object, and listed here');
  assert.equal((await app.result('/api/objects/12')).objects[0].matches, []);
  assert.is(matches['11'].matches.length, 1);
  assert.is((await app.get(WINDOW)).body.detail, 'matches');
});

test('full: the published matches', async ({ running: { app } }) => {
  const { text, body } = await app.get(`${WINDOW}&detail=full`);
  const objects = Object.fromEntries(body.objects.map((object: Json) => [object.diaObjectId_str, object]));
  const lookedUp = (await app.result('/api/objects/10?detail=full')).objects[0].matches;
  assert.equal(
    objects['10'].matches,
    lookedUp.map(({ provenance_set, ...published }: Json) => published),
  );
  assert.equal(Object.keys(objects['10'].matches[0]), [
    ...['diaObjectId', 'ra', 'dec', 'catalog_name', 'catalog_source_id', 'separation_arcsec'],
    ...[
      'catalog_release',
      'catalog_payload',
      'catalogs_skipped',
      'partial',
      'tns_checked',
      'tns_snapshot_epoch',
      'tns',
    ],
  ]);
  assert.equal(objects['11'].matches, [], 'one that cannot be published is left out, its object stays');
  assert.match(text, `"diaObjectId": ${MAX_ID}, "diaObjectId_str": "${MAX_ID}"`);
});

test('the window: start is in it, end is not [Recent crossmatches]', async ({ running: { app } }) => {
  const listed = (startUs: number, endUs: number, field = 'ingest_time') =>
    ids(app, `${PATH}?start=${iso(startUs)}&end=${iso(endUs)}&time_field=${field}`);
  assert.equal(await listed(NOW_US, NOW_US + 1), ORDER.slice(2));
  assert.equal(await listed(NOW_US + 1, NOW_US + 2), ['20']);
  assert.equal(await listed(NOW_US + 1, NOW_US + 3), ['30', '20']);
  assert.equal(await listed(NOW_US, NOW_US), []);
  assert.equal(await listed(NOW_US - 1, NOW_US, 'event_time'), ['20']);
});

const iso = (timeUs: number) => formatTime(timeUs).slice(0, -6);

test('the defaults: 12 hours until now [Recent crossmatches]', async ({ running: { app } }) => {
  const hours = ({ start, end }: Json) => (Date.parse(end) - Date.parse(start)) / 3.6e6;
  const { window, as_of } = (await app.get(PATH)).body;
  assert.equal([hours(window), window.end], [12, as_of]);
  const before = (await app.get(`${PATH}?end=2026-09-22`)).body.window;
  assert.equal(before, { start: '2026-09-21T12:00:00+00:00', end: '2026-09-22T00:00:00+00:00' });
  const recent = new Date(Date.now() - 3.6e6).toISOString();
  assert.ok(Math.abs(hours((await app.get(`${PATH}?start=${recent}`)).body.window) - 1) < 0.1);
});

test('the window comes back in the offsets that it was given in', async ({ running: { app } }) => {
  const window = async (start: string, end: string) => {
    const query = new URLSearchParams(start ? { start, end } : { end });
    const { body } = await app.get(`${PATH}?${query}`);
    return [body.window.start, body.window.end];
  };
  assert.equal(await window('2026-09-21T10:00:00+02:00', '2026-09-21T10:00:00Z'), [
    '2026-09-21T10:00:00+02:00',
    '2026-09-21T10:00:00+00:00',
  ]);
  assert.equal(await window('20260921', '2026-09-21T01:02:03.450000-0530'), [
    '2026-09-21T00:00:00+00:00',
    '2026-09-21T01:02:03.450000-05:30',
  ]);
  assert.equal(await window('', '2026-09-21T10:00:00.000001+14'), [
    '2026-09-20T22:00:00.000001+14:00',
    '2026-09-21T10:00:00.000001+14:00',
  ]);
  assert.equal(await window('9999-12-31T00:00:00.123457', '9999-12-31T23:59:59,999999'), [
    '9999-12-31T00:00:00.123457+00:00',
    '9999-12-31T23:59:59.999999+00:00',
  ]);
});

test('a window that cannot be', async ({ running: { app } }) => {
  const week = `start=2026-09-01T00:00:00&end=2026-09-08T00:00:00`;
  assert.is((await app.get(`${PATH}?${week}`)).status, 200, 'exactly 168 hours');
  for (const query of [`${week}.000001`, 'start=2026-09-02&end=2026-09-01', 'start=2999-01-01', 'start=2020-01-01']) {
    const { status, body } = await app.get(`${PATH}?${query}`);
    assert.equal(
      [status, body.code, body.params, body.param],
      [400, 'invalid_parameter', ['start', 'end'], 'start'],
      query,
    );
  }
});

test('filters and response are not supported: all are named, before anything else [Recent crossmatches]', async ({
  running: { app },
}) => {
  const fault = async (query: string) => {
    const { status, body } = await app.get(`${PATH}?${query}`);
    assert.equal([status, body.retryable], [400, false]);
    return [body.code, body.param ?? body.params];
  };
  const one = ['catalog', 'separation_arcsec_max', 'reliability_min', 'reliability_max', 'gaia_dr3.ruwe_max', 'a.b'];
  for (const name of [...one, 'x_min', 'y_max', 'response'])
    assert.equal(await fault(`start=x&${name}=&cursor=`), ['unsupported_parameter', name]);
  assert.equal(await fault('response=objects&start=x&a.b=1&catalog=x&response=count'), [
    'unsupported_parameter',
    ['response', 'a.b', 'catalog'],
  ]);
});

test('parameters: the first fault in order is named [Recent crossmatches]', async ({ running: { app } }) => {
  const param = async (query: string) => {
    const { status, body } = await app.get(`${PATH}?${query}`);
    assert.equal([status, body.code], [400, 'invalid_parameter'], query);
    return body.param ?? body.params;
  };
  for (const text of ['', 'now', '2026-13-01', '2026-02-30', '2026-01-01T25:00', '2026-01-01T00:00:00+02:00', '0']) {
    assert.is(await param(`start=${text}&end=x&page_size=x&detail=x`), 'start', text);
    assert.is(await param(`end=${text}&page_size=x&detail=x`), 'end', text);
  }
  for (const size of ['', 'x', '5.0', '1e2']) assert.is(await param(`page_size=${size}&cursor=&detail=x`), 'page_size');
  assert.is(await param('cursor=&detail=x&time_field=x&page_size=0'), 'cursor');
  for (const text of ['', 'x', 'IDS']) assert.is(await param(`detail=${text}&time_field=x&page_size=0`), 'detail');
  for (const text of ['', 'x', 'Event_time']) assert.is(await param(`time_field=${text}&page_size=0`), 'time_field');
  for (const size of ['0', '-1']) assert.is(await param(`page_size=${size}&start=2999-01-01`), 'page_size');
  assert.is(await param('start=2999-01-01'), 'start');
});

test('page_size: default 1000, clamped to 10000, not pinned', async ({ running: { app } }) => {
  assert.is((await app.get(`${PATH}?page_size=10001`)).body.page_size, 10_000);
  assert.is((await app.get(`${PATH}?page_size=%2B7%20`)).body.page_size, 7);
  const { next_cursor } = (await app.get(`${WINDOW}&page_size=1`)).body;
  const rest = (await app.get(`${PATH}?cursor=${next_cursor}`)).body;
  assert.equal([rest.count, rest.page_size, rest.next_cursor], [5, 1000, null]);
});

test('a walk: as_of, window, field and level stay', async ({ running: { app } }) => {
  for (const field of ['ingest_time', 'event_time']) {
    const query = `start=2026-09-21T08:30:00-05:30&end=2026-09-21T17:00:00%2B02:00&time_field=${field}&detail=position`;
    const first = (await app.get(`${PATH}?${query}&page_size=2`)).body;
    const utc = { start: '2026-09-21T14:00:00+00:00', end: '2026-09-21T15:00:00+00:00' };
    const seen = first.objects.map((object: Json) => object.diaObjectId_str);
    let page = first;
    while (page.next_cursor !== null) {
      page = (await app.get(`${PATH}?cursor=${page.next_cursor}&page_size=2`)).body;
      assert.equal([page.window, page.time_field, page.detail, page.as_of], [utc, field, 'position', first.as_of]);
      assert.equal(Object.keys(page.objects[0]).slice(2), ['ra', 'dec']);
      seen.push(...page.objects.map((object: Json) => object.diaObjectId_str));
    }
    assert.equal(seen, field === 'ingest_time' ? ORDER : ['10', '11', '12', `${MAX_ID}`, '20']);
  }
});

test('a page that ends with the last object has no cursor', async ({ running: { app } }) => {
  assert.is((await app.get(`${WINDOW}&page_size=6`)).body.next_cursor, null);
  assert.type((await app.get(`${WINDOW}&page_size=5`)).body.next_cursor, 'string');
});

test('what the cursor pins may be repeated, as another text of the same instant too, but not changed', async ({
  running: { app },
}) => {
  const query = 'start=2026-09-21T14:00:00Z&end=2026-09-21T15:00:00Z&detail=ids&time_field=event_time';
  const { next_cursor } = (await app.get(`${PATH}?${query}&page_size=1`)).body;
  const follow = (more: string) => app.get(`${PATH}?cursor=${next_cursor}&${more}`);
  assert.is((await follow(query)).status, 200);
  assert.is((await follow('start=2026-09-21T16:00:00%2B02:00&end=20260921T15')).status, 200);
  const faults: Record<string, string[]> = {
    start: ['2026-09-21T14:00:00.000001', '2026-09-21', 'x', ''],
    end: ['2026-09-21T15:00:01', ''],
    time_field: ['ingest_time', 'x', ''],
    detail: ['matches', 'x', ''],
  };
  for (const [name, texts] of Object.entries(faults)) {
    for (const text of texts) {
      const { status, body } = await follow(`${name}=${text}`);
      assert.equal([status, body.code, body.param], [400, 'invalid_parameter', name], text);
    }
  }
  const param = async (more: string) => (await follow(more)).body.param;
  assert.is(await param('detail=x&time_field=x&end=2026-01-01&start=2026-01-01'), 'start');
  assert.is(await param('detail=x&time_field=x&end=2026-01-01'), 'end');
  assert.is(await param('detail=x&time_field=x'), 'time_field');
});

function forged(fields: Readonly<Record<string, unknown>>): string {
  const good = {
    k: 'recent_crossmatches',
    t: formatTime(NOW_US + 1),
    i: 20,
    s: formatTime(NOW_US - HOUR_US),
    e: formatTime(NOW_US + HOUR_US),
    f: 'ingest_time',
    d: 'ids',
    a: formatTime(NOW_US + HOUR_US),
  };
  return Buffer.from(JSON.stringify({ ...good, ...fields })).toString('base64url');
}

test('cursors of other makers: what may be missing, and naive times', async ({ running: { app } }) => {
  assert.equal(await ids(app, `${PATH}?cursor=${forged({})}`), ORDER.slice(2));
  assert.equal(await ids(app, `${PATH}?cursor=${forged({ k: undefined })}`), ORDER.slice(2));
  assert.equal(await ids(app, `${PATH}?cursor=${forged({ s: iso(NOW_US), t: iso(NOW_US + 1) })}`), ORDER.slice(2));
  const { body } = await app.get(`${PATH}?cursor=${forged({ a: undefined })}`);
  assert.ok(Math.abs(Date.parse(body.as_of) - Date.now()) < 60_000, 'as of this request');
  assert.equal(await ids(app, `${PATH}?cursor=${forged({ a: formatTime(NOW_US - 1) })}`), [], 'as_of comes from it');
  assert.equal(await ids(app, `${PATH}?cursor=${forged({ t: '1999-01-01' })}`), []);
  assert.equal(await ids(app, `${PATH}?cursor=${forged({ t: '9999-01-01' })}`), ORDER);
});

test('as_of bounds the ingest time, whatever the field of the window [Recent crossmatches]', async ({
  running: { app },
}) => {
  const walk = { f: 'event_time', t: formatTime(NOW_US + 1), a: formatTime(NOW_US) };
  assert.equal(await ids(app, `${PATH}?cursor=${forged(walk)}`), ['10', '11', '12', `${MAX_ID}`]);
  assert.equal(await ids(app, `${PATH}?cursor=${forged({ ...walk, a: formatTime(NOW_US + 1) })}`), [
    ...['10', '11', '12', `${MAX_ID}`, '20'],
  ]);
});

test('a bad cursor is a 400 that names it', async ({ running: { app } }) => {
  const cone = (await app.get('/api/cone?ra=150&dec=2&radius_arcsec=5&page_size=1')).body.next_cursor;
  const bad = {
    empty: '',
    damaged: '!!!',
    long: 'A'.repeat(1025),
    'of another operation': cone,
    'no such operation': forged({ k: 'zzz' }),
    'kind null': forged({ k: null }),
    ...Object.fromEntries([...'tisefd'].map(key => [`without ${key}`, forged({ [key]: undefined })])),
    'as_of null': forged({ a: null }),
    'bad as_of': forged({ a: 'x' }),
    'bad time': forged({ t: '2026-13-01T00:00:00' }),
    'boolean id': forged({ i: true }),
    'textual id': forged({ i: '20' }),
    'fractional id': forged({ i: 0.5 }),
    'numeric detail': forged({ d: 5 }),
    'no such detail': forged({ d: 'x' }),
    'no such field': forged({ f: 'x' }),
  };
  for (const [name, cursor] of Object.entries(bad)) {
    const { status, body } = await app.get(`${PATH}?cursor=${cursor}&page_size=0`);
    assert.equal([status, body.code, body.param], [400, 'invalid_parameter', 'cursor'], name);
  }
  for (const fields of [{ s: formatTime(NOW_US + 2 * HOUR_US) }, { s: formatTime(NOW_US - 168 * HOUR_US) }]) {
    const { body } = await app.get(`${PATH}?cursor=${forged(fields)}`);
    assert.equal([body.code, body.params, body.param], ['invalid_parameter', ['cursor'], 'cursor']);
  }
  const recent = (await app.get(`${WINDOW}&page_size=1`)).body.next_cursor;
  assert.is((await app.get(`/api/cone?cursor=${recent}`)).body.param, 'cursor');
});

test.run();
