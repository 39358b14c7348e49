/** A catalog that is added with a description. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { jsonOf, withStars } from '../../core/http/added_catalog.ts';
import type { Json } from '../../core/http/support.ts';

const test = suite('sources/added_catalog');

test('the sources near a position', () =>
  withStars(async app => {
    const near = await jsonOf(app, '/api/sources?ra=150&dec=2&radius_arcsec=1&catalog=stars');
    assert.equal(
      near.sources.map(({ catalog_source_id, catalog_payload }: Json) => [catalog_source_id, catalog_payload.kind]),
      [['7', 'RR, "Lyr"']],
    );
    assert.equal(near.catalogs[0].columns[2], { name: 'vmag', unit: null, ucd: '', description: 'Column Vmag' });
  }));

test.run();
