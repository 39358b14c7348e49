import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ReadFailure } from '@nearsky/astrotables/files';
import { CatalogError, REMOTE_DEFAULTS } from '@nearsky/hats';
import { parquetWriteFile } from 'hyparquet-writer';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { releaseColumns } from '../../../sample/make/columns.ts';
import { checkCatalog, registerCatalog } from '../../../src/capabilities/catalogs/register.ts';
import { columnNames } from '../../../src/core/contract/catalog.ts';
import type { CatalogDefinition } from '../../../src/core/contract/catalogs.ts';
import { CATALOGS, catalogDefinition } from '../../../src/core/contract/catalogs.ts';
import { serveFiles } from '../../core/catalogs/range_server.ts';
import { catalogColumns } from '../../core/catalogs/small_catalog.ts';
import { fixtures, published, rejection } from '../../core/catalogs/support.ts';
import { type HatsColumn, writeHats } from '../../core/catalogs/write_hats.ts';
import { withDirectory } from '../../directory.ts';

const test = suite('register');

const gaia = catalogDefinition('gaia_dr3')!;
const addedAtUs = 1_767_225_600_000_000;

const positions = { ra: [10, 10.5, 200], dec: [-5, -5.5, 60] };

function writeCatalog(
  directory: string,
  definition: CatalogDefinition,
  change: (columns: HatsColumn[]) => HatsColumn[] = same => same,
) {
  const columns = change(catalogColumns(definition, positions.ra, positions.dec));
  const name = (wanted: string) => columns.find(column => column.name.toLowerCase() === wanted.toLowerCase())!.name;
  return writeHats(directory, {
    name: definition.name,
    columns,
    ra: name(definition.raColumn),
    dec: name(definition.decColumn),
    minOrder: 1,
  });
}

async function refusal(directory: string, definition = gaia, allowMissing = false): Promise<string> {
  const error = await rejection(registerCatalog(definition, directory, { addedAtUs, allowMissing }));
  assert.instance(error, CatalogError);
  return error.message;
}

test('the definitions name columns of the releases, in their own case', async () => {
  for (const definition of CATALOGS) {
    const names = new Set((await releaseColumns(definition.name)).map(({ name }) => name));
    for (const column of [definition.idColumn, definition.raColumn, definition.decColumn, ...columnNames(definition)]) {
      assert.ok(names.has(column), `${definition.name} ${column}`);
    }
  }
});

test('a map of the coverage that cannot be looked for is not taken for one that is not there', () =>
  withDirectory(async directory => {
    writeCatalog(directory, gaia);
    rmSync(join(directory, 'skymap.fits'), { force: true });
    // A link that points to itself. Deno creates links only if it may write everywhere.
    execFileSync('ln', ['-s', 'skymap.fits', join(directory, 'skymap.fits')]);
    const error = await rejection(registerCatalog(gaia, directory, { addedAtUs }));
    assert.match(error.message, /skymap\.fits/);
    assert.match(error.message, /ELOOP/);
  }));

test('each catalog registers with all that is known of it', () =>
  withDirectory(async directory => {
    for (const definition of CATALOGS) {
      const location = join(directory, definition.name);
      const written = writeCatalog(location, definition);
      const registration = await registerCatalog(definition, location, { addedAtUs });
      assert.is(registration.name, definition.name);
      assert.is(registration.location, location);
      assert.is(registration.addedAtUs, addedAtUs);
      assert.is(registration.partitions.length, written.length);
      assert.is(registration.columns.id, definition.idColumn);
      assert.equal(
        registration.columns.payload.map(({ key, column }) => ({ key, column })),
        columnNames(definition).map(column => ({ key: column.toLowerCase(), column })),
      );
      assert.is(registration.coverage.order, Math.min(8, definition.footprintOrder));
      assert.is(registration.coverage.source, 'skymap.fits');
      assert.equal(registration.hats, {
        rows: 3,
        builder: 'nearsky test/core/catalogs/write_hats.ts',
        releaseDate: null,
      });
    }
  }));

