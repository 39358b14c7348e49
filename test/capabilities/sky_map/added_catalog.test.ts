/** A catalog that is added with a description. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { withStars } from '../../core/http/added_catalog.ts';
import { eventually, type Json } from '../../core/http/support.ts';

const test = suite('sky_map/added_catalog');

test('the map of coverage', () =>
  withStars(async app => {
    // A busy machine may need longer than one request has.
    const map: Json = await eventually('the map is there', async () => {
      const request = new Request('http://nearsky.test/api/sky-map?layer=coverage&resolution=1');
      const answer = await app.app.fetch(request);
      const body = await answer.json();
      return answer.status === 200 ? body : undefined;
    });
    assert.equal(Object.keys(map.by_catalog), ['stars']);
    assert.equal(map.provenance.catalogs.at(-1).name, 'stars');
  }));

test.run();
