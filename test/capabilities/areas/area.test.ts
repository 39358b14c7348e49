/** POST /api/area and GET /api/objects: pages, filters, windows, counts and formats, against a scan of all objects. */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { pixel29, separationArcsec } from '@nearsky/sky-index';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { formatTime } from '../../../src/core/base/times.ts';
import { MAX_LOOKED_AT } from '../../../src/core/contract/limits.ts';
import {
  crossmatched,
  delivery,
  eventually,
  type Json,
  match,
  NOW_US,
  type Running,
  searched,
  startApp,
  type TestApp,
  type World,
  withApp,
} from '../../core/http/support.ts';
import { writeUniqFits } from '../../core/http/uniq_fits.ts';
import { anywhere, seededRandom } from '../../oracle/skies.ts';

const OBJECTS = 600;
/** A busy machine must not fail the test. */

interface Stored {
  readonly id: bigint;
  readonly ra: number;
  readonly dec: number;
  readonly reliability: number;
  readonly ingestUs: number;
  readonly eventUs: number;
  /** The `ruwe` of its source; undefined without one. */
  readonly ruwe: number | undefined;
}

const random = seededRandom(11);
const stored = Array.from({ length: OBJECTS }, (_, i): Stored => {
  // Each third object has two neighbours within a few arcsec.
  const { ra, dec } = anywhere(i % 3 ? seededRandom(i - (i % 3)) : seededRandom(i));
  return {
    id: BigInt((i * 7919) % 100_003) + 2n ** 60n,
    ra: (ra + (i % 3) * 1e-4) % 360,
    dec: Math.max(-90, Math.min(90, dec)),
    reliability: Math.round(100 * random()) / 100,
    ingestUs: NOW_US + 1e6 * Math.floor(i / 100),
    eventUs: NOW_US - Math.floor(1e9 * random()),
    ruwe: i % 4 ? Math.round(300 * random()) / 100 : undefined,
  };
});

async function fill(world: World): Promise<void> {
  for (const batch of Map.groupBy(stored, ({ ingestUs }) => ingestUs).values()) {
    const deliveries = batch.map(({ id, ra, dec, reliability, eventUs }) =>
      delivery(id, { position: { ra, dec }, reliability, eventTimeUs: eventUs }),
    );
    await world.writer.ingest(deliveries, batch[0]!.ingestUs);
  }
  for (const { id, ruwe } of stored) {
    if (ruwe === undefined) continue;
    await crossmatched(world, id, searched('gaia_dr3'), [match('gaia_dr3', `${id}`, { payload: { ruwe } })]);
  }
}

const test = suite<{ running: Running }>('http/area');

test.before(async context => {
  context.running = await startApp(fill);
});
test.after(async ({ running }) => running.close());

/** Follows the pages of an area; the objects and the sizes of pages. */
async function walk(app: TestApp, query: string, body: string | Uint8Array): Promise<Json[]> {
  const objects: Json[] = [];
  let cursor = '';
  for (;;) {
    const {
      status,
      body: page,
      text,
    } = await app.post(`/api/area?${query}${cursor}`, body, 'application/octet-stream');
    assert.is(status, 200, text.slice(0, 300));
    objects.push(...page.objects);
    assert.is(page.count, page.objects.length);
    if (page.next_cursor === null) return objects;
    cursor = `&cursor=${page.next_cursor}`;
  }
}

const order16 = ({ ra, dec }: Stored) => pixel29(ra, dec) >> 26n;

function inOrder(of: readonly Stored[], levelOf: (each: Stored) => number = () => 0): string[] {
  return of
    .toSorted((a, b) => levelOf(a) - levelOf(b) || Number(order16(a) - order16(b)) || (a.id < b.id ? -1 : 1))
    .map(({ id }) => `${id}`);
}

const idsOf = (objects: readonly Json[]): string[] => objects.map(({ diaObjectId_str }) => diaObjectId_str);
const isIn = (ra: number, dec: number, degrees: number) => (each: Stored) =>
  separationArcsec(ra, dec, each.ra, each.dec) <= 3600 * degrees;

const CIRCLE = 'CIRCLE 40 10 70';
const inCircle = isIn(40, 10, 70);

