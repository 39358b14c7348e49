/**
 * Catalogs that the project does not describe: which facts come from the catalog, which from a description, and which
 * descriptions are refused.
 */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { fieldTexts } from '../../../packages/hats/field_texts.ts';
import type { CatalogDescription } from '../../../src/capabilities/catalogs/definition.ts';
import { readDescription } from '../../../src/capabilities/catalogs/description_file.ts';
import { registerCatalog } from '../../../src/capabilities/catalogs/register.ts';
import { errorsOf } from '../../../src/capabilities/crossmatch/catalog_errors.ts';
import { programFile } from '../../../src/core/base/program_files.ts';
import { CATALOGS, Catalogs } from '../../../src/core/contract/catalogs.ts';
import { readCatalogNames, readCatalogs } from '../../../src/core/store/catalog_registration.ts';
import { openStore } from '../../../src/core/store/store.ts';
import { Writer } from '../../../src/core/store/writer.ts';
import { type HatsColumn, type HatsOptions, writeHats } from '../../core/catalogs/write_hats.ts';
import { withDirectory } from '../../directory.ts';

const test = suite('catalogs/definition');

const COLUMNS: readonly HatsColumn[] = [
  { name: 'ID', type: 'INT64', data: [1n, 2n] },
  { name: 'RAJ', type: 'DOUBLE', data: [10, 350] },
  { name: 'DEJ', type: 'DOUBLE', data: [-5, 80] },
  { name: 'gMag', type: 'FLOAT', data: [20.5, null] },
  { name: 'n', type: 'INT32', data: [3, 4] },
  { name: 'isGalaxy', type: 'BOOLEAN', data: [true, false] },
  { name: 'Name', type: 'STRING', data: ['A 1', 'B 2'] },
  { name: 'matches', type: 'DOUBLE', data: [1, 2] },
];

function write(directory: string, options: Partial<HatsOptions> = {}): string {
  const location = join(directory, 'catalog');
  writeHats(location, { name: 'mine', columns: COLUMNS, ra: 'RAJ', dec: 'DEJ', ...options });
  return location;
}

const register = (
  location: string,
  description: CatalogDescription = {},
  name = 'mine',
  idColumn: string | undefined = 'ID',
) => registerCatalog({ name, idColumn, description }, location, { addedAtUs: 1 });

async function refusal(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    assert.is((error as Error).name, 'CatalogError', `${error}`);
    return (error as Error).message;
  }
  throw new Error('it was not refused');
}

test('without a description: the columns that can be stored, with their types, and the title of the properties', () =>
  withDirectory(async directory => {
    const properties = { obs_title: 'My catalog, release 2', hats_col_ra: 'RAJ', hats_col_dec: 'DEJ' };
    const { definition } = await register(write(directory, { properties, healpixColumn: 'last' }));
    assert.is(definition!.release, 'My catalog, release 2');
    assert.equal(
      definition!.columns.map(({ name, type }) => [name, type]),
      [
        ['RAJ', 'float64'],
        ['DEJ', 'float64'],
        ['gMag', 'float64'],
        ['n', 'int64'],
        ['isGalaxy', 'boolean'],
        ['Name', 'text'],
        ['matches', 'float64'],
      ],
    );
    assert.equal(
      definition!.filterable.map(({ name, unit }) => [name, unit]),
      ['gMag', 'n', 'matches'].map(name => [name, 'not stated']),
    );
    assert.equal(definition!.chatKeys, ['gmag', 'n', 'isgalaxy', 'name', 'matches']);
  }));

