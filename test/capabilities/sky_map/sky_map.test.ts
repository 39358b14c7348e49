/** GET /api/sky-map against a count by brute force: while objects arrive, are crossmatched, and after a restart. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pixelOf } from '@nearsky/sky-index';
import { Coverage } from '@nearsky/sky-index/areas';
import * as fc from 'fast-check';
import { cellToChildren, cellToLatLng, cellToParent, latLngToCell } from 'h3-js';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { keyOfCell } from '../../../src/capabilities/sky_map/cells.ts';
import { readCounts, saveCounts } from '../../../src/capabilities/sky_map/counts_file.ts';
import { SkyCounts } from '../../../src/capabilities/sky_map/sky_counts.ts';
import { SkyCoverage } from '../../../src/capabilities/sky_map/sky_coverage.ts';
import { SkyMap } from '../../../src/capabilities/sky_map/sky_map.ts';
import { Budget } from '../../../src/core/base/budget.ts';
import { ClientAdmission } from '../../../src/core/base/client_admission.ts';
import { currentProvenance } from '../../../src/core/store/provenance.ts';
import { STORED_STATUSES, statusOf } from '../../../src/core/store/status.ts';
import { openStore, type Store } from '../../../src/core/store/store.ts';
import type { StoredObject } from '../../../src/core/store/types.ts';
import { Writer } from '../../../src/core/store/writer.ts';
import { registrationOf } from '../../core/catalogs/registration.ts';
import {
  configOf,
  crossmatched,
  delivery,
  eventually,
  type Json,
  match,
  NOW_US,
  searched,
  type TestApp,
  withApp,
  withDirectory,
} from '../../core/http/support.ts';
import { withThreads } from '../../core/pool/calling_thread.ts';

const test = suite('sky_map/sky_map');
/** Sequences of states. */
const RUNS = Number(process.env.TEST_STATES ?? 6);

type Counts = Record<string, number[]>;

