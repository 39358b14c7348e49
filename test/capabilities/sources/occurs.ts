import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { catalogDefinition } from '../../../src/core/contract/catalogs.ts';
import { catalogColumns } from '../../core/catalogs/small_catalog.ts';
import { expectStatus, inSources, test } from '../../core/contract/occurring.ts';
import { TestApp } from '../../core/http/support.ts';
import { inWorld } from '../crossmatch/world.ts';

const SOURCES = '/api/sources?ra=150&dec=2';
const near = `${SOURCES}&radius_arcsec=1`;
const ofSource = '/api/sources/gaia_dr3/5';

test('sources of catalogs that are searched, left out, missing, and cannot be read', () =>
  inSources(
    async app => {
      await expectStatus(app, 200, near, `${near}&limit=1`, ofSource, `${ofSource}?limit=1`);
      await expectStatus(app, 400, SOURCES, `${near}&at=1`, '/api/sources/gaia_dr3/x');
      for (const path of [near, ofSource]) assert.is((await app.get(path, { method: 'DELETE' })).status, 405);
      await app.app.close();
      await expectStatus(app, 503, near, ofSource);
    },
    whole => expectStatus(whole, 200, near),
  ));

test('a source without a magnitude', () =>
  inWorld(async world => {
    const columns = catalogColumns(catalogDefinition('gaia_dr3')!, [150], [2]).map(column =>
      column.name.endsWith('_mean_mag') ? { ...column, data: [null] } : column,
    );
    await world.addCatalog('gaia_dr3', [{ ra: 150, dec: 2 }], { columns });
    const app = await new TestApp(join(world.directory, 'data')).ready();
    const { body } = await app.get(near);
    assert.equal([body.sources[0].magnitude, body.sources[0].band], [null, null]);
    await app.app.close();
  }));
