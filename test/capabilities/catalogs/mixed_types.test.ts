/**
 * Catalogs whose files have different types in the same columns: which are added, with which types, and which are
 * refused. pyarrow wrote them, and gives their values (test/fixtures/mixed_types).
 */
import { cpSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CatalogError, openHats } from '@nearsky/hats';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { resolveColumns } from '../../../src/capabilities/catalogs/columns.ts';
import { defineCatalog } from '../../../src/capabilities/catalogs/definition.ts';
import { checkCatalog, registerCatalog } from '../../../src/capabilities/catalogs/register.ts';
import { readSchema } from '../../../src/capabilities/catalogs/schema.ts';
import { errorsOf } from '../../../src/capabilities/crossmatch/catalog_errors.ts';
import { CatalogSearch } from '../../../src/capabilities/crossmatch/catalog_search.ts';
import { motionOf } from '../../../src/capabilities/crossmatch/motion.ts';
import { openCatalog } from '../../../src/capabilities/crossmatch/plan.ts';
import { rejection } from '../../core/catalogs/support.ts';
import { withDirectory } from '../../directory.ts';
import { pool } from '../crossmatch/world.ts';

const test = suite('catalogs/mixed_types');

const fixtures = fileURLToPath(new URL('../../fixtures/mixed_types', import.meta.url));
const PAIRS: {
  readonly accepted: Readonly<Record<string, readonly (string | number | boolean | null)[]>>;
  readonly refused: readonly string[];
  readonly dropped: readonly string[];
} = JSON.parse(readFileSync(join(fixtures, 'pairs.json'), 'utf8'));
const PLACES = { ra: [0.5, 1, 61.6, 57.4, 225, 226], dec: [0.1, 0.2, -49.2, -48.5, -41, -41] };

type Depth = 'files' | 'footers' | 'rows';

const mixed = (columns?: readonly string[]) => ({
  name: 'mixed',
  idColumn: 'id',
  description: columns ? { columns: columns.map(name => ({ name })), filterable: [] } : {},
});

const register = (
  catalog: string,
  columns?: readonly string[],
  depth: Depth = 'rows',
  location = join(fixtures, catalog),
) => registerCatalog(mixed(columns), location, { addedAtUs: 1, depth, footprint: { kind: 'all-sky' } });

async function refusal(promise: Promise<unknown>): Promise<string> {
  const error = await rejection(promise);
  assert.instance(error, CatalogError, error.stack);
  return error.message;
}

test('each pair of types that have a common type: that type, and every value', async () => {
  const names = Object.keys(PAIRS.accepted);
  const registration = await register('pairs', names);
  const { definition, columns } = registration;
  const typeOf = (values: readonly unknown[]) => {
    const value = values.find(each => each !== null);
    if (typeof value === 'boolean') return 'boolean';
    if (typeof value === 'number') return 'float64';
    return /^\d+$/.test(`${value}`) ? 'int64' : 'text';
  };
  assert.equal(
    definition!.columns.map(({ type }) => type),
    names.map(name => typeOf(PAIRS.accepted[name]!)),
  );
  const half = columns.payload.find(({ key }) => key === 'float16_and_int8')!;
  assert.equal(half, {
    key: 'float16_and_int8',
    column: 'float16_and_int8',
    kind: 'double',
    kinds: ['float16', 'integer32'],
    filesWithout: 1,
  });
  const [ra, dec] = [Float64Array.from(PLACES.ra), Float64Array.from(PLACES.dec)];
  const search = new CatalogSearch(
    openCatalog(registration),
    { ra, dec, timeUs: new Float64Array(6), errorMas: ra.map(() => Number.NaN) },
    1,
  );
  await Promise.all(search.searches.map(async file => search.take(file, await pool.run(search.task(file)))));
  assert.equal(search.problems, []);
  for (const [place] of PLACES.ra.entries()) assert.ok(search.match(place));
  assert.equal((await checkCatalog(registration)).problems, []);
});

test('motions, errors and positions of different types, or absent in a file, count as doubles would', async () => {
  const found = [];
  for (const catalog of ['moving', 'moving_doubles']) {
    const columns = ['pmra', 'pmdec', 'ra_error', 'dec_error'].map(name => ({
      name,
      unit: /error/.test(name) ? 'mas' : 'mas/yr',
    }));
    const motion = { epoch: 2016, pmra: 'pmra', pmdec: 'pmdec' };
    const positionErrors = { ra: 'ra_error', dec: 'dec_error' };
    const description = { columns, filterable: [], motion, positionErrors };
    const registration = await registerCatalog(
      { name: 'moving', idColumn: 'id', description },
      join(fixtures, catalog),
      {
        addedAtUs: 1,
        footprint: { kind: 'all-sky' },
      },
    );
    const definition = registration.definition!;
    const [ra, dec] = [Float64Array.from(PLACES.ra), Float64Array.from(PLACES.dec, each => each - 0.00001)];
    const timeUs = ra.map(() => Date.UTC(2026, 0) * 1000);
    const search = new CatalogSearch(
      openCatalog(registration, motionOf(definition, registration.columns), errorsOf(definition, registration.columns)),
      { ra, dec, timeUs, errorMas: ra.map(() => 100) },
      20,
    );
    await Promise.all(search.searches.map(async file => search.take(file, await pool.run(search.task(file)))));
    assert.equal(search.problems, []);
    // Integers are stored in other bytes than doubles.
    found.push(PLACES.ra.map((_, place) => ({ ...search.match(place)!, source: undefined })));
  }
  assert.equal(found[0], found[1]);
  assert.is(found[0]!.filter(({ separationAtEpochArcsec }) => separationAtEpochArcsec !== undefined).length, 2);
});