/** Cell, then objects by status in the order of STORED_STATUSES. */
function counted(objects: Iterable<StoredObject>, resolution: number): Counts {
  const cells: Counts = {};
  for (const object of objects) {
    if (!object.position) continue;
    const cell = cellToParent(latLngToCell(object.position.dec, object.position.ra, 7), resolution);
    const counts = (cells[cell] ??= STORED_STATUSES.map(() => 0));
    counts[STORED_STATUSES.indexOf(statusOf(object))]!++;
  }
  return cells;
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads any key of an answer and fails where it is not there
function countsIn(body: any): Counts {
  const columns = STORED_STATUSES.map(status => body.by_status[status]);
  return Object.fromEntries(
    body.cells.map((cell: string, i: number) => [cell, columns.map((column: number[]) => column[i])]),
  );
}

/** A pseudo-random walk over the sky, the poles and the seam in it. */
function positionOf(i: number) {
  if (i % 50 === 0) return { ra: 0, dec: i % 100 ? 90 : -90 };
  return { ra: (i * 137.507764) % 360, dec: (Math.asin(((i * 0.618034) % 2) - 1) * 180) / Math.PI };
}

function everyObject(store: Store): StoredObject[] {
  store.resetRead();
  return [...store.objects()];
}

async function assertMap(app: TestApp, store: Store): Promise<void> {
  const objects = everyObject(store);
  await eventually('the map has every object and status', async () => {
    const { status, body } = await app.get('/api/sky-map?resolution=3');
    if (status !== 200) return undefined;
    return JSON.stringify(countsIn(body)) === JSON.stringify(sorted(counted(objects, 3))) || undefined;
  });
  for (const resolution of [0, 1, 2]) {
    const { body } = await app.get(`/api/sky-map?resolution=${resolution}`);
    assert.equal(countsIn(body), counted(objects, resolution));
    assert.is(body.count, body.cells.length);
    assert.is(body.total, objects.length);
    assert.is(body.without_position, objects.filter(object => !object.position).length);
  }
}

const sorted = (counts: Counts) => Object.fromEntries(Object.entries(counts).sort(([a], [b]) => (a < b ? -1 : 1)));

test('counts while objects arrive and are crossmatched [Headers]', () =>
  withApp(
    async ({ writer }) => {
      const ids = Array.from({ length: 300 }, (_, i) => i);
      await writer.ingest(
        ids.map(i => delivery(BigInt(i), { position: positionOf(i) })),
        NOW_US,
      );
    },
    async (app, world) => {
      await assertMap(app, world.store);
      await world.writer.ingest(
        Array.from({ length: 200 }, (_, i) =>
          delivery(2n ** 62n + BigInt(i), { position: i < 5 ? null : positionOf(i + 300) }),
        ),
        NOW_US,
      );
      await assertMap(app, world.store);
      for (let i = 0; i < 60; i++) {
        const outcomes = i % 3 ? searched('gaia_dr3') : ([['gaia_dr3', 'outside_footprint']] as const);
        await crossmatched(world, BigInt(i), outcomes, i % 3 === 1 ? [match('gaia_dr3', `${i}`)] : []);
      }
      await assertMap(app, world.store);
      // The same broker again, and another one: nothing moves.
      await world.writer.ingest([delivery(5n, { broker: 'antares' }), delivery(6n)], NOW_US);
      await assertMap(app, world.store);
      const removed = Array.from({ length: 150 }, (_, i) => (i % 2 ? BigInt(i) : 2n ** 62n + BigInt(i)));
      await world.writer.remove(removed, 'wrong');
      await world.writer.ingest([delivery(1n, { position: positionOf(7) })], NOW_US);
      await assertMap(app, world.store);
    },
  ));

test('more objects than one task counts: 503 or a part with what is missing, and then the whole', () => {
  const COUNT = 45_000;
  return withApp(
    async ({ writer }) => {
      for (let from = 0; from < COUNT; from += 15_000)
        await writer.ingest(
          Array.from({ length: 15_000 }, (_, i) => delivery(BigInt(from + i), { position: positionOf(from + i) })),
          NOW_US,
        );
    },
    async app => {
      const seen = await eventually('the whole is counted', async () => {
        const { status, body, headers } = await app.get('/api/sky-map?resolution=0&partial=true');
        if (status !== 200) return undefined;
        assert.is(body.total + body.uncounted, COUNT);
        if (body.uncounted > 0) assert.is(headers.get('Cache-Control'), 'no-store');
        const { status: plain, body: answer } = await app.get('/api/sky-map?resolution=0');
        assert.ok(plain === 503 || answer.uncounted === 0);
        return body.uncounted === 0 ? body : undefined;
      });
      const sums = STORED_STATUSES.map(status => seen.by_status[status].reduce((a: number, b: number) => a + b, 0));
      assert.is(
        sums.reduce((a, b) => a + b, 0),
        COUNT,
      );
    },
  );
});

test('a disc: the cells that it touches, at every resolution', () =>
  withApp(
    async ({ writer }) => {
      const near = (i: number) => ({ ra: (359.5 + (i % 100) * 0.01) % 360, dec: 10 + Math.floor(i / 100) * 0.01 });
      await writer.ingest(
        Array.from({ length: 1000 }, (_, i) => delivery(BigInt(i), { position: i % 7 ? near(i) : positionOf(i) })),
        NOW_US,
      );
    },
    async (app, { store }) => {
      const objects = everyObject(store);
      for (let resolution = 0; resolution <= 7; resolution++) {
        const radius = 0.35;
        const { body, text } = await app.get(
          `/api/sky-map?resolution=${resolution}&ra=0&dec=10.05&radius_deg=${radius}`,
        );
        assert.ok(Array.isArray(body.cells), text);
        const every = counted(objects, resolution);
        const found = countsIn(body);
        for (const [cell, counts] of Object.entries(found)) assert.equal(counts, every[cell]);
        for (const [cell, counts] of Object.entries(every)) {
          const [dec, ra] = cellToLatLng(cell);
          if (Math.hypot(ra * Math.cos((dec * Math.PI) / 180), dec - 10.05) <= radius)
            assert.equal(found[cell], counts);
        }
      }
    },
  ));

test('one that cannot be read, one whose budget is spent, one that is closed: unavailable, and it closes', () =>
  withThreads(async () => {
    const events: string[] = [];
    const provenance = currentProvenance(configOf('/nowhere'));
    const map = new SkyMap({ dataDir: '/nowhere', log: event => events.push(event), admission: new ClientAdmission() });
    const query = { client: 'a', layer: 'objects', resolution: 1, disc: null, isPartial: false, provenance } as const;
    const unavailable = (promise: Promise<unknown>, message: RegExp) =>
      promise.then(
        () => assert.unreachable(),
        error => assert.equal([error.name, message.test(error.message)], ['Unavailable', true], error.message),
      );
    await unavailable(map.answer(query, new Budget(0.000001)), /taking too long/);
    await unavailable(map.answer(query, new Budget(60)), /cannot be read/);
    assert.ok(events.includes('database_unreadable'));
    await map.close();
    await unavailable(map.answer(query, new Budget(60)), /is stopping/);
  }));

test('parameters that cannot be, each with the name and the way out', () =>
  withApp(
    async () => {},
    async app => {
      const refused: readonly (readonly [query: string, param: string, message: RegExp])[] = [
        ['resolution=8', 'resolution', /at most 7/],
        ['resolution=-1', 'resolution', /at least 0/],
        ['resolution=', 'resolution', /integer/],
        ['resolution=2.5', 'resolution', /integer/],
        ['resolution=4', 'resolution', /at most 3 without a disc/],
        ['resolution=7&ra=1&dec=1&radius_deg=10', 'resolution', /at most 5 in so large a disc/],
        ['layer=stars', 'layer', /one of objects, coverage/],
        ['ra=1', 'dec', /dec=NUMBER/],
        ['ra=1&dec=2', 'radius_deg', /radius_deg=NUMBER/],
        ['dec=2&radius_deg=3', 'ra', /ra=NUMBER/],
        ['ra=1&dec=91&radius_deg=3', 'dec', /at most 90/],
        ['ra=1&dec=1&radius_deg=0', 'radius_deg', /above 0/],
        ['ra=1&dec=1&radius_deg=181', 'radius_deg', /at most 180/],
        ['partial=yes', 'partial', /one of true, false/],
      ];
      for (const [query, param, message] of refused) {
        const { status, body } = await app.get(`/api/sky-map?${query}`);
        assert.equal([status, body.code, body.param], [400, 'invalid_parameter', param], query);
        assert.match(body.message, message, `${query}: ${body.message}`);
      }
      assert.is((await app.get('/api/sky-map', { method: 'POST' })).status, 405);
    },
  ));

test('an empty service has an empty map; an answer that is known already is 304', () =>
  withApp(
    async () => {},
    async (app, { writer }) => {
      const { status, body, headers } = await app.get('/api/sky-map');
      assert.equal([status, body.total, body.cells], [200, 0, []]);
      assert.is(headers.get('Cache-Control'), 'max-age=5');
      const known = { headers: { 'If-None-Match': `"other", W/${headers.get('ETag')}` } };
      const again = await app.get('/api/sky-map', known);
      assert.equal([again.status, again.text, again.headers.get('ETag')], [304, '', headers.get('ETag')]);
      await writer.ingest([delivery(5n)], NOW_US);
      await eventually('the object is on the map', async () =>
        (await app.get('/api/sky-map', known)).status === 200 ? true : undefined,
      );
    },
  ));

test('the coverage is that of the catalogs registered now', () =>
  withApp(
    async ({ writer }) =>
      writer.commit({ kind: 'register_catalog', registration: registrationOf({ name: 'gaia_dr3' } as never, 96) }),
    async (app, { writer }) => {
      const areas = async () => {
        // A busy machine answers 503.
        const registered = await eventually(
          'the coverage',
          async () => (await app.get('/api/sky-map?layer=coverage')).body.registered,
        );
        return registered.map(({ name, area_deg2 }: Json) => [name, area_deg2]);
      };
      assert.equal(await areas(), [['gaia_dr3', 20_626.5]]);
      await writer.commit({
        kind: 'register_catalog',
        registration: registrationOf({ name: 'des_y6_gold' } as never, 48),
      });
      assert.equal(await areas(), [
        ['des_y6_gold', 10_313.2],
        ['gaia_dr3', 20_626.5],
      ]);
      await writer.commit({
        kind: 'register_catalog',
        registration: registrationOf({ name: 'gaia_dr3' } as never, 48),
      });
      await writer.commit({ kind: 'remove_catalog', name: 'des_y6_gold' });
      assert.equal(await areas(), [['gaia_dr3', 10_313.2]]);
    },
  ));

test('the share of each cell that a catalog covers', () => {
  // The northern sky, and one pixel.
  const pixels = Array.from({ length: 12 * 4 ** 4 }, (_, pixel) => pixel);
  const north = Coverage.fromPixels(4, pixels.slice(0, 4 * 4 ** 4));
  const one = Coverage.fromPixels(8, [pixelOf(8, 10, 80)]);
  const map = new SkyCoverage([
    { name: 'north', coverage: north },
    { name: 'one', coverage: one },
  ]);
  for (const resolution of [1, 2]) {
    const { keys, byCatalog } = map.list(resolution);
    const shareOf = new Map(keys.map((key, i) => [key, byCatalog.north![i]!]));
    assert.ok(keys.length > 10 && keys.every((key, i) => i === 0 || key > keys[i - 1]!));
    for (const key of keys) {
      const centres = cellToChildren(hex(key, resolution), 3).map(cell => cellToLatLng(cell));
      const covered = centres.filter(([dec, ra]) => north.contains((ra + 360) % 360, dec)).length;
      assert.ok(Math.abs(shareOf.get(key)! - covered / centres.length) < 0.001);
    }
  }
  const within = new Set(map.list(5, new Set([...Array(50).keys()])).keys);
  assert.ok([...within].every(key => key < 50));
});

function hex(key: number, resolution: number): string {
  const unused = 2n ** BigInt(3 * (15 - resolution));
  return `8${resolution}${(BigInt(key) * unused + unused - 1n).toString(16).padStart(13, '0')}`;
}

test('counts follow any sequence of states, objects in any order', () => {
  const step = fc.record({ id: fc.integer({ min: 0, max: 40 }), state: fc.integer({ min: 0, max: 4 }) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300 }), steps => {
      const counts = new SkyCounts();
      const latest = new Map<number, StoredObject>();
      for (const { id, state } of steps) {
        if (state === 4) {
          counts.remove(objectOf(id, 0).diaObjectId);
          latest.delete(id);
          continue;
        }
        const object = objectOf(id, state);
        counts.put(object, statusOf(object));
        latest.set(id, object);
      }
      assert.is(counts.objects, latest.size);
      for (const resolution of [0, 3, 4, 5, 7]) {
        const cells = Object.keys(counted(latest.values(), resolution));
        const within = new Set(cells.map(cell => keyOfCell(cell, resolution)));
        const { keys, byStatus } = counts.list(resolution, resolution > 4 ? within.add(0) : undefined);
        const found = Object.fromEntries(
          keys.map((key, i) => [hex(key, resolution), STORED_STATUSES.map(status => byStatus[status][i]!)]),
        );
        assert.equal(found, counted(latest.values(), resolution));
      }
    }),
    { numRuns: RUNS },
  );
});

