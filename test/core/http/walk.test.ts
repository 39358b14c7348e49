/**
 * Complete walks over random skies, while objects are ingested: nothing is lost or repeated, and the order is right,
 * against a scan of everything.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Delivery } from '../../../src/core/store/types.ts';
import { coneByScan } from '../../oracle/brute_force.ts';
import { seededRandom } from '../../oracle/skies.ts';
import { FACTS } from '../facts.ts';
import {
  type Answer,
  crossmatched,
  delivery,
  eventually,
  type Json,
  match,
  NOW_US,
  searched,
  TestApp,
  type World,
  withApp,
  withDirectory,
} from './support.ts';

const test = suite('http/walk');

/** Objects around a position, in batches: ingest times collide to the microsecond within a batch and, in places, between batches. */
function* batches(
  random: () => number,
  ra: number,
  dec: number,
  firstId: bigint,
  sizes: readonly number[],
  startUs: number,
) {
  let id = firstId;
  let timeUs = startUs;
  for (const size of sizes) {
    const deliveries = Array.from({ length: size }, (): Delivery => {
      id += BigInt(1 + Math.floor(random() * 1000));
      const offset = (scale: number) => (random() - 0.5) * scale;
      return delivery(id ^ 5n, {
        position: { ra: (ra + offset(0.06) + 360) % 360, dec: Math.max(-90, Math.min(90, dec + offset(0.03))) },
      });
    });
    timeUs += Math.floor(random() * 3);
    yield { deliveries, timeUs };
  }
}

interface Known {
  readonly ra: Float64Array;
  readonly dec: Float64Array;
  readonly id: BigInt64Array;
  readonly timeOf: ReadonlyMap<bigint, number>;
}

function known(stored: readonly { deliveries: readonly Delivery[]; timeUs: number }[]): Known {
  const all = stored.flatMap(({ deliveries, timeUs }) => deliveries.map(each => ({ ...each, timeUs })));
  const timeOf = new Map<bigint, number>();
  for (const { diaObjectId, timeUs } of all) if (!timeOf.has(diaObjectId)) timeOf.set(diaObjectId, timeUs);
  const first = [...new Map(all.toReversed().map(each => [each.diaObjectId, each])).values()];
  return {
    ra: Float64Array.from(first, each => each.position!.ra),
    dec: Float64Array.from(first, each => each.position!.dec),
    id: BigInt64Array.from(first, each => each.diaObjectId),
    timeOf,
  };
}

function expected(sky: Known, ra: number, dec: number, radiusArcsec: number): string[] {
  const time = (id: bigint) => sky.timeOf.get(id)!;
  return coneByScan(sky, ra, dec, radiusArcsec)
    .sort((a, b) => time(a) - time(b) || (a < b ? -1 : 1))
    .map(String);
}

async function walk(
  app: TestApp,
  query: string,
  pageSize: number,
  between: () => Promise<void>,
): Promise<{ ids: string[]; totals: Set<number> }> {
  const ids: string[] = [];
  const totals = new Set<number>();
  let next = `/api/cone?${query}&detail=ids&page_size=${pageSize}`;
  for (;;) {
    const { body }: { body: Json } = await app.get(next);
    const [{ objects, total }] = body.results;
    totals.add(total);
    ids.push(...objects.map((object: Json) => object.diaObjectId_str));
    if (body.next_cursor === null) return { ids, totals };
    assert.is(objects.length, pageSize, 'a page with another after it is full');
    await between();
    next = `/api/cone?cursor=${body.next_cursor}&page_size=${pageSize}`;
  }
}

for (const [place, ra, dec] of [
  ['at RA 0', 0.01, -30],
  ['at a pole', 120, 89.99],
] as const) {
  test(`walks ${place}, with several page sizes, while new objects arrive [Cone; Purpose]`, async () => {
    const random = seededRandom(place.length);
    const stored = [...batches(random, ra, dec, 170_000_000_000_000_000n, [300, 1, 200, 50, 1, 1, 150], NOW_US)];
    const ingest = async ({ writer }: World, batch: (typeof stored)[number]) =>
      writer.ingest(batch.deliveries, batch.timeUs);
    const fill = async (world: World) => {
      for (const batch of stored) await ingest(world, batch);
    };
    await withApp(fill, async (app, world) => {
      const ingested = [...stored];
      // Ingested while a walk goes on, so later than its as_of.
      const arriving = batches(random, ra, dec, 270_000_000_000_000_000n, Array(400).fill(2), 3_000_000_000_000_000);
      for (const pageSize of [1, 7, 50, 1000]) {
        const radius = pageSize === 1 ? 12 : 60;
        const query = `ra=${ra}&dec=${dec}&radius_arcsec=${radius}`;
        const wanted = expected(known(ingested), ra, dec, radius);
        await eventually('all objects are indexed', async () => {
          const { body } = await app.get(`/api/cone?${query}&response=count`);
          return body.counts.objects.total === wanted.length || undefined;
        });
        const { ids, totals } = await walk(app, query, pageSize, async () => {
          const next = arriving.next();
          if (next.done) return;
          const batch = { ...next.value, timeUs: next.value.timeUs + 10 * ingested.length };
          ingested.push(batch);
          await ingest(world, batch);
        });
        assert.ok(wanted.length > pageSize / 10, 'there is something to walk over');
        assert.equal(ids, wanted);
        assert.equal([...totals], [wanted.length]);
      }
    });
  });
}

