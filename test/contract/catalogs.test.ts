/** The definitions of the catalogs hold together: whatever names a column names one that is stored, and catalogs can be told apart. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Band, CatalogDefinition, Highlight } from '../../src/contract/catalog.ts';
import { CATALOGS } from '../../src/contract/catalogs.ts';

const test = suite('contract/catalogs');

const bandKeys = (band: Band) => [band.magnitude, 'error' in band ? band.error : band.fluxOverError];

function highlightKeys(line: Highlight): readonly string[] {
  switch (line.kind) {
    case 'value':
    case 'parallax':
      return [line.value, line.error];
    case 'motion':
      return [line.east, line.north, ...line.errors];
    case 'probabilities':
      return line.of.map(([, key]) => key);
    case 'code':
    case 'starness':
      return [line.value];
    case 'notes':
      return line.of.map(({ value }) => value);
    case 'flags':
      return line.of;
  }
}

/** Every payload key that the definition names, beside the list of columns. */
function namedKeys({ filterable, chatKeys, photometry, highlights, epoch, raColumn, decColumn }: CatalogDefinition) {
  return [
    raColumn,
    decColumn,
    ...(epoch ? [epoch.column] : []),
    ...filterable.flatMap(({ name, quotientOf }) =>
      quotientOf ? [quotientOf.numerator, quotientOf.denominator] : [name],
    ),
    ...chatKeys,
    ...photometry.bands.flatMap(bandKeys),
    ...highlights.flatMap(highlightKeys),
  ].map(key => key.toLowerCase());
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
