/** Sources that move are compared at their positions at the time of the event, against a scan of all rows. */

import { movedStar, separationArcsec } from '@nearsky/sky-index';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { catalogDefinition } from '../../src/contract/catalogs.ts';
import { differsFrom } from '../../src/crossmatch/again.ts';
import { catalogsInService } from '../../src/crossmatch/crossmatcher.ts';
import { starOf } from '../../src/crossmatch/motion.ts';
import { catalogColumns } from '../catalogs/small_catalog.ts';
import type { HatsOptions } from '../catalogs/write_hats.ts';
import { HARD_PLACES, offset, type Place, seededRandom } from '../oracle/skies.ts';
import { inWorld, PROVENANCE, pool, type World } from './world.ts';

const test = suite('crossmatch/motion');

/** From J2016.0 to the event of every object of a world, 2026-01-01T00:00:00 UTC. */
const YEARS = 2000 + (1_767_225_600 + 69.184 - 946_728_000) / 86_400 / 365.25 - 2016;

/** A row of Gaia; motions in mas a year. */
interface Star extends Place {
  readonly pmra: number | null;
  readonly pmdec: number | null;
  readonly parallax: number | null;
}

const idOf = (row: number) => 4_000_000_000_000_000_000n + BigInt(row);

async function addStars(world: World, stars: readonly Star[], options: Partial<HatsOptions> = {}): Promise<void> {
  const ids = stars.map((_, row) => idOf(row));
  const [ra, dec] = [stars.map(star => star.ra), stars.map(star => star.dec)];
  const columns = catalogColumns(catalogDefinition('gaia_dr3')!, ra, dec, ids).map(column => {
    const { name } = column;
    return name === 'pmra' || name === 'pmdec' || name === 'parallax'
      ? { ...column, data: stars.map(star => star[name]) }
      : column;
  });
  await world.addCatalog('gaia_dr3', stars, { columns, ...options }, ids);
}

/** The position of a star at the time of the events; undefined for a star that is compared at its catalog position. */
function placeThen({ ra, dec, pmra, pmdec, parallax }: Star): Place | undefined {
  if (pmra === null || pmdec === null) return undefined;
  const motion = Math.hypot(pmra, pmdec);
  if (motion === 0 || motion > 20_000) return undefined;
  const known = parallax !== null && parallax > 0 && parallax <= 1000 ? parallax : 0;
  return movedStar({ ra, dec, pmra, pmdec, parallax: known, radialVelocity: 0 }, YEARS);
}

/** The nearest star within 1 arcsec at that time: its row and separations. */
function nearest(stars: readonly Star[], object: Place): ReturnType<typeof found> {
  let best: { row: number; arcsec: number; separation: number; atEpoch: number | undefined } | undefined;
  for (const [row, star] of stars.entries()) {
    if (Math.abs(star.dec - object.dec) > 0.2) continue;
    const separation = separationArcsec(object.ra, object.dec, star.ra, star.dec);
    const then = placeThen(star);
    const atEpoch = then && separationArcsec(object.ra, object.dec, then.ra, then.dec);
    const arcsec = atEpoch ?? separation;
    if (arcsec <= 1 && (!best || arcsec < best.arcsec)) best = { row, arcsec, separation, atEpoch };
  }
  return best && [`${idOf(best.row)}`, best.separation, best.atEpoch];
}

/** The match of the newest version, in the same form. */
function found({ store }: World, id: bigint): [string, number, number | undefined] | undefined {
  const { matches, records } = store.getObject(id)!;
  const match = matches.find(({ matchVersion }) => matchVersion === records.at(-1)!.matchVersion);
  return match && [match.catalogSourceId, match.separationArcsec, match.separationAtEpochArcsec];
}

/** Stars of every speed at hard places, and objects that most of them have moved to. */
function sky(seed: number, count: number): { readonly stars: Star[]; readonly objects: Place[] } {
  const random = seededRandom(seed);
  const stars = Array.from({ length: count }, (_, row): Star => {
    const place = offset(HARD_PLACES[row % HARD_PLACES.length]!, 600 * random() ** 2, 2 * Math.PI * random());
    if (row % 17 === 0) return { ...place, pmra: row % 2 ? null : 100, pmdec: null, parallax: null };
    const [motion, angle] = [10 ** (4.35 * random()), 2 * Math.PI * random()];
    const parallax = [null, -3, 0, 1e9, 10 ** (3 * random())][row % 5]!;
    return { ...place, pmra: motion * Math.sin(angle), pmdec: motion * Math.cos(angle), parallax };
  });
  const objects = stars.map(star => {
    const there = random() < 0.8 ? (placeThen(star) ?? star) : star;
    return offset(there, [0, 0.3, 0.99, 1.01, 5][Math.floor(5 * random())]!, 2 * Math.PI * random());
  });
  return { stars, objects };
}