test('each pair without a common type is refused by name, and a column of times is left out', async () => {
  const table = await openHats(join(fixtures, 'pairs'));
  const files = table.partitions.flatMap(partition => partition.files);
  const union = await readSchema(table.files, files, [...files.keys()], () => {});
  const schema = union.end(table.files.location, new Map(), false);
  /** As a registration does, which reads the files anew; some columns are registered. */
  const refusalOf = (column: string, i: number) =>
    refusal(
      i % 30 === 0
        ? register('pairs', [column], 'footers')
        : Promise.try(() => resolveColumns(schema, defineCatalog(mixed([column]), table, schema, new Map()))),
    );
  for (const [i, column] of PAIRS.refused.entries()) {
    const message = await refusalOf(column, i);
    assert.ok(message.includes(`column ${column} `), message);
    assert.match(message, /Npix=(8|10)\.parquet/);
  }
  assert.match(
    await refusal(register('pairs')),
    /column \w+ has types that have no common type: \w+ in .*Npix=8\.parquet, \w+/,
  );
  for (const [i, column] of PAIRS.dropped.filter(name => name !== 'null_and_null').entries())
    assert.match(await refusalOf(column, i), new RegExp(`column ${column} must be of type`));
});

test('integers beyond the common type are refused by name and value, with statistics or without; the largest are not', async () => {
  const beyond: readonly (readonly [column: string, value: string])[] = [
    ['int64_and_float64', '9007199254740993'],
    ['int64_and_float32', '-9007199254740993'],
    ['int64_and_decimal', '9007199254740993'],
    ['decimal_and_float64', '9007199254740993'],
    ['uint64', '9223372036854775808'],
    ['uint64_and_int64', '9223372036854775808'],
    ['decimal', '9223372036854775808'],
    ['negative_decimal', '-9223372036854775809'],
  ];
  for (const catalog of ['beyond', 'beyond_unstated']) {
    for (const [column, value] of beyond) {
      const message = await refusal(register(catalog, [`over_${column}`], 'footers'));
      assert.match(message, new RegExp(`Npix=8\\.parquet because column over_${column} has the value ${value}: `));
    }
    const most = ['most_int64_and_float64', 'most_uint64', 'most_uint64_and_int64', 'most_decimal'];
    const { definition } = await register(catalog, most, 'footers');
    assert.equal(
      definition!.columns.map(({ type }) => type),
      ['float64', 'int64', 'int64', 'int64'],
    );
  }
});

test('hats-import wrote integers in one partition and doubles in another; they are doubles, at every depth', () =>
  withDirectory(async directory => {
    for (const depth of ['files', 'footers', 'rows'] as const) {
      const { definition, columns } = await register('hats_import', undefined, depth);
      assert.is(definition!.columns.find(({ name }) => name === 'flux')!.type, 'float64');
      assert.is(columns.payload.find(({ key }) => key === 'flux')!.kind, 'double');
    }
    // Without the catalog's own metadata.
    const location = join(directory, 'catalog');
    cpSync(join(fixtures, 'hats_import'), location, { recursive: true });
    rmSync(join(location, 'dataset/_common_metadata'));
    for (const depth of ['files', 'footers'] as const) {
      const { definition } = await register('', undefined, depth, location);
      assert.is(definition!.columns.find(({ name }) => name === 'flux')!.type, 'float64');
    }
    const registration = await register('', undefined, 'rows', location);
    assert.equal((await checkCatalog(registration)).differing, [
      { key: 'flux', column: 'flux', kinds: ['integer64', 'double'] },
    ]);
    // A file that was replaced.
    const { columns } = registration;
    const payload = columns.payload.map(each => ({ ...each, kind: 'integer64' as const })).slice(2);
    assert.match(
      (await checkCatalog({ ...registration, columns: { ...columns, payload } })).problems[0]!,
      /Npix=10\.parquet because column flux is double, and was integer64 when the catalog was added: add the catalog again/,
    );
    // A kept description that says integer would lose values.
    const { definition } = registration;
    const described = definition!.columns.map(column =>
      column.name === 'flux' ? { ...column, type: 'int64' as const } : column,
    );
    const kept = registerCatalog({ ...definition!, columns: described }, location, { addedAtUs: 1 });
    assert.match(await refusal(kept), /Npix=10\.parquet because column flux has the value 1\.5: /);
  }));

test.run();