test('a description goes before the catalog; what it leaves out is the catalog’s', () =>
  withDirectory(async directory => {
    const description: CatalogDescription = {
      release: 'Mine',
      columns: [{ name: 'gMag', unit: 'mag', ucd: 'phot.mag', description: 'Magnitude' }, { name: 'n' }],
      filterable: [
        { name: 'GMAG' },
        { name: 'per', quotientOf: { numerator: 'gmag', denominator: 'n' }, description: 'A quotient' },
      ],
      colour: { light: '#000000', dark: '#ffffff' },
    };
    const { definition, columns } = await register(write(directory), description);
    assert.equal(definition!.columns, [
      { name: 'gMag', type: 'float64', unit: 'mag', ucd: 'phot.mag', description: 'Magnitude' },
      { name: 'n', type: 'int64', description: 'Column n' },
    ]);
    assert.equal(
      definition!.filterable.map(({ name, unit }) => [name, unit]),
      [
        ['gMag', 'mag'],
        ['per', 'not stated'],
      ],
    );
    assert.is(definition!.colour.dark, '#ffffff');
    assert.equal(
      columns.payload.map(({ key }) => key),
      ['gmag', 'n'],
    );
  }));

test('what does not fit is refused, with what is wrong', () =>
  withDirectory(async directory => {
    const location = write(directory);
    const refused: readonly (readonly [Parameters<typeof register>[1], RegExp, string?, string?])[] = [
      [{}, /"objects" because the word has another meaning/, 'objects'],
      [{}, /"tns" because the word has another meaning/, 'tns'],
      [{}, /"Mine" because a name has at most 48 lower case letters/, 'Mine'],
      [{}, /"gaia_dr3" because nearsky describes a catalog of that name/, 'gaia_dr3'],
      [{ name: 'theirs' }, /its description names the catalog theirs/],
      [{}, /no column Id2/, 'mine', 'Id2'],
      [{ idColumn: 'n' }, /idColumn is n in the description and ID in --id/],
      [{ chatKeys: ['nothing'] }, /chatKeys of its description names nothing/],
      [
        { motion: { epoch: 2000, pmra: 'gMag', pmdec: 'pm' } },
        /motion of its description names pm, which is not one of its columns/,
      ],
      [
        { motion: { epoch: 2000, pmra: 'gMag', pmdec: 'n' } },
        /column n must be of type float or double or null: .*integer32/,
      ],
      [
        {
          motion: { epoch: 2000, pmra: 'matches', pmdec: 'gMag' },
          columns: [
            { name: 'gMag', unit: 'arcsec / yr' },
            { name: 'matches', unit: 'mas.yr**-1' },
          ],
        },
        /motion of its description names gMag, whose unit is arcsec \/ yr: it must be mas a year/,
      ],
      [
        { positionErrors: { ra: 'gMag', dec: 'absent' } },
        /positionErrors of its description names absent, which is not/,
      ],
      [
        { positionErrors: { ra: 'gMag', dec: 'gMag' } },
        /positionErrors of its description names gMag, which must be a number in mas, arcsec, deg: it is float64 in no unit/,
      ],
      [
        { positionErrors: { ra: 'Name', dec: 'Name' }, columns: [{ name: 'Name', unit: 'mas' }] },
        /names Name, which must be a number in mas, arcsec, deg: it is text in mas/,
      ],
      [
        {
          positionErrors: { ra: 'gMag', dec: 'n' },
          columns: [
            { name: 'gMag', unit: 'mas' },
            { name: 'n', unit: 'arcsec' },
          ],
        },
        /positionErrors of its description names columns with different units/,
      ],
      [
        { filterable: [{ name: 'Name' }] },
        /filterable of its description names Name, whose type is text and not a number/,
      ],
      [{ filterable: [{ name: 'n' }, { name: 'N' }] }, /names n twice/],
      [{ columns: [{ name: 'n' }, { name: 'N' }] }, /its columns n and N would have one key, n/],
      [
        { columns: [{ name: 'Name', type: 'int64' }] },
        /the type of column Name is int64 in the description, but string in the file/,
      ],
      [{ columns: [{ name: 'absent' }] }, /lacks 1 payload columns: absent/],
      [{ raColumn: 'n', decColumn: 'DEJ' }, /column n must be of type double/],
      [
        {
          photometry: { system: 'AB', main: 'r', bands: [{ letter: 'g', magnitude: 'gmag', error: 'n' }], colours: [] },
        },
        /names the band r, which is not one of g/,
      ],
    ];
    for (const [description, message, name, id] of refused)
      assert.match(await refusal(register(location, description, name, id)), message);
    assert.match(
      await refusal(
        registerCatalog({ name: 'mine', idColumn: undefined, description: {} }, location, { addedAtUs: 1 }),
      ),
      /give --id COLUMN/,
    );
  }));