test('columns are found whatever their case, the exact name first', () =>
  withDirectory(async directory => {
    writeCatalog(join(directory, 'upper'), gaia, columns =>
      columns.map(column => ({ ...column, name: column.name.toUpperCase() })),
    );
    const upper = await registerCatalog(gaia, join(directory, 'upper'), { addedAtUs });
    const [first] = upper.columns.payload;
    assert.equal(
      [upper.columns.id, upper.columns.ra, first!.key, first!.column],
      ['SOURCE_ID', 'RA', 'phot_g_mean_mag', 'PHOT_G_MEAN_MAG'],
    );
    writeCatalog(join(directory, 'both'), gaia, columns => [
      ...columns,
      { ...columns[0]!, name: 'RUWE' },
      { ...columns[0]!, name: 'Ruwe' },
    ]);
    const both = await registerCatalog(gaia, join(directory, 'both'), { addedAtUs });
    assert.is(both.columns.payload.find(({ key }) => key === 'ruwe')!.column, 'ruwe');
    writeCatalog(join(directory, 'alike'), gaia, columns => [
      ...columns.filter(({ name }) => name !== 'ruwe'),
      { ...columns[0]!, name: 'RUWE' },
      { ...columns[0]!, name: 'Ruwe' },
    ]);
    assert.match(await refusal(join(directory, 'alike')), /2 that differ in case: RUWE, Ruwe/);
  }));

test('without the id or the position columns it is refused, flag or not', () =>
  withDirectory(async directory => {
    writeCatalog(directory, gaia);
    assert.match(
      await refusal(directory, { ...gaia, idColumn: 'objid' }, true),
      /as gaia_dr3 because it has no column objid/,
    );
    assert.match(await refusal(directory, { ...gaia, raColumn: 'ra_icrs' }, true), /has no column ra_icrs/);
    assert.match(await refusal(directory, { ...gaia, decColumn: 'de_icrs' }, true), /has no column de_icrs/);
  }));

test('missing payload columns are named, and null with the flag', () =>
  withDirectory(async directory => {
    writeCatalog(directory, gaia, columns => columns.filter(({ name }) => name !== 'ruwe' && name !== 'pmra'));
    assert.match(
      await refusal(directory),
      /lacks 2 payload columns: pmra, ruwe\. With --allow-missing-columns they are null/,
    );
    const registration = await registerCatalog(gaia, directory, { addedAtUs, allowMissing: true });
    const missing = registration.columns.payload.filter(({ column }) => column === null);
    assert.equal(missing, [
      { key: 'pmra', column: null },
      { key: 'ruwe', column: null },
    ]);
  }));

test('columns of a wrong type are refused', () =>
  withDirectory(async directory => {
    const replace = (name: string, type: HatsColumn['type'], data: unknown[]) => (columns: HatsColumn[]) =>
      columns.map(column => (column.name === name ? { name, type, data } : column));
    writeCatalog(join(directory, 'id'), gaia, replace('source_id', 'DOUBLE', [1, 2, 3]));
    assert.match(
      await refusal(join(directory, 'id')),
      /column source_id must be of type integer64 or .* or string: current type is double/,
    );
    // The writer needs DOUBLE positions, so the definition asks for a column of integers.
    writeCatalog(join(directory, 'ra'), gaia, columns => [
      ...columns,
      { name: 'ra4', type: 'INT32', data: positions.ra.map(Math.floor) },
    ]);
    assert.match(
      await refusal(join(directory, 'ra'), { ...gaia, raColumn: 'ra4' }),
      /column ra4 must be of type double or float: current type is integer32/,
    );
    writeCatalog(join(directory, 'text'), gaia, replace('source_id', 'STRING', ['1', '2', '3']));
    assert.is((await registerCatalog(gaia, join(directory, 'text'), { addedAtUs })).columns.id, 'source_id');
  }));

test('a payload column that is no number, text or boolean is refused', () =>
  withDirectory(async directory => {
    const [partition] = writeCatalog(directory, gaia);
    const registration = await registerCatalog(gaia, directory, { addedAtUs });
    const columns = catalogColumns(gaia, positions.ra, positions.dec);
    const columnData = columns.map(({ name, type, data }) => ({ name, type, data: Array.from(data), nullable: true }));
    const times = { name: 'ruwe', type: 'TIMESTAMP' as const, data: [new Date(0), new Date(1), null], nullable: true };
    parquetWriteFile({
      filename: join(directory, partition!.files[0]!),
      columnData: columnData.map(column => (column.name === 'ruwe' ? times : column)),
    });
    const expected = /column ruwe must be of type boolean or .* or null: current type is time in ms/;
    const { problems } = await checkCatalog(registration);
    assert.is(problems.length, 1);
    assert.match(problems[0]!, expected);
    assert.match(await refusal(directory), expected);
  }));

