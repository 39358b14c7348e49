/** The separation at the time of the event is in every answer that has a match. */
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { inWorld } from '../../capabilities/crossmatch/world.ts';
import { FACTS } from '../facts.ts';
import { TestApp } from './support.ts';

const test = suite('http/motion');

const PLACE = { ra: 150, dec: 2 };
const CONE = '/api/cone?ra=150&dec=2&radius_arcsec=10';

test('answers, tables, and answers of capabilities [Proper motion]', () =>
  inWorld(async world => {
    // The catalog's motions are made up: 16 mas a year for its first row.
    await world.addCatalog('gaia_dr3', [PLACE], {}, [5n]);
    await world.addCatalog('des_y6_gold', [PLACE], {}, [6n]);
    await world.ingest([PLACE]);
    await world.crossmatch({ properMotion: true });
    const data = join(world.directory, 'data');
    const app = await new TestApp(data, { CROSSMATCH_PROPER_MOTION: 'yes' }).ready();
    try {
      for (const detail of ['matches', 'full']) {
        const { body } = await app.get(`${CONE}&detail=${detail}`);
        const [still, moved] = body.results[0].objects[0].matches;
        assert.equal([still.catalog_name, 'separation_at_epoch_arcsec' in still], ['des_y6_gold', false]);
        assert.is(moved.separation_arcsec, 0);
        assert.is('separation_at_epoch_arcsec' in moved, detail === 'full');
        if (detail === 'full')
          assert.ok(Math.abs(moved.separation_at_epoch_arcsec - 0.156) < 0.01, `${moved.separation_at_epoch_arcsec}`);
        const [set] = Object.values(body.provenance_sets) as { catalogs: { name: string; proper_motion?: true }[] }[];
        for (const { catalogs } of [set!, body.provenance])
          assert.equal(
            catalogs
              .filter(({ proper_motion }: { proper_motion?: true }) => proper_motion)
              .map(({ name }: { name: string }) => name),
            ['gaia_dr3'],
          );
      }
      const atEpoch = (await app.get(`${CONE}&detail=full`)).body.results[0].objects[0].matches[1]
        .separation_at_epoch_arcsec;
      const column = async (path: string, name: string) => {
        const [head, row] = (await app.get(path)).text.split('\n').map(line => line.split(','));
        return row![head!.indexOf(name)];
      };
      assert.is(await column(`${CONE}&detail=full&format=csv`, 'gaia_dr3_separation_at_epoch_arcsec'), `${atEpoch}`);
      for (const { path, epoch } of FACTS.flatMap(({ epochs = [] }) => epochs)) {
        const { text } = await app.get(path);
        assert.match(text, epoch(atEpoch), path);
      }
      const { body } = await app.get('/api/describe');
      assert.match(body.crossmatch.description, /Sources of gaia_dr3 with a proper motion/);
    } finally {
      await app.app.close();
    }
  }));

test.run();