test('the counts beside the database: whole, of this history, or none', () =>
  withDirectory(async directory => {
    const store = openStore(directory, 'write');
    try {
      const writer = new Writer(store);
      const ingest = (from: number, count: number) =>
        writer.ingest(
          Array.from({ length: count }, (_, i) =>
            delivery(BigInt(from + i), { position: i ? positionOf(from + i) : null }),
          ),
          NOW_US,
        );
      await ingest(0, 500);
      const counts = new SkyCounts();
      for (const object of everyObject(store)) counts.put(object, statusOf(object));
      const sequence = store.lastSequence();
      saveCounts(directory, store, { sequence, columns: counts.columns() });
      await ingest(500, 10);
      const known = readCounts(directory, store);
      assert.is(known?.sequence, sequence);
      const again = new SkyCounts(known!.columns);
      assert.equal(again.list(3), counts.list(3));
      assert.equal([again.objects, again.withoutPosition], [500, 1]);
      const [first] = everyObject(store);
      again.put(first!, statusOf(first!));
      assert.equal(again.list(3), counts.list(3), 'an object that is known moves nothing');

      const file = join(directory, 'index', 'sky-map');
      const bytes = readFileSync(file);
      for (const at of [0, 9, 13, 17, 25, 60, 5000, bytes.length - 1]) {
        const damaged = Buffer.from(bytes);
        damaged[at]! ^= 1;
        writeFileSync(file, damaged);
        assert.is(readCounts(directory, store), undefined, `byte ${at}`);
      }
      writeFileSync(file, bytes.subarray(0, bytes.length - 1));
      assert.is(readCounts(directory, store), undefined, 'a byte is missing');
      writeFileSync(file, bytes);
      assert.ok(readCounts(directory, store));
      // The same file beside a database that parted from this one before it was written.
      await withDirectory(async other => {
        const another = openStore(other, 'write');
        await new Writer(another).ingest([delivery(7n)], NOW_US);
        mkdirSync(join(other, 'index'));
        writeFileSync(join(other, 'index', 'sky-map'), bytes);
        assert.is(readCounts(other, another), undefined, 'of another history');
        await another.close();
      });
    } finally {
      await store.close();
    }
  }));