test('a table that is not of sources, or has no or not all partitions, is refused', () =>
  withDirectory(async directory => {
    assert.match(await refusal(join(fixtures, 'square_map')), /must be a table of sources: it is a HATS map table/);
    assert.match(
      await refusal(join(fixtures, 'small_sky_o1_collection/small_sky_order1_margin')),
      /it is a HATS margin table/,
    );
    writeFileSync(join(directory, 'hats.properties'), 'dataproduct_type=object\n');
    assert.match(await refusal(directory), /has no partitions/);
    const written = writeCatalog(directory, gaia);
    rmSync(join(directory, written[0]!.files[0]!));
    assert.match(
      await refusal(directory),
      /files of its partitions are missing: dataset\/Norder=1.*\.parquet\. Copy them/,
    );
    writeFileSync(join(directory, 'hats.properties'), 'dataproduct_type=object\nhats_npix_suffix=/\n');
    assert.match(await refusal(directory), /missing: Norder=1\/Npix=\d+\/, /);
  }));

test('a catalog of ours cannot be taken for another', async () => {
  assert.match(await refusal(join(fixtures, 'small_sky_o1_collection')), /has no column source_id/);
});

test('check finds files that are missing, damaged or of another schema', () =>
  withDirectory(async directory => {
    const written = writeCatalog(directory, gaia);
    const registration = await registerCatalog(gaia, directory, { addedAtUs });
    assert.equal(await checkCatalog(registration), {
      files: written.length,
      rows: 3,
      withoutPosition: 0,
      withoutId: 0,
      problems: [],
    });
    const [first, second] = written.map(({ files }) => join(directory, files[0]!));
    rmSync(first!);
    writeFileSync(second!, 'nothing');
    const broken = await checkCatalog(registration);
    assert.is(broken.problems.length, 2);
    assert.match(broken.problems.join('\n'), /ENOENT[\s\S]*is not a Parquet file/);
    writeCatalog(directory, gaia, columns => columns.filter(({ name }) => name !== 'parallax'));
    const other = await checkCatalog(registration);
    assert.equal(other.problems, [
      'No file has column parallax, which the catalog had when it was added: add the catalog again, or restore its files',
    ]);
  }));

test('403 for a missing file: the catalog is added as if it were 404, and data that are refused are a read failure', () =>
  withDirectory(async directory => {
    const written = writeCatalog(join(directory, 'catalog'), gaia);
    // Without its map, its older properties and its units, a catalog lacks most of the files that it need not have.
    for (const name of ['skymap.fits', 'hats.properties']) rmSync(join(directory, 'catalog', name));
    const server = await serveFiles(directory);
    const remote = { ...REMOTE_DEFAULTS, pauseMs: 1 };
    const register = (depth: 'files' | 'footers') =>
      registerCatalog(gaia, `${server.url}/catalog`, { addedAtUs, depth, remote });
    try {
      const expected = await register('footers');
      server.missing = 403;
      assert.equal(await register('footers'), expected);
      writeCatalog(join(directory, 'catalog'), gaia);
      for (const { files } of written.slice(1)) rmSync(join(directory, 'catalog', files[0]!));
      for (const depth of ['files', 'footers'] as const) {
        const error = await rejection(register(depth));
        assert.instance(error, ReadFailure);
        assert.match(error.message, /Cannot read http:.*\.parquet: its host answers 403/, depth);
      }
      server.fault = () => 'forbidden';
      const closed = await rejection(register('footers'));
      assert.match(closed.message, /contains none of .*hats\.properties: its host answers 403/);
    } finally {
      await server.close();
    }
  }));

test('a first file that cannot be read is no registration', () =>
  withDirectory(async directory => {
    const written = writeCatalog(directory, gaia);
    writeFileSync(join(directory, written[0]!.files[0]!), 'nothing');
    for (const { files } of written) writeFileSync(join(directory, files[0]!), 'nothing');
    assert.instance(await rejection(registerCatalog(gaia, directory, { addedAtUs })), ReadFailure);
  }));