const LAYOUTS: readonly (readonly [name: string, options: Partial<HatsOptions>])[] = [
  ['many partitions and row groups', { maxRows: 30, maxOrder: 8, rowGroupSize: 9 }],
  ['no statistics, no pixels', { maxRows: 60, statistics: false, healpixColumn: 'none' }],
  ['one file a base pixel', { maxOrder: 0 }],
];
for (const [name, options] of LAYOUTS)
  test(`the nearest source at the time of the event: ${name}`, () =>
    inWorld(async world => {
      const { stars, objects } = sky(7, 700);
      await addStars(world, stars, options);
      const ids = await world.ingest(objects);
      await world.crossmatch({ properMotion: true });
      const expected = objects.map(object => nearest(stars, object));
      assert.ok(expected.filter(each => each !== undefined).length > 200);
      ids.forEach((id, at) => {
        const [source, separation, atEpoch] = found(world, id) ?? [];
        assert.equal([source, separation], (expected[at] ?? [undefined, undefined]).slice(0, 2), `object ${at}`);
        assert.is(atEpoch === undefined, expected[at]?.[2] === undefined, `object ${at}`);
        assert.ok(Math.abs((atEpoch ?? 0) - (expected[at]?.[2] ?? 0)) < 1e-7, `object ${at}: ${atEpoch}`);
      });
    }));

/** Moves 1 arcsec a year to the north. */
const FAST: Star = { ra: 10, dec: 5, pmra: 0, pmdec: 1000, parallax: 2 };
const THEN = placeThen(FAST)!;

test('off: the place in the catalog; on: the place at the event, again, with a provenance of its own', () =>
  inWorld(async world => {
    await addStars(world, [FAST]);
    const [here, there] = (await world.ingest([FAST, THEN])) as [bigint, bigint];
    await world.crossmatch();
    assert.equal([found(world, here), found(world, there)], [[`${idOf(0)}`, 0, undefined], undefined]);
    const { recorded } = await world.crossmatch({ again: {}, properMotion: true });
    assert.is(recorded, 2);
    assert.is(found(world, here), undefined);
    const [id, separation, atEpoch] = found(world, there) as [string, number, number];
    assert.is(id, `${idOf(0)}`);
    assert.ok(Math.abs(separation - 10) < 1e-3 && atEpoch < 1e-6, `${separation} ${atEpoch}`);
    const sets = world.store
      .getObject(there)!
      .records.map(({ provenanceSet }) => world.store.provenanceSet(provenanceSet));
    assert.equal(
      sets.map(({ set }) => set.catalogs),
      [[{ name: 'gaia_dr3', release: 'Gaia DR3' }], [{ name: 'gaia_dr3', release: 'Gaia DR3', proper_motion: true }]],
    );
    assert.is.not(sets[0]!.hash, sets[1]!.hash);
    const differing = (properMotion: boolean) => {
      const catalogs = catalogsInService(world.store.catalogs(), properMotion).map(({ release }) => release);
      return world.store.countWhere(differsFrom(world.store, { ...PROVENANCE, catalogs }));
    };
    assert.equal([differing(true), differing(false)], [0, 2]);
    assert.is((await world.crossmatch({ again: {} })).recorded, 2);
    assert.equal([found(world, here), found(world, there)], [[`${idOf(0)}`, 0, undefined], undefined]);
  }));

test('a copy of the catalog without motions is compared where it is, and says so', () =>
  inWorld(async world => {
    await addStars(world, [FAST]);
    const [registration] = world.store.catalogs();
    const payload = registration!.columns.payload.map(each =>
      each.key === 'pmdec' ? { ...each, column: null } : each,
    );
    await world.writer.putCatalog({ ...registration!, columns: { ...registration!.columns, payload } });
    const [here] = (await world.ingest([FAST])) as [bigint];
    await world.crossmatch({ properMotion: true });
    assert.equal(found(world, here), [`${idOf(0)}`, 0, undefined]);
    const { provenanceSet } = world.store.getObject(here)!.records[0]!;
    assert.equal(world.store.provenanceSet(provenanceSet).set.catalogs, [{ name: 'gaia_dr3', release: 'Gaia DR3' }]);
  }));

test('an event more than a century from the epoch: the place in the catalog', () =>
  inWorld(async world => {
    await addStars(world, [FAST]);
    const eventTimeUs = Date.UTC(2117, 0, 1) * 1000;
    const delivery = { diaObjectId: 5n, position: FAST, reliability: 1, eventTimeUs, broker: 'lasair' };
    await world.writer.ingest([delivery], 1);
    await world.crossmatch({ properMotion: true });
    assert.equal(found(world, 5n), [`${idOf(0)}`, 0, undefined]);
  }));

test.after(() => pool.close());
test('parallaxes and radial velocities that are no star’s count as unknown', () => {
  const place = { ra: 1, dec: 2, pmra: 3, pmdec: 4 };
  const known = (parallax: unknown, velocity: unknown) => {
    const { parallax: distance, radialVelocity } = starOf(place, parallax, velocity);
    return [distance, radialVelocity];
  };
  assert.equal(known(1000, -1000), [1000, -1000]);
  for (const [parallax, velocity] of [
    [0, 1000.1],
    [-1, -1001],
    [1000.1, null],
    [Number.NaN, Number.NaN],
  ])
    assert.equal(known(parallax, velocity), [0, 0]);
});

test.run();
