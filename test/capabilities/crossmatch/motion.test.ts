/** Sources that move are compared at their positions at the time of the event, against a scan of all rows. */

import { join } from 'node:path';
import { movedStar, separationArcsec } from '@nearsky/sky-index';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { differsFrom } from '../../../src/capabilities/crossmatch/again.ts';
import { catalogsInService } from '../../../src/capabilities/crossmatch/crossmatcher.ts';
import { starOf } from '../../../src/capabilities/crossmatch/motion.ts';
import { catalogDefinition } from '../../../src/core/contract/catalogs.ts';
import { catalogColumns } from '../../core/catalogs/small_catalog.ts';
import type { HatsOptions } from '../../core/catalogs/write_hats.ts';
import { type Answer, TestApp } from '../../core/http/support.ts';
import { HARD_PLACES, offset, type Place, seededRandom } from '../../oracle/skies.ts';
import { inWorld, PROVENANCE, type World } from './world.ts';

const test = suite('crossmatch/motion');

/** Julian years from J2016.0 to a time, UTC, milliseconds since 1970. */
const yearsTo = (ms: number) => 2000 + (ms / 1000 + 69.184 - 946_728_000) / 86_400 / 365.25 - 2016;
/** To the event of every object of a world. */
const YEARS = yearsTo(Date.UTC(2026, 0, 1));

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

/** The position of a star that many years after J2016.0, by default at the time of the events; undefined for a star that is compared at its catalog position. */
function placeThen({ ra, dec, pmra, pmdec, parallax }: Star, years = YEARS): Place | undefined {
  if (pmra === null || pmdec === null) return undefined;
  const motion = Math.hypot(pmra, pmdec);
  if (motion === 0 || motion > 20_000) return undefined;
  const known = parallax !== null && parallax > 0 && parallax <= 1000 ? parallax : 0;
  return movedStar({ ra, dec, pmra, pmdec, parallax: known, radialVelocity: 0 }, years);
}

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

/** The match of the newest version, in the same form. */
function found({ store }: World, id: bigint): [string, number, number | undefined] | undefined {
  const { matches, records } = store.getObject(id)!;
  const match = matches.find(({ matchVersion }) => matchVersion === records.at(-1)!.matchVersion);
  return match && [match.catalogSourceId, match.separationArcsec, match.separationAtEpochArcsec];
}

/** Stars of every speed at hard places, and objects that most of them have moved to. */
function sky(seed: number, count: number, years = YEARS): { readonly stars: Star[]; readonly objects: Place[] } {
  const random = seededRandom(seed);
  const stars = Array.from({ length: count }, (_, row): Star => {
    const place = offset(HARD_PLACES[row % HARD_PLACES.length]!, 600 * random() ** 2, 2 * Math.PI * random());
    if (row % 17 === 0) return { ...place, pmra: row % 2 ? null : 100, pmdec: null, parallax: null };
    const [motion, angle] = [10 ** (4.35 * random()), 2 * Math.PI * random()];
    const parallax = [null, -3, 0, 1e9, 10 ** (3 * random())][row % 5]!;
    return { ...place, pmra: motion * Math.sin(angle), pmdec: motion * Math.cos(angle), parallax };
  });
  const objects = stars.map(star => {
    const there = random() < 0.8 ? (placeThen(star, years) ?? star) : star;
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

/** Moves 1 arcsec a year to the north. */
const FAST: Star = { ra: 10, dec: 5, pmra: 0, pmdec: 1000, parallax: 2 };
const THEN = placeThen(FAST)!;

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
      const catalogs = catalogsInService(world.store.catalogs(), properMotion).map(({ release }) => release);
      return world.store.countWhere(differsFrom(world.store, { ...PROVENANCE, catalogs }));
    };
    assert.equal([differing(true), differing(false)], [0, 2]);
    assert.is((await world.crossmatch({ again: {} })).recorded, 2);
    assert.equal([found(world, here), found(world, there)], [[`${idOf(0)}`, 0, undefined], undefined]);
  }));

async function withApp(world: World, use: (app: TestApp) => Promise<void>): Promise<void> {
  const settings = { API_REQUEST_BUDGET_SECONDS: '120', CROSSMATCH_PROPER_MOTION: 'yes' };
  const app = await new TestApp(join(world.directory, 'data'), settings).ready();
  try {
    await use(app);
  } finally {
    await app.app.close();
  }
}

/** The Julian year of `YEARS`, in the forms of an epoch, for a unit of the column. */
const EPOCH = 2016 + YEARS;
const EPOCHS: readonly (readonly [cell: string, name: string, unit?: string])[] = [
  [`${EPOCH}`, 'epoch'],
  [`J${EPOCH}`, 'when'],
  [`${2_451_545 + (EPOCH - 2000) * 365.25}`, 'jd'],
  [`${51_544.5 + (EPOCH - 2000) * 365.25}`, 'obs_mjd'],
  ['2026-01-01T00:00:00Z', 'seen'],
  ['2026-01-01', 'date'],
];

