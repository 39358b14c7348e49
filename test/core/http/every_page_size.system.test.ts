/**
 * Walks with both cursors at every page size, over random objects that collide in time to the microsecond, while
 * objects are ingested, delivered again and crossmatched: nothing is lost or repeated.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { formatTime } from '../../../src/core/base/times.ts';
import type { Delivery } from '../../../src/core/store/types.ts';
import { compareBigint } from '../../oracle/brute_force.ts';
import { seededRandom } from '../../oracle/skies.ts';
import { Dice } from './random_objects.ts';
import {
  crossmatched,
  delivery,
  eventually,
  type Json,
  match,
  NOW_US,
  searched,
  type TestApp,
  type World,
  withApp,
} from './support.ts';

const OBJECTS = 45;
const LATER_US = 3_000_000_000_000_000;

const test = suite('http/every_page_size');

interface Known extends Delivery {
  readonly ingestTimeUs: number;
  readonly hasMatch: boolean;
}

/** Random objects at one place: few distinct times, some without a match. */
function randomObjects(dice: Dice): Known[] {
  return Array.from({ length: OBJECTS }, (_, i) => ({
    ...delivery(BigInt(dice.below(2 ** 40)) * 1000n + BigInt(i), { eventTimeUs: NOW_US - dice.below(4) }),
    ingestTimeUs: NOW_US + dice.below(4),
    hasMatch: dice.chance(0.8),
  }));
}

async function fill(world: World, objects: readonly Known[]): Promise<void> {
  for (const [ingestTimeUs, batch] of Map.groupBy(objects, object => object.ingestTimeUs))
    await world.writer.ingest(batch, ingestTimeUs);
  for (const { diaObjectId, hasMatch } of objects) if (hasMatch) await found(world, diaObjectId);
}

async function found(world: World, diaObjectId: bigint): Promise<void> {
  await crossmatched(world, diaObjectId, searched('gaia_dr3'), [match('gaia_dr3', '1')]);
}

/**
 * The changes beside a walk: one new object, later than the walk's as_of, crossmatched; and a known one delivered again.
 * The new object is appended to `objects`.
 */
function bystander(world: World, objects: Known[], dice: Dice): () => Promise<void> {
  let id = 5n;
  return async () => {
    id += 10n;
    const ingestTimeUs = LATER_US + Number(id);
    const object = { ...delivery(id, { eventTimeUs: NOW_US - dice.below(4) }), ingestTimeUs, hasMatch: true };
    await world.writer.ingest([object], ingestTimeUs);
    objects.push(object);
    await found(world, id);
    await world.writer.ingest([{ ...dice.pick(objects), broker: 'antares' }], ingestTimeUs);
  };
}

/** Every id of a walk, and how many pages it took. */
async function walk(app: TestApp, first: string, next: string, between: () => Promise<void>) {
  const ids: string[] = [];
  let pages = 1;
  for (let path = first; ; pages++) {
    const { body }: { body: Json } = await app.get(path);
    const objects = body.objects ?? body.results[0].objects;
    ids.push(...objects.map((object: Json) => object.diaObjectId_str));
    if (body.next_cursor === null) return { ids, pages };
    await between();
    path = `${next}&cursor=${body.next_cursor}`;
  }
}

function inOrder(objects: readonly Known[], key: (object: Known) => number): string[] {
  return objects
    .toSorted((a, b) => key(a) - key(b) || compareBigint(a.diaObjectId, b.diaObjectId))
    .map(({ diaObjectId }) => `${diaObjectId}`);
}

test('the cone, and the recent crossmatches by both times', async () => {
  const dice = new Dice(seededRandom(3));
  const objects = randomObjects(dice);
  const window = `start=${formatTime(NOW_US - 4).slice(0, -6)}&end=${formatTime(NOW_US + 4).slice(0, -6)}&detail=ids`;
  const recent = (field: string) => `/api/recent-crossmatches?${window}&time_field=${field}`;
  const walks = [
    [
      '/api/cone?ra=150&dec=2&radius_arcsec=1&detail=ids',
      '/api/cone?',
      () => inOrder(objects, object => object.ingestTimeUs),
    ],
    [
      recent('ingest_time'),
      '/api/recent-crossmatches?',
      () => {
        const early = objects.filter(({ hasMatch, ingestTimeUs }) => hasMatch && ingestTimeUs < LATER_US);
        return inOrder(early, object => -object.ingestTimeUs);
      },
    ],
    [
      recent('event_time'),
      '/api/recent-crossmatches?',
      () => {
        const matched = objects.filter(({ hasMatch }) => hasMatch);
        return inOrder(matched, object => -object.eventTimeUs);
      },
    ],
  ] as const;
  await withApp(
    world => fill(world, objects),
    async (app, world) => {
      const between = bystander(world, objects, dice);
      for (const [first, next, expectedNow] of walks) {
        for (let size = 1; size <= OBJECTS + 1; size++) {
          const expected = expectedNow();
          if (first.startsWith('/api/cone'))
            await eventually('all objects are indexed', async () => {
              const { body } = await app.get('/api/cone?ra=150&dec=2&radius_arcsec=1&response=count');
              return body.counts.objects.total === objects.length || undefined;
            });
          const page = `&page_size=${size}`;
          // One in three, because the activity beside the walk is the same for every size.
          const { ids, pages } = await walk(app, first + page, next + page, async () => {
            if (dice.chance(1 / 3)) await between();
          });
          assert.equal(ids, expected, `${first} by ${size}`);
          assert.is(pages, Math.ceil(expected.length / size), 'no page more than needed');
        }
      }
    },
  );
});

test('objects that get their first match beside a walk: they may come, none twice, and none of the others is lost [Recent crossmatches]', async () => {
  const dice = new Dice(seededRandom(4));
  const objects = randomObjects(dice).map(object => ({ ...object, hasMatch: dice.chance(0.5) }));
  await withApp(
    world => fill(world, objects),
    async (app, world) => {
      const window = `start=${formatTime(NOW_US).slice(0, -6)}&end=${formatTime(NOW_US + 4).slice(0, -6)}&detail=ids`;
      const pending = objects.filter(({ hasMatch }) => !hasMatch);
      const early = objects.filter(({ hasMatch }) => hasMatch).map(({ diaObjectId }) => `${diaObjectId}`);
      for (const size of [1, 2, 3]) {
        const { ids } = await walk(
          app,
          `/api/recent-crossmatches?${window}&page_size=${size}`,
          `/api/recent-crossmatches?page_size=${size}`,
          async () => {
            const next = pending.pop();
            if (next) await found(world, next.diaObjectId);
          },
        );
        assert.is(new Set(ids).size, ids.length);
        assert.ok(early.every(id => ids.includes(id)));
        const order = inOrder(objects, object => -object.ingestTimeUs);
        assert.equal(
          ids,
          order.filter(id => ids.includes(id)),
        );
      }
    },
  );
});

test.run();
