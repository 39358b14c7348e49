/** A catalog whose ids are texts: the objects of a source, and the sources near a position. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Json } from '../../core/http/support.ts';
import { NAMED, withNames } from '../../core/http/text_ids.ts';
import { OBJECTS } from '../crossmatch/text_ids.ts';

const test = suite('sources/text_ids');

test('the objects of a source, and the sources near a position [Catalogs; Sources]', () =>
  withNames(async ({ ids, fetch, app }) => {
    for (const { at, id } of NAMED) {
      const listed: Json = await (await fetch(`/api/sources/quasars/${encodeURIComponent(id)}`)).json();
      assert.equal([listed.catalog_name, listed.catalog_source_id], ['quasars', id]);
      assert.ok(
        listed.objects.some((object: Json) => object.diaObjectId_str === `${ids[at]}`),
        id,
      );
      const { ra, dec } = OBJECTS[at]!;
      const near: Json = await (await fetch(`/api/sources?ra=${ra}&dec=${dec}&radius_arcsec=1`)).json();
      assert.is(near.sources[0].catalog_source_id, id);
    }
    for (const [wrong, shown] of [
      ['x'.repeat(81), 'x'],
      ['%20', ' '],
      ['a%0Ab', 'a'],
      ['%FF', '\ufffd'],
    ] as const) {
      const response = await app.app.fetch(new Request(`http://nearsky.test/api/sources/quasars/${wrong}`));
      const body: Json = await response.json();
      assert.equal([response.status, body.param], [400, 'catalog_source_id'], shown);
      assert.match(body.message, /a text of 1 to 80 bytes in UTF-8/);
    }
    const document: Json = await (await fetch('/openapi.json')).json();
    const [, id] = document.paths['/api/sources/{catalog}/{catalog_source_id}'].get.parameters;
    assert.equal([id.schema.maxLength, id.schema.pattern], [80, undefined]);
  }));

test.run();
