import * as assert from 'uvu/assert';
import { expectStatus, inSources, test } from '../../core/contract/occurring.ts';

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