test('a restart goes on from the counts beside the database, with what the journal says since', () =>
  withDirectory(async directory => {
    const store = openStore(directory, 'write');
    const writer = new Writer(store);
    const provenance = currentProvenance(configOf(directory));
    const query = { client: 'a', layer: 'objects', resolution: 2, disc: null, isPartial: true, provenance } as const;
    const totalOf = async (map: SkyMap) =>
      JSON.parse(Buffer.from((await map.answer(query, new Budget(60))).body).toString());
    const events: string[] = [];
    try {
      await writer.ingest([delivery(1n), delivery(2n)], NOW_US);
      const first = new SkyMap({
        dataDir: directory,
        log: event => events.push(event),
        admission: new ClientAdmission(),
      });
      first.start();
      const file = join(directory, 'index', 'sky-map');
      await eventually('the counts are written', async () => existsSync(file) || undefined);
      await first.close();
      const { columns } = readCounts(directory, store)!;
      assert.is(columns.low.length, 2);
      // A status that no object has tells whose counts these are.
      const made = { ...columns, statuses: columns.statuses.fill(3) };
      saveCounts(directory, store, { sequence: store.lastSequence(), columns: made });
      await writer.ingest([delivery(3n)], NOW_US);
      const second = new SkyMap({
        dataDir: directory,
        log: event => events.push(event),
        admission: new ClientAdmission(),
      });
      const { by_status } = await eventually('the third object is counted', async () => {
        const answer = await totalOf(second);
        return answer.total === 3 && answer.uncounted === 0 ? answer : undefined;
      });
      const sums = STORED_STATUSES.map(status => by_status[status].reduce((a: number, b: number) => a + b, 0));
      assert.equal(sums, [1, 0, 0, 2], 'two from the file, one from the journal');
      await second.close();
      assert.equal(events, []);
    } finally {
      await store.close();
    }
  }));

function objectOf(id: number, state: number): StoredObject {
  const outcome = state === 3 ? 'outside_footprint' : 'searched';
  const record = { matchVersion: 1, crossmatchedAtUs: 1, provenanceSet: 0, brokersAtCrossmatch: [] };
  return {
    diaObjectId: (BigInt(id) << 33n) + BigInt(id),
    position: id % 10 === 9 ? null : positionOf(id),
    reliability: null,
    ingestTimeUs: 1,
    eventTimeUs: 1,
    state: state === 0 ? 'pending' : 'crossmatched',
    brokers: [],
    records: state === 0 ? [] : [{ ...record, catalogOutcomes: [['gaia_dr3', outcome]] }],
    matches:
      state === 1 ? [{ matchVersion: 1, catalogName: 'gaia_dr3', catalogSourceId: '1', separationArcsec: 0.1 }] : [],
    tns: null,
  };
}

test.run();