test('walks while objects arrive whose ingest time is not after as_of: in order, none twice, none of the old ones lost [Purpose]', async () => {
  const random = seededRandom(7);
  const stored = [...batches(random, 40, -5, 1000n, [120, 80], NOW_US)];
  const fill = async ({ writer }: World) => {
    for (const { deliveries, timeUs } of stored) await writer.ingest(deliveries, timeUs);
  };
  await withApp(fill, async (app, { writer }) => {
    const old = expected(known(stored), 40, -5, 60);
    const late = batches(random, 40, -5, 500_000n, Array(100).fill(3), NOW_US - 100);
    const { ids } = await walk(app, 'ra=40&dec=-5&radius_arcsec=60', 5, async () => {
      const next = late.next();
      if (!next.done) {
        await writer.ingest(next.value.deliveries, next.value.timeUs);
        stored.push(next.value);
      }
    });
    assert.is(new Set(ids).size, ids.length);
    assert.ok(old.every(id => ids.includes(id)));
    const all = expected(known(stored), 40, -5, 60);
    assert.equal(
      ids,
      all.filter(id => ids.includes(id)),
      'in the order of the walk',
    );
    await eventually('the new ones are found too', async () => {
      const { ids: now } = await walk(app, 'ra=40&dec=-5&radius_arcsec=60', 100, async () => {});
      return now.length === all.length || undefined;
    });
  });
});

test('a cursor goes on after a restart and in a copy of the archive, and no other archive takes it [Cursors]', async () => {
  const fill = async (world: World) => {
    for (let i = 0; i < 4; i++) await world.writer.ingest([delivery(BigInt(i + 1))], NOW_US + i);
    for (let i = 1n; i <= 4n; i++) await crossmatched(world, i, searched('gaia_dr3'), [match('gaia_dr3', `${i}`)]);
  };
  const window = 'start=2026-09-21T00:00:00Z&end=2026-09-22T00:00:00Z';
  const asked: ((app: TestApp, cursor: string) => Promise<Answer>)[] = [
    (app, cursor) => app.get(`/api/cone?ra=150&dec=2&radius_arcsec=5&page_size=1${cursor}`),
    (app, cursor) => app.get(`/api/recent-crossmatches?page_size=1&${window}${cursor}`),
    ...FACTS.flatMap(({ walks = [] }) => walks)
      .filter(({ isPending }) => !isPending)
      .map(({ path, body }) => (app: TestApp, cursor: string) => {
        const page = `${path}page_size=1${cursor}`;
        return body === undefined ? app.get(page) : app.post(page, body);
      }),
  ];
  await withApp(fill, async (app, { store }) => {
    const first = await Promise.all(asked.map(ask => ask(app, '')));
    for (const { body, text } of first) assert.ok(body.next_cursor, text);
    const cursors = first.map(({ body }) => `&cursor=${body.next_cursor}`);
    const next = await Promise.all(asked.map((ask, i) => ask(app, cursors[i]!)));
    await withDirectory(async copy => {
      await store.copyTo(`${copy}/nearsky.mdb`);
      const again = await new TestApp(copy).ready();
      for (const [i, ask] of asked.entries()) {
        const { status, text } = await ask(again, cursors[i]!);
        assert.equal([status, text], [200, next[i]!.text]);
      }
      await again.app.close();
    });
    await withApp(fill, async other => {
      for (const [i, ask] of asked.entries()) {
        const { status, body } = await ask(other, cursors[i]!);
        assert.equal([status, body.code, body.param], [400, 'invalid_parameter', 'cursor']);
        assert.match(body.message, /because another archive has issued it/);
        // A cursor of the public service does not name its archive.
        const { o: _, c: __, ...fields } = JSON.parse(Buffer.from(cursors[i]!.slice(8), 'base64url').toString());
        const old = Buffer.from(JSON.stringify(fields)).toString('base64url');
        assert.is((await ask(other, `&cursor=${old}`)).status, 200);
      }
    });
  });
});

test.run();