test('a circle as a body in each spelling, and as a parameter: every object inside, in order, with any page size [Areas]', async ({
  running: { app },
}) => {
  const wanted = inOrder(stored.filter(inCircle));
  assert.ok(wanted.length > 100);
  for (const text of [CIRCLE, "circle('ICRS', 40, 10, 70)", ' Circle ICRS 40 10 7e1 ', 'CIRCLE(40,10,70)'])
    assert.equal(idsOf(await walk(app, 'detail=ids', text)), wanted, text);
  for (const size of [1, 7, 64]) assert.equal(idsOf(await walk(app, `detail=ids&page_size=${size}`, CIRCLE)), wanted);
  const { body } = await app.get(`/api/area?area=${encodeURIComponent(CIRCLE)}&detail=full`, { method: 'POST' });
  assert.equal(idsOf(body.objects), wanted);
  assert.equal(body.area, { kind: 'circle', level: null });
});

test('a polygon and MOCs in text, JSON and FITS [Areas]', async ({ running: { app } }) => {
  const octant = stored.filter(({ ra, dec }) => ra < 90 && dec > 0);
  assert.equal(idsOf(await walk(app, 'detail=ids', 'POLYGON 0 0 90 0 0 90')), inOrder(octant));
  const cells = [3, 5, 40, 41, 100];
  const inMoc = stored.filter(each => cells.includes(Number(order16(each) >> 28n)));
  assert.ok(inMoc.length > 5);
  for (const body of [
    '2/3 5 40-41 100 29/',
    '{"2": [3, 5, 40, 41, 100], "3": [12]}',
    writeUniqFits({ cells, order: 2 }),
  ])
    assert.equal(idsOf(await walk(app, 'detail=ids', body)), inOrder(inMoc));
});

test('a map of probability: the densest pixels up to the level, each object with its own [Areas]', async ({
  running: { app },
}) => {
  const cells = Array.from({ length: 48 }, (_, cell) => cell);
  const density = cells.map(cell => ((cell * 29) % 48) ** 2);
  const total = density.reduce((sum, each) => sum + each, 0);
  const levelOf = (each: Stored) => {
    const own = density[Number(order16(each) >> 30n)]!;
    return density.filter(other => other >= own).reduce((sum, other) => sum + other, 0) / total;
  };
  const map = writeUniqFits({ cells, order: 1, density });
  for (const level of [undefined, 0.5, 1]) {
    const wanted = stored.filter(each => levelOf(each) <= (level ?? 0.9) && order16(each) >> 30n !== 0n);
    const query = level === undefined ? '' : `level=${level}&`;
    const objects = await walk(app, `${query}detail=ids&page_size=37`, map);
    assert.equal(idsOf(objects), inOrder(wanted, levelOf));
    for (const { diaObjectId_str, credible_level } of objects)
      assert.ok(Math.abs(credible_level - levelOf(stored.find(({ id }) => `${id}` === diaObjectId_str)!)) < 1e-12);
    const { body } = await app.post(`/api/area?${query}response=count`, map, 'application/fits');
    assert.is(body.total, wanted.length);
  }
});

test('the outline of an area, to draw it [Areas]', async ({ running: { app } }) => {
  const outline = async (query: string, body: string | Uint8Array) => {
    const answer = await app.post(`/api/area?response=outline${query}`, body, null);
    assert.is(answer.status, 200, answer.text);
    return answer.body;
  };
  // A pixel of order 12 has 2 edges on each side at order 13.
  const moc = await outline('', '12/5');
  assert.equal([moc.response, moc.area, moc.order, moc.edges.length], ['outline', { kind: 'moc', level: null }, 13, 8]);
  const cells = Array.from({ length: 12 }, (_, cell) => cell);
  const map = writeUniqFits({ cells, order: 0, density: cells.map(cell => (cell === 4 ? 2 : 1)) });
  const { area, edges } = await outline('&level=0.5', map);
  assert.equal(area, { kind: 'probability_map', level: 0.5 });
  // The cell at RA 0 on the equator reaches from corner to corner.
  const decs = edges.flatMap(([, dec, , toDec]: number[]) => [dec, toDec]);
  assert.ok(Math.abs(Math.max(...decs) - 41.81) < 0.01 && Math.abs(Math.min(...decs) + 41.81) < 0.01);
  assert.equal((await outline('&level=1', map)).edges, []);
  // In one answer, the regions that are smaller: the same as each alone.
  const fine = writeUniqFits({ cells, order: 0, density: cells.map(cell => 12 - cell) });
  const sorted = (found: number[][]) => found.map(String).toSorted();
  const { contours } = await outline('&level=0.99', fine);
  assert.equal(
    contours.map(({ level }: { level: number }) => level),
    [0.5, 0.9],
  );
  for (const { level, order, edges } of contours) {
    const alone = await outline(`&level=${level}`, fine);
    assert.equal([order, sorted(edges)], [alone.order, sorted(alone.edges)]);
    assert.ok(edges.length > 0);
  }
  assert.equal((await outline('&level=0.5', fine)).contours, []);
  const asTable = await app.post('/api/area?response=outline&format=csv', '12/5', null);
  assert.equal([asTable.status, asTable.body.param], [400, 'format'], asTable.text);
});

