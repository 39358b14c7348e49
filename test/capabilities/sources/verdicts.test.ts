/** What a catalog says of the sources near a position. */
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Json, TestApp } from '../../core/http/support.ts';
import { addJudged } from '../crossmatch/judged.ts';
import { inWorld } from '../crossmatch/world.ts';

const test = suite('sources/verdicts');

test('each source has the verdict of its catalog, in JSON and in tables [Sources]', () =>
  inWorld(async world => {
    const sources = await addJudged(world);
    const app = new TestApp(join(world.directory, 'data'));
    try {
      const path = '/api/sources?ra=30.005&dec=-20&radius_arcsec=60';
      const { body } = await app.get(path);
      assert.ok(body.count > 10);
      const verdicts = new Map(sources.map(({ id, verdict }) => [`${id}`, verdict]));
      for (const { catalog_source_id, verdict, verdict_reason, catalog_payload } of body.sources) {
        assert.is(verdict, verdicts.get(catalog_source_id));
        const { ext_mash } = catalog_payload;
        assert.match(verdict_reason, ext_mash === null ? 'its columns are empty' : `ext_mash ${ext_mash}`);
      }
      const [names, ...rows] = (await app.get(`${path}&format=csv`)).text.trimEnd().split('\n');
      const column = names!.split(',').indexOf('verdict');
      assert.equal(
        rows.map(row => row.split(',')[column]),
        body.sources.map((source: Json) => source.verdict),
      );
    } finally {
      await app.app.close();
    }
  }));

test.run();
