import { join } from 'node:path';
import { expectStatus, test } from '../../core/contract/occurring.ts';
import { TestApp } from '../../core/http/support.ts';
import { addRadiusCatalog } from './own_radii.ts';
import { inWorld } from './world.ts';

test('a catalog with a radius for each source', () =>
  inWorld(async world => {
    await addRadiusCatalog(world, 'xray');
    const app = await new TestApp(join(world.directory, 'data')).ready();
    await expectStatus(app, 200, '/api/describe', '/api/cone?ra=150&dec=2&radius_arcsec=5');
    await app.app.close();
  }));
