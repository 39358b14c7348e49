/** The definitions of the catalogs are consistent: every named column is stored, and catalogs can be distinguished. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type CatalogDefinition, catalogKeys } from '../../../src/core/contract/catalog.ts';
import { CATALOGS } from '../../../src/core/contract/catalogs.ts';

const test = suite('contract/catalogs');

/** Every payload key that the definition names, besides its list of columns. */
function namedKeys(definition: CatalogDefinition) {
  const { raColumn, decColumn } = definition;
  return [raColumn, decColumn, ...catalogKeys(definition).map(({ key }) => key)].map(key => key.toLowerCase());
}

for (const catalog of CATALOGS) {
  test(`${catalog.name}: every column that is named is stored, once`, () => {
    const keys = catalog.columns.map(({ name }) => name.toLowerCase());
    assert.is(new Set(keys).size, keys.length);
    assert.equal(
      namedKeys(catalog).filter(key => !keys.includes(key)),
      [],
    );
    const letters = catalog.photometry.bands.map(({ letter }) => letter);
    for (const letter of [catalog.photometry.main, ...catalog.photometry.colours.flat()])
      assert.ok(letters.includes(letter), letter);
  });

  test(`${catalog.name}: every property that can be filtered by is described`, () => {
    for (const { name, description, quotientOf } of catalog.filterable)
      assert.ok(description || (!quotientOf && catalog.columns.some(column => column.name === name)), name);
  });
}

test('no two catalogs share a name, a marker or a colour', () => {
  const of = (part: (catalog: CatalogDefinition) => unknown) =>
    new Set(CATALOGS.map(catalog => JSON.stringify(part(catalog)))).size;
  assert.is(
    of(({ name }) => name),
    CATALOGS.length,
  );
  assert.is(
    of(({ marker }) => marker),
    CATALOGS.length,
  );
  for (const theme of ['light', 'dark'] as const)
    assert.is(
      of(({ colour }) => colour[theme]),
      CATALOGS.length,
    );
});

test.run();