const FILTERED: readonly [query: string, meets: (each: Stored) => boolean][] = [
  ['reliability_min=0.5', ({ reliability }) => reliability >= 0.5],
  ['gaia_dr3.ruwe_max=1.2', ({ ruwe }) => ruwe !== undefined && ruwe <= 1.2],
  ['catalog=gaia_dr3&reliability_max=0.3', ({ ruwe, reliability }) => ruwe !== undefined && reliability <= 0.3],
  ['gaia_dr3.ruwe_min=99', () => false],
];
const at = (timeUs: number) => formatTime(timeUs).replace('+', '%2B');
const WINDOWS: readonly [query: string, isIn: (each: Stored) => boolean][] = [
  [`start=${at(NOW_US + 1e6)}`, ({ ingestUs }) => ingestUs >= NOW_US + 1e6],
  [
    `end=${at(NOW_US + 3e6)}&start=${at(NOW_US + 1e6)}`,
    ({ ingestUs }) => ingestUs >= NOW_US + 1e6 && ingestUs < NOW_US + 3e6,
  ],
  [`time_field=event_time&end=${at(NOW_US - 5e8)}`, ({ eventUs }) => eventUs < NOW_US - 5e8],
];

const STATUSES: readonly [query: string, has: (each: Stored) => boolean][] = [
  ['status=coincident_sources', ({ ruwe }) => ruwe !== undefined],
  ['status=crossmatch_pending', ({ ruwe }) => ruwe === undefined],
  ['status=not_searched', () => false],
];

test('filters and the window leave objects out of pages and counts [Areas; Filters and counts; Objects by time]', async ({
  running: { app },
}) => {
  for (const [filter, meets] of [['', () => true] as const, ...FILTERED, ...STATUSES]) {
    for (const [window, isInWindow] of [['', () => true] as const, ...WINDOWS]) {
      const wanted = stored.filter(each => inCircle(each) && meets(each) && isInWindow(each));
      const query = [filter, window].filter(Boolean).join('&');
      assert.equal(idsOf(await walk(app, `${query}&detail=matches&page_size=50`, CIRCLE)), inOrder(wanted), query);
      const { body } = await app.post(`/api/area?${query}&response=count`, CIRCLE, 'text/plain');
      assert.is(body.total, wanted.length, query);
    }
  }
});

test('every object by time, those of a status, and those that meet filters [Objects by time]', async ({
  running: { app },
}) => {
  const filtered = [['', () => true] as const, ...FILTERED].flatMap(([filter, meets]) =>
    [['', () => true] as const, ...STATUSES].map(
      ([status, has]) =>
        [[filter, status].filter(Boolean).join('&'), (each: Stored) => meets(each) && has(each)] as const,
    ),
  );
  for (const [filter, meets] of filtered) {
    for (const [window, isInWindow] of [['', () => true] as const, ...WINDOWS]) {
      const timeOf = window.includes('event_time') ? (each: Stored) => each.eventUs : (each: Stored) => each.ingestUs;
      const wanted = stored
        .filter(each => meets(each) && isInWindow(each))
        .sort((a, b) => timeOf(b) - timeOf(a) || (a.id < b.id ? -1 : 1));
      const objects: Json[] = [];
      let cursor = '';
      do {
        const { body, status, text } = await app.get(
          `/api/objects?${filter}&${window}&page_size=70&detail=matches${cursor}`,
        );
        assert.is(status, 200, text.slice(0, 300));
        objects.push(...body.objects);
        cursor = body.next_cursor && `&cursor=${body.next_cursor}`;
      } while (cursor);
      assert.equal(
        idsOf(objects),
        wanted.map(({ id }) => `${id}`),
        `${filter} ${window}`,
      );
      const { body: count } = await app.get(`/api/objects?${filter}&${window}&page_size=70&response=count`);
      assert.is(count.total, wanted.length, `${filter} ${window}`);
      assert.equal(Object.keys(count), [
        'provenance',
        'response',
        'window',
        'time_field',
        'status',
        'filters',
        'total',
      ]);
    }
  }
});

