/** Each recipe, on a small catalog with its columns: `catalog add`, crossmatch, answers, and what other capabilities say. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { RECIPES } from '../../../src/capabilities/catalogs/recipes.ts';
import { CAPABILITIES } from '../../../src/capabilities.ts';
import { nearsky } from '../../commands/in_process.ts';
import { type Json, TestApp } from '../../core/http/support.ts';
import { withDirectory } from '../../directory.ts';
import { needs } from '../../needs.ts';
import { pythonWith, runPython, whyNoPython } from '../../python.ts';
import { idOf, recipeValue, SOURCE, writeRecipes } from './recipe_catalogs.ts';

const test = suite('catalogs/recipes (system)');
const isThere = (name: string) => CAPABILITIES.some(capability => capability.name === name);
const OBJECT = { ra: 150, dec: 2 };

test('each is added by its name, crossmatched, answered with all its columns, matched with tables, queried and exported', () =>
  withDirectory(async directory => {
    const data = ['--data', join(directory, 'data')];
    const written = writeRecipes(directory);
    for (const { recipe, location } of written) {
      const { release, radius } = await nearsky('catalog', 'add', recipe.name, location, ...data);
      assert.equal([release, radius], [recipe.description.release, recipe.description.radius], recipe.name);
    }
    const objects = [
      { name: 'id', type: 'INT64' as const, data: [1n] },
      { name: 'ra', type: 'DOUBLE' as const, data: [OBJECT.ra] },
      { name: 'dec', type: 'DOUBLE' as const, data: [OBJECT.dec] },
    ];
    const table = join(directory, 'objects.parquet');
    writeFileSync(table, Buffer.from(parquetWriteBuffer({ columnData: objects })));
    await nearsky('ingest', '--table', table, '--id', 'id', '--ra', 'ra', '--dec', 'dec', ...data);
    assert.is((await nearsky('crossmatch', ...data)).recorded, 1);
    const app = await new TestApp(join(directory, 'data')).ready();
    try {
      const { body } = await app.get('/api/objects/1?detail=full');
      const matches = new Map<string, Json>(
        body.results[0].objects[0].matches.map((match: Json) => [match.catalog_name, match]),
      );
      const described = (await app.get('/api/describe')).body.catalogs;
      for (const { recipe } of written) {
        const match = matches.get(recipe.name)!;
        assert.equal([match.catalog_source_id, match.ra], [idOf(recipe), SOURCE.ra], recipe.name);
        for (const { name } of recipe.description.columns!) {
          const value = recipeValue(recipe, name);
          assert.is(match.catalog_payload[name.toLowerCase()], typeof value === 'bigint' ? Number(value) : value, name);
        }
        assert.is(match.statistics?.normalized_separation, undefined, 'the object has no error');
        assert.ok(described.some((each: Json) => each.name === recipe.name));
      }
      if (isThere('pages')) {
        const page = (await app.get('/catalogs')).text;
        for (const { recipe } of written) assert.ok(page.includes(`id="${recipe.name}"`), recipe.name);
        assert.is((await app.get('/objects/1')).status, 200);
      }
      if (isThere('table_match')) {
        const answer = await app.post('/api/crossmatch?against=all&format=csv', 'ra,dec\n150,2\n', 'text/csv');
        assert.is(answer.status, 200, answer.text);
        const [head, row] = answer.text.split('\n').map(line => line.split(','));
        for (const { recipe } of written)
          assert.is(row![head!.indexOf(`nearsky_${recipe.name}_source_id`)], idOf(recipe), recipe.name);
      }
      if (isThere('adql')) {
        const query = written
          .map(({ recipe }) => `SELECT COUNT(*) AS n FROM nearsky.${recipe.name}_matches WHERE separation_arcsec < 1`)
          .join(' UNION ALL ');
        const answer = await app.get(
          `/vo/tap/sync?REQUEST=doQuery&LANG=ADQL&FORMAT=csv&QUERY=${encodeURIComponent(query)}`,
        );
        assert.is(answer.text.trim(), `n${'\n1'.repeat(written.length)}`);
      }
    } finally {
      await app.app.close();
    }
    if (isThere('hats')) {
      const exported = join(directory, 'exported');
      await nearsky('export', ...data, '--format', 'hats', exported);
    }
  }));

/** Prints the arguments that are no UCDs of the IVOA's vocabulary. */
const CHECK = `
import sys
from astropy.io.votable.ucd import check_ucd
print(*(ucd for ucd in sys.argv[1:] if not check_ucd(ucd, check_controlled_vocabulary=True)))
`;
needs(test, whyNoPython('astropy'))('each UCD is one of the vocabulary', async () => {
  const ucds = new Set(RECIPES.flatMap(({ description }) => description.columns!.flatMap(({ ucd }) => ucd ?? [])));
  assert.is((await runPython(pythonWith('astropy')!, ['-c', CHECK, ...ucds])).trim(), '');
});

test.run();
