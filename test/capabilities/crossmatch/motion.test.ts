import { separationArcsec } from '@nearsky/sky-index';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { differsFrom } from '../../../src/capabilities/crossmatch/again.ts';
import { catalogsInService } from '../../../src/capabilities/crossmatch/crossmatcher.ts';
import { starOf, yearsBetween } from '../../../src/capabilities/crossmatch/motion.ts';
import { readCatalogs } from '../../../src/core/store/catalog_registration.ts';
import type { HatsOptions } from '../../core/catalogs/write_hats.ts';
import type { Place } from '../../oracle/skies.ts';
import { addStars, FAST, found, idOf, placeThen, type Star, sky, THEN, YEARS, yearsTo } from './moving_stars.ts';
import { inWorld, PROVENANCE } from './world.ts';

const test = suite('crossmatch/motion');

/** The nearest star within 1 arcsec at that time: its row and separations. */
function nearest(stars: readonly Star[], object: Place, years = YEARS): ReturnType<typeof found> {
  let best: { row: number; arcsec: number; separation: number; atEpoch: number | undefined } | undefined;
  for (const [row, star] of stars.entries()) {
    if (Math.abs(star.dec - object.dec) > 0.2) continue;
    const separation = separationArcsec(object.ra, object.dec, star.ra, star.dec);
    const then = placeThen(star, years);
    const atEpoch = then && separationArcsec(object.ra, object.dec, then.ra, then.dec);
    const arcsec = atEpoch ?? separation;
    if (arcsec <= 1 && (!best || arcsec < best.arcsec)) best = { row, arcsec, separation, atEpoch };
  }
  return best && [`${idOf(best.row)}`, best.separation, best.atEpoch];
}

const LAYOUTS: readonly (readonly [name: string, options: Partial<HatsOptions>])[] = [
  ['many partitions and row groups', { maxRows: 30, maxOrder: 8, rowGroupSize: 9 }],
  ['no statistics, no pixels', { maxRows: 60, statistics: false, healpixColumn: 'none' }],
  ['one file a base pixel', { maxOrder: 0 }],
];
for (const [name, options] of LAYOUTS)
  test(`the nearest source at the time of the event: ${name} [Proper motion]`, () =>
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

test('the nearest source at an event before the epoch of the catalog [Proper motion]', () =>
  inWorld(async world => {
    const seenMs = Date.UTC(1990, 0, 1);
    const years = yearsTo(seenMs);
    const { stars, objects } = sky(9, 700, years);
    await addStars(world, stars, LAYOUTS[0]![1]);
    const deliveries = objects.map((position, at) => ({
      diaObjectId: BigInt(at + 1),
      position,
      reliability: 1,
      eventTimeUs: 1000 * seenMs,
      broker: 'lasair',
    }));
    await world.writer.ingest(deliveries, 1);
    await world.crossmatch({ properMotion: true });
    const expected = objects.map(object => nearest(stars, object, years)?.[0]);
    assert.ok(expected.filter(each => each !== undefined).length > 200);
    assert.equal(
      deliveries.map(({ diaObjectId }) => found(world, diaObjectId)?.[0]),
      expected,
    );
  }));

test('off: the place in the catalog; on: the place at the event, again, with a provenance of its own [Proper motion; Purpose]', () =>
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
      const catalogs = catalogsInService(readCatalogs(world.store.databases), properMotion).map(
        ({ release }) => release,
      );
      return world.store.countWhere(differsFrom(world.store, { ...PROVENANCE, catalogs }));
    };
    assert.equal([differing(true), differing(false)], [0, 2]);
    assert.is((await world.crossmatch({ again: {} })).recorded, 2);
    assert.equal([found(world, here), found(world, there)], [[`${idOf(0)}`, 0, undefined], undefined]);
  }));

test('a copy of the catalog without motions is compared where it is, and says so [Proper motion]', () =>
  inWorld(async world => {
    await addStars(world, [FAST]);
    const [registration] = readCatalogs(world.store.databases);
    const payload = registration!.columns.payload.map(each =>
      each.key === 'pmdec' ? { ...each, column: null } : each,
    );
    await world.writer.commit({
      kind: 'register_catalog',
      registration: { ...registration!, columns: { ...registration!.columns, payload } },
    });
    const [here] = (await world.ingest([FAST])) as [bigint];
    await world.crossmatch({ properMotion: true });
    assert.equal(found(world, here), [`${idOf(0)}`, 0, undefined]);
    const { provenanceSet } = world.store.getObject(here)!.records[0]!;
    assert.equal(world.store.provenanceSet(provenanceSet).set.catalogs, [{ name: 'gaia_dr3', release: 'Gaia DR3' }]);
  }));

test('an event more than a century from the epoch: the place in the catalog [Proper motion]', () =>
  inWorld(async world => {
    await addStars(world, [FAST]);
    const eventTimeUs = Date.UTC(2117, 0, 1) * 1000;
    const delivery = { diaObjectId: 5n, position: FAST, reliability: 1, eventTimeUs, broker: 'lasair' };
    await world.writer.ingest([delivery], 1);
    await world.crossmatch({ properMotion: true });
    assert.equal(found(world, 5n), [`${idOf(0)}`, 0, undefined]);
  }));

test('a century from the epoch is the limit of motions, in either direction [Proper motion]', () => {
  for (const years of [-100, -0.5, 0, 100]) assert.is(yearsBetween(2000, 2000 + years), years);
  for (const years of [-100.001, 100.001]) assert.ok(Number.isNaN(yearsBetween(2000, 2000 + years)), `${years}`);
});

test('parallaxes and radial velocities that are no star’s count as unknown [Proper motion]', () => {
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