test('tables say the same; a walk goes on over them', async ({ running: { app } }) => {
  const [first] = await walk(app, 'detail=position', CIRCLE);
  const answer = await app.post('/api/area?format=csv&detail=position&page_size=3', CIRCLE, 'text/plain');
  const [head, line] = answer.text.split('\n');
  assert.match(head!, /^diaObjectId,status,ra,dec,reliability,/);
  assert.ok(line!.startsWith(`${first.diaObjectId_str},${first.status},${first.ra},${first.dec},`));
  assert.match(answer.headers.get('Link') ?? '', /cursor=/);
  const map = writeUniqFits({ cells: [0, 1], order: 0, density: [1, 2] });
  const table = await app.post('/api/area?format=ndjson&level=1&page_size=1', map, 'application/fits');
  assert.is(JSON.parse(table.text).credible_level, 2 / 3);
  const objects = await app.get('/api/objects?format=csv&detail=ids');
  assert.match(objects.text, /^diaObjectId,status[,\n]/);
});

test('a map of NSIDE 1024 in doubles, page by page; further ones wait their turn [Areas]', async () => {
  const packed = gunzipSync(readFileSync(new URL('../../fixtures/areas/nside1024.fits.gz.gz', import.meta.url)));
  const positions: [number, number, number | null][] = JSON.parse(
    readFileSync(new URL('../../fixtures/areas/nside1024.json', import.meta.url), 'utf8'),
  );
  const withObjects = async (world: World) => {
    const deliveries = positions.map(([ra, dec], i) => delivery(BigInt(i + 1), { position: { ra, dec } }));
    await world.writer.ingest(deliveries, NOW_US);
  };
  const running = await startApp(withObjects);
  try {
    const byLevel = [...positions.entries()].filter(([, [, , level]]) => level !== null && level <= 0.9);
    const wanted = byLevel.map(([i]) => `${i + 1}`).toSorted();
    assert.ok(wanted.length > 50);
    const objects = await walk(running.app, 'detail=ids&page_size=40', packed);
    assert.equal(idsOf(objects).toSorted(), wanted);
    for (const { diaObjectId_str, credible_level } of objects)
      assert.ok(Math.abs(credible_level - positions[Number(diaObjectId_str) - 1]![2]!) < 1e-9);
    const both = await Promise.all(
      [0.3, 0.4].map(level => running.app.post(`/api/area?response=count&level=${level}`, packed, null)),
    );
    assert.equal(
      both.map(({ status }) => status),
      [200, 200],
    );
    const again = await running.app.post('/api/area?response=count&level=0.7', packed, null);
    assert.equal([again.status, again.body.area], [200, { kind: 'probability_map', level: 0.7 }]);
  } finally {
    await running.close();
  }
});

test('areas and levels that are asked for in turns are not confused', async ({ running: { app } }) => {
  const map = writeUniqFits({ cells: [0, 1, 2], order: 0, density: [3, 2, 1] });
  const count = async (query: string, body: string | Uint8Array) => {
    const { status, body: answer } = await app.post(`/api/area?response=count&${query}`, body, null);
    return status === 200 ? answer.total : status;
  };
  const asked: readonly [query: string, body: string | Uint8Array][] = [
    ['level=0.6', map],
    ['level=1', map],
    ['', '0/0'],
    ['', '0/0-11'],
    ['level=0.6', '0/0'],
    ['', 'nothing'],
  ];
  const alone = await Promise.all(asked.map(each => count(...each)));
  assert.is(new Set(alone.slice(0, 4)).size > 2, true);
  assert.equal(alone.slice(3), [OBJECTS, 400, 400]);
  for (const at of [0, 0, 1, 2, 0, 3, 5, 4, 3, 1]) assert.is(await count(...asked[at]!), alone[at], `${at}`);
});

/** It has two neighbours. */
const CROWD = stored[2]!;

