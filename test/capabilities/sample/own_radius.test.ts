/** Reports on a sample beside catalogs with a radius of their own. */
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { chanceProbability } from '../../../src/core/store/match_statistics.ts';
import { API } from '../../capabilities.ts';
import { type Json, TestApp } from '../../core/http/support.ts';
import { addRadiusCatalog, scan, seams } from '../crossmatch/own_radii.ts';
import { inWorld } from '../crossmatch/world.ts';

const test = suite('sample/own radius');

test('coincidences and the number expected by chance are those of each catalog’s own radius, which the report names [Sample]', () =>
  inWorld(async world => {
    const catalogs = [await addRadiusCatalog(world, 'galaxies'), await addRadiusCatalog(world, 'xray')];
    const places = seams(8, 45, 3);
    const app = await new TestApp(join(world.directory, 'data')).ready();
    try {
      const inputs = places.map(({ ra, dec }) => ({ kind: 'position', ra, dec }));
      const names = catalogs.map(({ name }) => name);
      const { status, body, text } = await app.post('/api/sample', { inputs, catalogs: names });
      assert.is(status, 200, text);
      for (const catalog of catalogs) {
        const { name, radius } = catalog;
        let expected = 0;
        body.rows.forEach(({ catalogs: cells }: Json, i: number) => {
          const cell = cells[name];
          const nearest = scan(catalog, places[i]!)[0];
          assert.equal(
            [cell.catalog_source_id, cell.separation_arcsec],
            nearest ? [`${nearest.id}`, nearest.separationArcsec] : [null, null],
            `${name} at ${i}`,
          );
          const isSearched = cell.outcome === 'coincident_source' || cell.outcome === 'no_coincident_source';
          if (isSearched && cell.source_density !== null)
            expected += chanceProbability(cell.source_density, radius.arcsec);
        });
        const { expected_by_chance, radius_arcsec, radius_column } = body.summary.catalogs[name];
        assert.ok(Math.abs(expected_by_chance - expected) <= 1e-5 * expected, `${name}: ${expected_by_chance}`);
        assert.equal([radius_arcsec, radius_column], [radius.arcsec, 'column' in radius ? '3*POS_ERR' : undefined]);
      }
      assert.match(body.methods, /The galaxies, within 20\.0 arcsec: .* upper limit/);
      const page = await app.get('/');
      assert.is(page.status, API.hasPages ? 200 : 404);
    } finally {
      await app.app.close();
    }
  }));

test.run();