test('a real Gaia extract without a map registers from its rows', async () => {
  const location = join(published, 'hats/macauff/gaia_hats_data');
  assert.match(await refusal(location), /lacks 19 payload columns: phot_g_mean_mag, /);
  const registration = await registerCatalog(gaia, location, { addedAtUs, allowMissing: true });
  assert.is(registration.location, join(location, 'gaia_cone'));
  assert.equal(
    [registration.hats.rows, registration.coverage.order, registration.coverage.source],
    [13_128, 8, 'rows'],
  );
  assert.equal(await checkCatalog(registration), {
    files: 1,
    rows: 13_128,
    withoutPosition: 0,
    withoutId: 0,
    problems: [],
  });
});

test('a table that is partitioned by other columns than its positions is refused', () =>
  withDirectory(async directory => {
    writeCatalog(directory, gaia);
    const properties = join(directory, 'hats.properties');
    const text = readFileSync(properties, 'utf8');
    for (const [stated, other] of [
      ['hats_col_ra=ra', 'hats_col_ra=pmra'],
      ['hats_col_dec=dec', 'hats_col_dec=pmdec'],
    ] as const) {
      writeFileSync(properties, text.replace(stated, other));
      assert.match(await refusal(directory), /must be partitioned by column (ra|dec): hats_col_(ra|dec) is pm(ra|dec)/);
    }
    writeFileSync(properties, text.replace(/hats_col_(ra|dec)=.*\n/g, ''));
    assert.is((await registerCatalog(gaia, directory, { addedAtUs })).columns.ra, 'ra');
  }));

test('rows in the partition of another pixel are refused: no search would find them', () =>
  withDirectory(async directory => {
    const [ra, dec] = [
      [10, 200],
      [5, -40],
    ];
    const { name, raColumn, decColumn } = gaia;
    const columns = catalogColumns(gaia, ra, dec);
    const options = { name, columns, ra: raColumn, dec: decColumn, minOrder: 2, maxOrder: 2 };
    const [first, second] = writeHats(directory, options).map(({ files }) => join(directory, files[0]!));
    const { partitions } = await registerCatalog(gaia, directory, { addedAtUs });
    assert.is(partitions.length, 2);
    cpSync(second!, first!);
    assert.match(
      await refusal(directory),
      /Npix=70\.parquet because its rows must lie in pixel 70 of order 2, like its name: row 0 at ra 200, dec -40 lies in pixel \d+\. /,
    );
  }));

/** Stars 0.02 degrees apart. */
const FIELD = Array.from({ length: 400 }, (_, i) => ({ ra: 120 + (i % 20) / 50, dec: 30 + Math.floor(i / 20) / 50 }));
const [FIELD_RA, FIELD_DEC] = [FIELD.map(({ ra }) => ra), FIELD.map(({ dec }) => dec)];

for (const [what, north, east] of [
  ['of another epoch', 3 / 3600, 0],
  ['in another frame', -60, 100],
] as const)
  test(`rows whose positions are ${what} than their pixels are refused, at every depth`, () =>
    withDirectory(async directory => {
      const { name, raColumn, decColumn } = gaia;
      const columns = catalogColumns(gaia, FIELD_RA, FIELD_DEC);
      const pixelsOf = FIELD.map(({ ra, dec }) => ({ ra: ra + east, dec: dec + north }));
      const options = { name, columns, ra: raColumn, dec: decColumn, maxRows: 50, rowGroupSize: 20, pixelsOf };
      writeHats(directory, { ...options, minOrder: 0 });
      for (const depth of ['files', 'footers', 'rows'] as const) {
        const error = await rejection(registerCatalog(gaia, directory, { addedAtUs, depth }));
        assert.instance(error, CatalogError);
        assert.match(error.message, /Cannot use .*Npix=\d+\.parquet because .*row \d+ at ra 120[\d.]*, dec 3\d/);
        assert.match(error.message, / lies in pixel \d+.* Searches would miss it, .* hats_col_ra and hats_col_dec/);
        if (depth !== 'rows' && north > 0)
          assert.match(error.message, /, but its _healpix_29 is \d+, 3 arcsec away\./, depth);
      }
      writeHats(directory, { ...options, pixelsOf: FIELD.map(({ ra, dec }) => ({ ra, dec: dec + 0.9 / 3600 })) });
      const registration = await registerCatalog(gaia, directory, { addedAtUs });
      assert.is(registration.counted?.rows, 400);
      if (north < 0) return;
      writeHats(directory, options);
      const { problems } = await checkCatalog(registration, { depth: 'footers' });
      assert.match(problems.join(), 'Searches would miss it');
    }));

test.run();