test('a cursor of which any member was altered names cursor, on each listing [Cursors]', async ({
  running: { app },
}) => {
  const OTHER: Readonly<Record<string, unknown>> = {
    k: 'other',
    t: formatTime(NOW_US - 1),
    a: formatTime(NOW_US + 9e6),
    s: formatTime(NOW_US - 7e6),
    e: formatTime(NOW_US + 7e6),
    f: 'event_time',
    u: 'not_searched',
    d: 'full',
    i: 7,
    ra: 41,
    dec: 11,
    r: 59,
    l: 0.25,
    p: 5,
    n: 'x',
    o: '00000000',
    c: '00000000',
  };
  let members = 0;
  for (const [path, area] of [
    [`/api/cone?ra=${CROWD.ra}&dec=${CROWD.dec}&radius_arcsec=60`, undefined],
    [`/api/recent-crossmatches?start=${at(NOW_US - 1e9)}&end=${at(NOW_US + 1e9)}`, undefined],
    ['/api/objects?', undefined],
    ['/api/area?', CIRCLE],
  ] as const) {
    const ask = (query: string) =>
      area === undefined ? app.get(`${path}&${query}`) : app.post(`${path}&${query}`, area, 'text/plain');
    const own = (await ask('page_size=1')).body.next_cursor;
    const next = path.split('?')[0]!;
    const follow = (token: string) =>
      area === undefined ? app.get(`${next}?cursor=${token}`) : app.post(`${next}?cursor=${token}`, area, 'text/plain');
    assert.is((await follow(own)).status, 200, path);
    const json = Buffer.from(own, 'base64url').toString();
    for (const name of Object.keys(JSON.parse(json))) {
      const altered = json.replace(
        new RegExp(`"${name}":("[^"]*"|[^,}]*)`),
        `"${name}":${JSON.stringify(OTHER[name])}`,
      );
      assert.is.not(altered, json, name);
      const { status, body } = await follow(Buffer.from(altered).toString('base64url'));
      assert.equal([status, body.code, body.param], [400, 'invalid_parameter', 'cursor'], `${path}: ${altered}`);
      members++;
    }
  }
  assert.is(members, 38);
});

test('time_field is in the cursor: it need not be repeated, and cannot be changed [Objects by time]', async ({
  running: { app },
}) => {
  const filter = `gaia_dr3.ruwe_min=0&start=${at(NOW_US - 5e8)}&end=${at(NOW_US + 1e9)}&detail=ids&page_size=40`;
  const wanted = stored.filter(({ ruwe, eventUs }) => ruwe !== undefined && eventUs >= NOW_US - 5e8);
  const byTime = wanted.toSorted((a, b) => b.eventUs - a.eventUs || (a.id < b.id ? -1 : 1)).map(({ id }) => `${id}`);
  for (const [path, area, ids] of [
    ['/api/objects', undefined, byTime],
    ['/api/area', '0/0-11', inOrder(wanted)],
  ] as const) {
    const ask = (query: string) =>
      area === undefined ? app.get(`${path}?${query}`) : app.post(`${path}?${query}`, area, 'text/plain');
    const { body: first } = await ask(`${filter}&time_field=event_time`);
    const found = idsOf(first.objects);
    let cursor = first.next_cursor;
    const { status, body: other } = await ask(`${filter}&time_field=ingest_time&cursor=${cursor}`);
    assert.equal([status, other.param], [400, 'time_field'], path);
    while (cursor !== null) {
      const { body } = await ask(`${filter}&cursor=${cursor}`);
      assert.is(body.time_field, 'event_time', path);
      found.push(...idsOf(body.objects));
      cursor = body.next_cursor;
    }
    assert.equal(found, ids, path);
  }
});

test('status is in the cursor: it need not be repeated, and cannot be changed [Areas]', async ({
  running: { app },
}) => {
  for (const [path, area] of [
    ['/api/objects', undefined],
    ['/api/area', '0/0-11'],
  ] as const) {
    const ask = (query: string) =>
      area === undefined ? app.get(`${path}?${query}`) : app.post(`${path}?${query}`, area, 'text/plain');
    const { body: first } = await ask('status=crossmatch_pending&detail=ids&page_size=20');
    assert.is(first.status, 'crossmatch_pending');
    const { body: next } = await ask(`cursor=${first.next_cursor}&detail=ids&page_size=20`);
    const both = [...first.objects, ...next.objects];
    assert.equal([next.status, both.length, new Set(idsOf(both)).size], ['crossmatch_pending', 40, 40], path);
    assert.ok(both.every(({ status }) => status === 'crossmatch_pending'));
    const { status, body } = await ask(`cursor=${first.next_cursor}&status=any`);
    assert.equal([status, body.param], [400, 'status'], path);
  }
});

