/** Each recipe, on a small catalog with its columns: `catalog add`, crossmatch, answers, and what other capabilities say. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { CAPABILITIES } from '../../../src/capabilities.ts';
import { nearsky } from '../../commands/in_process.ts';
import { type Json, TestApp } from '../../core/http/support.ts';
import { withDirectory } from '../../directory.ts';
import { needs } from '../../needs.ts';
import { pythonWith, runPython, whyNoPython } from '../../python.ts';
import { idOf, recipeValue, SOURCE, writeRecipes } from './recipe_catalogs.ts';

const MODULES = 'hats, hats_import, pyarrow';
const test = suite('catalogs/recipes (system)');
const check = needs(test, whyNoPython(MODULES));
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

/** Imports each small catalog anew with hats-import, from its own rows. */
const IMPORT = `
import json, pathlib, sys
import pyarrow, pyarrow.parquet
from hats_import.catalog.arguments import ImportArguments
from hats_import.pipeline import pipeline

if __name__ == "__main__":
    directory = pathlib.Path(sys.argv[1])
    for name, ra, dec in json.loads(sys.argv[2]):
        files = sorted((directory / name / "dataset").rglob("Npix=*.parquet"))
        tables = [pyarrow.parquet.read_table(file, partitioning=None).drop_columns(["_healpix_29"]) for file in files]
        path = directory / f"{name}.parquet"
        pyarrow.parquet.write_table(pyarrow.concat_tables(tables), path)
        pipeline(ImportArguments(
            output_path=directory / "imported", output_artifact_name=name, input_file_list=[path], file_reader="parquet",
            ra_column=ra, dec_column=dec, dask_n_workers=1, dask_threads_per_worker=1,
            progress_bar=False, simple_progress_bar=False,
        ))
`;
/** Text ids, a radius of each source, a column that is no word. */
const IMPORTED = ['milliquas', 'erosita_dr1', 'glade_plus', 'sdss_dr16'];

check('catalogs that hats-import writes are added by their names', () =>
  withDirectory(async directory => {
    const written = writeRecipes(directory).filter(({ recipe }) => IMPORTED.includes(recipe.name));
    const script = join(directory, 'import.py');
    writeFileSync(script, IMPORT);
    const named = written.map(({ recipe: { name, description } }) => {
      return [name, description.raColumn ?? 'ra', description.decColumn ?? 'dec'];
    });
    await runPython(pythonWith(MODULES)!, [script, directory, JSON.stringify(named)], { timeout: 600_000 });
    for (const { recipe } of written) {
      const location = join(directory, 'imported', recipe.name);
      const added = await nearsky('catalog', 'add', recipe.name, location, '--data', join(directory, 'data'));
      assert.equal(
        [added.rows, added.release, added.missing_columns],
        [3, recipe.description.release, []],
        recipe.name,
      );
    }
  }),
);

test.run();
