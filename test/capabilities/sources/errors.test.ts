/** The probabilities of the sources near a position that has an error, and their positions. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { worthOf } from '../../../src/core/store/match_statistics.ts';
import { assertSame, KEYS, withMatchedField } from '../crossmatch/field.ts';
import { addStars, FAST, withApp as withMovingStars } from '../crossmatch/moving_stars.ts';
import { inWorld } from '../crossmatch/world.ts';

const test = suite('sources/errors');

test('a position with an error has the probabilities of the same object [Sources]', () =>
  withMatchedField(async (app, { objects }, world) => {
    let compared = 0;
    for (const [at, { ra, dec, errorMas }] of objects.entries()) {
      const match = world.store.getObject(1n + BigInt(at))!.matches[0];
      if (!match || at % 3 !== 0) continue;
      const error = errorMas === undefined ? '' : `&error_arcsec=${errorMas / 1000}`;
      const { status, body } = await app.get(`/api/sources?ra=${ra}&dec=${dec}&radius_arcsec=1${error}`);
      assert.is(status, 200);
      assert.is(body.sources[0].catalog_source_id, match.catalogSourceId);
      const worth = worthOf(match, match.statistics);
      for (const key of KEYS) assertSame(body.sources[0][key], worth[key], `${at} ${key}`);
      if (worth.any_match_probability !== null) compared++;
    }
    assert.ok(compared > 50, `${compared}`);
    for (const error of ['0', '-1', '648001', 'x', '1e-10'])
      assert.is(
        (await app.get(`/api/sources?ra=1&dec=2&radius_arcsec=1&error_arcsec=${error}`)).body.param,
        'error_arcsec',
      );
  }));

test('the sources near a position are compared at the positions of their catalogs, and so say their releases [Proper motion]', () =>
  inWorld(async world => {
    await addStars(world, [FAST]);
    await withMovingStars(world, async app => {
      const { body } = await app.get('/api/sources?ra=10&dec=5&radius_arcsec=1');
      assert.ok(body.provenance.catalogs.every((each: { proper_motion?: true }) => !each.proper_motion));
    });
  }));

test.run();
