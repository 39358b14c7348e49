/** Recipes of catalogs: their files, and the command. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { RECIPES } from '../../../src/capabilities/catalogs/recipes.ts';
import { registerCatalog } from '../../../src/capabilities/catalogs/register.ts';
import { nearsky, start } from '../../commands/in_process.ts';
import { withDirectory } from '../../directory.ts';
import { writeRecipes } from './recipe_catalogs.ts';

const test = suite('catalogs/recipes');

test('each fits a catalog with its columns, and has a rule, an error or a radius only of these', () =>
  withDirectory(async directory => {
    for (const { recipe, location } of writeRecipes(directory)) {
      const { name, description } = recipe;
      const registration = await registerCatalog({ name, idColumn: undefined, description }, location, {
        addedAtUs: 1,
      });
      assert.equal(
        registration.columns.payload.map(({ column }) => column),
        description.columns!.map(column => column.name),
      );
      assert.is(registration.columns.hasTextIds ?? false, registration.definition!.idType === 'text', name);
      assert.is(registration.definition!.release, description.release);
    }
  }));

test('a recipe without a public copy needs a location; its description can be printed; --id leaves the recipe out', () =>
  withDirectory(async directory => {
    const data = ['--data', join(directory, 'data')];
    const refused = async (pattern: RegExp, ...args: string[]) => {
      const { code, stderr } = await start(['catalog', ...args, ...data]).finished;
      assert.not.equal(code, 0, stderr);
      assert.match(stderr, pattern);
    };
    await refused(/no public copy of Milliquas in HATS is known: make one from https:/, 'add', 'milliquas');
    await refused(/catalog add allwise needs the LOCATION/, 'add', 'allwise', '--id', 'cntr');
    await refused(/"nothing" needs --id COLUMN/, 'add', 'nothing');
    await refused(/there is no recipe "nothing": they are allwise, /, 'recipes', 'nothing');
    assert.equal((await nearsky('catalog', 'recipes', ...data)) as unknown, JSON.parse(JSON.stringify(RECIPES)));
    const { stdout } = await start(['catalog', 'recipes', 'allwise', ...data]).finished;
    assert.equal(JSON.parse(stdout), JSON.parse(JSON.stringify(RECIPES[0]!.description)));
  }));

test('each names its sources, and stands in the table of the documents with its address', () => {
  const document = readFileSync(join(import.meta.dirname, '../../../docs/catalogs.md'), 'utf8');
  const names = RECIPES.map(({ name }) => name);
  assert.equal(names, [...names].sort());
  for (const { name, title, location, table, sources, bibcode } of RECIPES) {
    assert.ok(sources.length > 0 && bibcode.length === 19, name);
    assert.ok(location !== null || table !== undefined, name);
    assert.ok(document.includes(`| \`${name}\` | ${title} |`), name);
    if (location !== null) assert.ok(document.includes(location), name);
  }
});

test.run();