test('columns of position errors are found in any spelling, and their unit counts; a copy without them has no errors', () =>
  withDirectory(async directory => {
    const positionErrors = { ra: 'gmag', dec: 'MATCHES' };
    for (const [unit, unitMas] of Object.entries({ mas: 1, arcsec: 1000, deg: 3_600_000 })) {
      const columns = ['gMag', 'matches'].map(name => ({ name, unit }));
      const { definition, columns: found } = await register(write(directory), { positionErrors, columns });
      assert.equal(errorsOf(definition!, found), { ra: 'gMag', dec: 'matches', unitMas });
      const payload = found.payload.map(each => ({ ...each, column: null }));
      assert.is(errorsOf(definition!, { ...found, payload }), undefined);
    }
    const { definition, columns } = await register(write(directory));
    assert.is(errorsOf(definition!, columns), undefined);
  }));

test('units, UCDs and meanings come from the VOTable that a file carries', () => {
  const votable = `<VOTABLE><RESOURCE><TABLE>
    <FIELD name="a" datatype="double" unit="mag" ucd='phot.mag;em.opt'><DESCRIPTION>Brightness &lt; 1
      of it</DESCRIPTION></FIELD><FIELD unit="a&gt;b" name="b"/><FIELD name="c"></FIELD></TABLE></RESOURCE></VOTABLE>`;
  assert.equal(Object.fromEntries(fieldTexts(votable)), {
    a: { unit: 'mag', ucd: 'phot.mag;em.opt', description: 'Brightness < 1 of it' },
    b: { unit: 'a>b' },
    c: {},
  });
  assert.is(fieldTexts('').size, 0);
});

test('the four descriptions of the project are valid by the schema; a file that is not says where', () =>
  withDirectory(async directory => {
    for (const { name } of CATALOGS)
      assert.is(readDescription(programFile(`src/core/contract/catalogs/${name}.json`)).name, name);
    const file = join(directory, 'description.json');
    const fault = (text: string) => {
      writeFileSync(file, text);
      try {
        readDescription(file);
      } catch (error) {
        return (error as Error).message;
      }
      return 'nothing';
    };
    assert.match(fault('{'), /Cannot read the description/);
    assert.match(fault('[]'), /the whole must be object/);
    assert.match(fault('{"colums": []}'), /additional properties \(colums\)/);
    assert.match(
      fault('{"columns": [{"name": "a", "type": "text[]"}]}'),
      /columns\.0\.type must be .*: float64, int64, boolean, text/,
    );
    assert.match(
      fault('{"colour": {"light": "red}body{display:none", "dark": "#000000"}}'),
      /colour\.light must match/,
    );
    assert.match(
      fault('{"reference": {"home": "javascript:alert(1)", "paper": "a", "paperUrl": "https://a.b"}}'),
      /reference\.home must match/,
    );
    assert.match(
      fault('{"highlights": [{"kind": "flags", "label": "a"}]}'),
      /highlights\.0 must have required property 'of'/,
    );
    assert.match(fault('{"release": "two\\nlines"}'), /release must match/);
  }));

test('the order is that of the project, then of the names; the definition is stored with the registration', () =>
  withDirectory(async directory => {
    const location = write(directory);
    const store = openStore(join(directory, 'data'), 'write');
    try {
      const writer = new Writer(store);
      for (const name of ['zeta', 'alpha'])
        await writer.commit({ kind: 'register_catalog', registration: await register(location, {}, name) });
      const { all, filters } = new Catalogs(readCatalogs(store.databases));
      assert.equal(
        all.map(({ name }) => name),
        [...CATALOGS.map(({ name }) => name), 'alpha', 'zeta'],
      );
      assert.is(filters.get('zeta.gmag_max')?.column, 'gMag');
      assert.equal(readCatalogNames(store.databases), ['alpha', 'zeta']);
    } finally {
      await store.close();
    }
  }));

test.run();