test('a table with epochs has the matches of objects seen then; without them it has those of the catalog positions, and says so [Proper motion]', () =>
  inWorld(async world => {
    const { stars, objects } = sky(11, 300);
    await addStars(world, stars, { maxRows: 60, maxOrder: 8, rowGroupSize: 9 });
    const ids = await world.ingest(objects);
    await world.crossmatch({ properMotion: true });
    await withApp(world, async app => {
      const table = (name: string, cell: string) =>
        ['ra,dec', ...objects.map(({ ra, dec }) => `${ra},${dec}`)].map(
          (line, at) => `${line},${at === 0 ? name : cell}`,
        );
      const send = (search: string, lines: readonly string[]) =>
        app.post(`/api/crossmatch?against=gaia_dr3${search}`, `${lines.join('\n')}\n`, null);
      const rowsOf = ({ status, text }: Answer) => {
        assert.is(status, 200, text.slice(0, 300));
        return text
          .trim()
          .split('\n')
          .map(line => JSON.parse(line.replace(/("nearsky_source_id":\s*)(\d+)/, '$1"$2"')));
      };
      const expected = ids.map(id => found(world, id));
      for (const [cell, name] of EPOCHS)
        for (const epoch of [name, ...(/^J?2026/.test(cell) ? [cell] : [])]) {
          const rows = rowsOf(await send(`&format=ndjson&epoch=${epoch}`, table(name, cell)));
          rows.forEach((row, at) => {
            const [source = null, separation = null, atEpoch = null] = expected[at] ?? [];
            assert.equal(
              [row.nearsky_source_id, row.nearsky_separation_arcsec],
              [source, separation],
              `${epoch} ${at}`,
            );
            const difference = (row.nearsky_separation_at_epoch_arcsec ?? -1) - (atEpoch ?? -1);
            // The terrestrial time of the event is 69 s ahead of the table's.
            assert.ok(Math.abs(difference) < 1e-4, `${epoch} ${at}: ${difference}`);
          });
        }
      const still = stars.map((_, row) => ({ row, ...stars[row]! }));
      const atCatalog = objects.map(
        object =>
          still
            .map(star => ({
              id: `${idOf(star.row)}`,
              arcsec: separationArcsec(object.ra, object.dec, star.ra, star.dec),
            }))
            .filter(({ arcsec }) => arcsec <= 1)
            .sort((a, b) => a.arcsec - b.arcsec || (a.id < b.id ? -1 : 1))[0]?.id ?? null,
      );
      // Without an epoch, and in rows that have none.
      for (const [search, cell] of [
        ['', ''],
        ['&epoch=epoch', ''],
      ] as const) {
        const rows = rowsOf(await send(`&format=ndjson${search}`, table('epoch', cell)));
        assert.equal(
          rows.map(row => row.nearsky_source_id),
          atCatalog,
          search,
        );
      }
      for (const [search, claimed] of [
        ['', []],
        [`&epoch=${EPOCH}`, ['gaia_dr3']],
      ] as const) {
        const { status, text } = await send(`&format=votable&rows=matched${search}`, table('epoch', ''));
        assert.is(status, 200, text);
        const [, about] = /<INFO name="nearsky" value="([^"]*)"/.exec(text)!;
        const { provenance } = JSON.parse(about!.replaceAll('&quot;', '"'));
        const moved = provenance.catalogs.filter((each: { proper_motion?: true }) => each.proper_motion);
        assert.equal(
          moved.map(({ name }: { name: string }) => name),
          claimed,
        );
      }
      const { body } = await app.get('/api/sources?ra=10&dec=5&radius_arcsec=1');
      assert.ok(body.provenance.catalogs.every((each: { proper_motion?: true }) => !each.proper_motion));
    });
  }));

test('epochs that cannot be used are refused by name and value [Proper motion]', () =>
  inWorld(async world => {
    await addStars(world, [FAST]);
    await world.addCatalog('des_y6_gold', [FAST], {}, [6n]);
    await withApp(world, async app => {
      for (const [search, says, lines] of [
        ['against=objects&epoch=2026', /epoch needs a catalog with proper motions/],
        ['against=des_y6_gold&epoch=2026', /epoch needs a catalog with proper motions/],
        ['against=gaia_dr3&epoch=none', /no column none, named in epoch=/],
        ['against=gaia_dr3&epoch=1700', /1800 to 2200.*1700/],
        ['against=gaia_dr3&epoch=60000', /1800 to 2200.*60000/],
        ['against=gaia_dr3&epoch=mjd', /row 1 of its column mjd has the epoch 2026/, 'ra,dec,mjd\n10,5,2026\n'],
        ['against=gaia_dr3&epoch=t', /row 2 of its column t has the epoch 60000/, 'ra,dec,t\n10,5,2026\n10,5,60000\n'],
        ['against=gaia_dr3&epoch=t', /has the epoch soon/, 'ra,dec,t\n10,5,soon\n'],
        ['against=gaia_dr3&epoch=t', /has the epoch 12,/, 'ra,dec,t\n10,5,12\n'],
      ] as const) {
        const { status, text, body } = await app.post(`/api/crossmatch?${search}`, lines ?? 'ra,dec\n10,5\n', null);
        assert.equal([status, body?.param], [400, 'epoch'], text);
        assert.match(text, says);
      }
    });
  }));

test('a copy of the catalog without motions is compared where it is, and says so [Proper motion]', () =>
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

test('an event more than a century from the epoch: the place in the catalog [Proper motion]', () =>
  inWorld(async world => {
    await addStars(world, [FAST]);
    const eventTimeUs = Date.UTC(2117, 0, 1) * 1000;
    const delivery = { diaObjectId: 5n, position: FAST, reliability: 1, eventTimeUs, broker: 'lasair' };
    await world.writer.ingest([delivery], 1);
    await world.crossmatch({ properMotion: true });
    assert.equal(found(world, 5n), [`${idOf(0)}`, 0, undefined]);
  }));

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