test('a cursor is of its area; what is wrong is named [Areas]', async ({ running: { app } }) => {
  const { body } = await app.post('/api/area?page_size=1', CIRCLE, 'text/plain');
  const refused = async (query: string, sent: string | Uint8Array, param: string, says: RegExp) => {
    const { status, body } = await app.post(`/api/area?${query}`, sent, 'text/plain');
    assert.is(status, 400, query);
    assert.is((body.params ?? [body.param]).join(), param);
    assert.match(body.message, says);
  };
  await refused(`cursor=${body.next_cursor}`, 'CIRCLE 40 10 71', 'cursor', /differs/);
  await refused(`cursor=${body.next_cursor}&response=count`, CIRCLE, 'cursor', /count/);
  await refused('response=count&format=csv', CIRCLE, 'format', /not a table/);
  for (const [query, param] of [
    ['response=count&cursor=x', 'cursor'],
    ['response=count&format=csv', 'format'],
    ['response=table', 'response'],
  ] as const)
    assert.is((await app.get(`/api/objects?${query}`)).body.param, param);
  await refused('', '', 'area', /give/);
  await refused('area=CIRCLE+1+2+3', CIRCLE, 'area', /two areas/);
  await refused('level=0.5', CIRCLE, 'level', /not a probability map/);
  await refused('level=1.5', CIRCLE, 'level', /at most 1/);
  await refused(`start=${at(NOW_US)}&end=${at(NOW_US - 1)}`, CIRCLE, 'start,end', /before its start/);
  await refused('', 'CIRCLE 40 10', 'area', /3 numbers: .* \(2 were given\)/);
  await refused('', 'CIRCLE 40', 'area', /3 numbers: .* \(1 was given\)/);
  await refused('', '3/1 x', 'area', /\(x was found\)/);
  await refused('', '1-5', 'area', /\(1-5 was found\)/);
  await refused('', 'POLYGON 40', 'area', /\(1 number was given\)/);
  await refused('', 'POLYGON 40 1 2', 'area', /\(3 numbers were given\)/);
  await refused('', 'x'.repeat(9_000_000), 'body', /8388608/);
  // For a probability map, the default level gives the same result as no level.
  const same = await app.post(`/api/area?page_size=1&level=0.9&cursor=${body.next_cursor}`, CIRCLE, 'text/plain');
  assert.is(same.status, 200);
  const fields = Buffer.from(body.next_cursor, 'base64url').toString();
  for (const [from, to] of [
    [/"l":0/, '"l":0.5'],
    [/"l":0/, '"l":-1'],
    [/"l":0/, '"l":1e999'],
    [/"l":0/, '"l":null'],
    [/"p":\d+/, '"p":0.5'],
    [/"p":\d+/, '"p":-1'],
    [/"p":\d+/, `"p":${12 * 4 ** 16}`],
    // A pixel far outside of the circle.
    [/"p":\d+/, `"p":${12 * 4 ** 16 - 1}`],
    [/"i":\d+/, '"i":-1'],
    [/"a":"/, '"a":"x'],
    [/"n":"/, '"n":"x'],
    [/"n":".*?"/, '"n":1'],
  ] as const) {
    const altered = fields.replace(from, to);
    assert.is.not(altered, fields);
    // A cursor of the public service has no checksum.
    for (const each of [altered, altered.replace(/,"c":"\w+"/, '')]) {
      const token = Buffer.from(each).toString('base64url');
      await refused(`page_size=1&cursor=${token}`, CIRCLE, 'cursor', /give the next_cursor of a page, unchanged/);
    }
  }
  const objects = await app.get('/api/objects?page_size=1');
  const other = await app.get(`/api/objects?time_field=event_time&cursor=${objects.body.next_cursor}`);
  assert.is(other.body.param, 'time_field');
  const foreign = await app.get(`/api/objects?cursor=${body.next_cursor}`);
  assert.is(foreign.body.param, 'cursor');
});

/** Objects along the equator, which no filter has to meet. */
const alongEquator = (first: number, count: number) =>
  Array.from({ length: count }, (_, i) =>
    delivery(BigInt(first + i), {
      position: { ra: (0.017 * (first + i)) % 360, dec: 0.1 * Math.sin(i) },
      reliability: 0.1,
    }),
  );

test('a walk goes on while objects arrive: those of before its first page once each, in order [Areas]', () =>
  withApp(
    async ({ writer }) => void (await writer.ingest(alongEquator(0, 300), NOW_US)),
    async (app, { writer }) => {
      const whole = idsOf(await walk(app, 'detail=ids', '0/0-11'));
      const ids: string[] = [];
      let cursor = '';
      for (let n = 1; ; n++) {
        const { body } = await app.post(`/api/area?detail=ids&page_size=17${cursor}`, '0/0-11', null);
        ids.push(...idsOf(body.objects));
        if (body.next_cursor === null) break;
        cursor = `&cursor=${body.next_cursor}`;
        // Later than any page, so that none of these belongs to the walk.
        await writer.ingest(alongEquator(1000 * n, 40), 4_000_000_000_000_000);
        await eventually('the new objects are indexed', async () => {
          const { body } = await app.post('/api/area?response=count', '0/0-11', null);
          return body.total === 300 + 40 * n || undefined;
        });
      }
      assert.equal(ids, whole);
    },
  ));

test('a walk by time goes on while objects arrive and are crossmatched [Objects by time]', () =>
  withApp(
    async world => {
      await world.writer.ingest(alongEquator(0, 299), NOW_US);
      await world.writer.ingest([delivery(299n, { position: null })], NOW_US);
      for (let id = 0n; id < 100n; id += 2n)
        await crossmatched(world, id, searched('gaia_dr3'), [match('gaia_dr3', `${id}`)]);
    },
    async (app, world) => {
      const matchedBefore = Array.from({ length: 50 }, (_, i) => `${2 * i}`);
      let next = 1;
      for (const query of ['status=coincident_sources', 'status=any&time_field=event_time', '']) {
        const ids: string[] = [];
        let cursor = '';
        for (;;) {
          const { body } = await app.get(`/api/objects?${query}&detail=ids&page_size=7${cursor}`);
          ids.push(...idsOf(body.objects));
          if (body.next_cursor === null) break;
          cursor = `&cursor=${body.next_cursor}`;
          // Later than any page, so that none of these belongs to the walk.
          await world.writer.ingest(alongEquator(1000 * next, 5), 4_000_000_000_000_000 + next);
          // Objects before and after the position of the walk get their first match.
          for (const id of [next, next + 148])
            await crossmatched(world, BigInt(id), searched('gaia_dr3'), [match('gaia_dr3', `${id}`)]);
          next += 2;
        }
        // Objects that arrived during earlier walks are later, so they are listed first.
        const early = ids.filter(id => Number(id) < 1000);
        assert.equal(
          early,
          early.toSorted((a, b) => Number(a) - Number(b)),
          'in order, none twice',
        );
        assert.is(new Set(ids).size, ids.length);
        const inPage = await app.get(`/api/objects?${query}&detail=ids&page_size=1`);
        assert.ok(inPage.body.as_of > '2096', 'no object is hidden from the next walk');
        if (!query.includes('coincident'))
          assert.equal(
            early,
            Array.from({ length: 300 }, (_, i) => `${i}`),
          );
        else
          assert.equal(
            matchedBefore.filter(id => !ids.includes(id)),
            [],
          );
      }
    },
  ));

test('a page looks at so many objects at most, and the next one goes on behind them [Areas]', () =>
  withApp(
    async ({ writer }) => {
      await writer.ingest(alongEquator(0, MAX_LOOKED_AT + 500), NOW_US);
      await writer.ingest([delivery(10n ** 6n, { position: { ra: 359.9999, dec: -89 }, reliability: 0.9 })], NOW_US);
    },
    async app => {
      const query = 'detail=ids&reliability_min=0.5';
      const { body } = await app.post(`/api/area?${query}`, '0/0-11', null);
      assert.equal([body.count, body.next_cursor === null], [0, false]);
      assert.equal(idsOf(await walk(app, query, '0/0-11')), ['1000000']);
    },
  ));

test.run();
