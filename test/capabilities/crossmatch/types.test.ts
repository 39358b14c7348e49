/** Columns of the types that pyarrow writes beside the usual ones. Its own values are the oracle (test/fixtures/types). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { registerCatalog } from '../../../src/capabilities/catalogs/register.ts';
import { CatalogSearch } from '../../../src/capabilities/crossmatch/catalog_search.ts';
import { openCatalog } from '../../../src/capabilities/crossmatch/plan.ts';
import { columnNames } from '../../../src/core/contract/catalog.ts';
import type { CatalogDefinition } from '../../../src/core/contract/catalogs.ts';
import { catalogDefinition } from '../../../src/core/contract/catalogs.ts';
import { columnsNamed } from '../../core/catalogs/small_catalog.ts';
import { rejection } from '../../core/catalogs/support.ts';
import { inWorld, PROVENANCE, pool } from './world.ts';

const test = suite('crossmatch/types');

const fixtures = fileURLToPath(new URL('../../fixtures/types', import.meta.url));
const WHOLE = ['whole', 'unsigned'];

const definition: CatalogDefinition = {
  ...catalogDefinition('gaia_dr3')!,
  idColumn: 'id',
  raColumn: 'ra',
  decColumn: 'dec',
  columns: columnsNamed('half', 'cents', 'fine', 'wide', 'whole', 'huge', 'same', 'unsigned', 'nothing', 'absent'),
};

type Row = Readonly<Record<string, string | number | null>>;

function rowsOf(name: string): Row[] {
  return JSON.parse(readFileSync(join(fixtures, `${name}.json`), 'utf8'));
}

function expectedValue(row: Row, column: string): unknown {
  const text = row[column];
  if (text === null) return null;
  return WHOLE.includes(column) ? BigInt(text!) : Number(text);
}

for (const name of ['decimal', 'decimal_of_integers', 'unsigned']) {
  test(`${name}: ids with all their digits, and each value of the payload`, () =>
    inWorld(async world => {
      const registration = await registerCatalog(definition, join(fixtures, name), { addedAtUs: 1 });
      assert.equal(registration.counted, { rows: 12, withoutPosition: 0, withoutId: 0 });
      const rows = rowsOf(name);
      const [ra, dec] = ['ra', 'dec'].map(column => Float64Array.from(rows, row => Number(row[column])));
      const search = new CatalogSearch(
        openCatalog(registration),
        { ra: ra!, dec: dec!, timeUs: new Float64Array(ra!.length), errorMas: ra!.map(() => Number.NaN) },
        1,
      );
      await Promise.all(search.searches.map(async file => search.take(file, await pool.run(search.task(file)))));
      assert.equal(search.problems, []);
      const expected = rows.map(row =>
        Object.fromEntries(columnNames(definition).map(key => [key, expectedValue(row, key)])),
      );
      rows.forEach((row, at) => {
        const match = search.match(at)!;
        assert.is(match.catalogSourceId, row.id);
      });
      // The stored values are the same: integers beyond 2^53 are bigints there, others may be numbers.
      await world.writer.commit({ kind: 'register_catalog', registration });
      const ids = await world.ingest(rows.map((_, at) => ({ ra: ra![at]!, dec: dec![at]! })));
      await world.crossmatch({ provenance: () => PROVENANCE });
      ids.forEach((id, at) => {
        const [source] = world.store.getSources(id);
        const text = (payload: Readonly<Record<string, unknown>> | null) => Object.values(payload!).map(String);
        assert.equal(text(source!.payload), text(expected[at]!));
      });
    }));
}

test('an unsigned id above 2^63 - 1 is refused with its value', async () => {
  const { message } = await rejection(registerCatalog(definition, join(fixtures, 'beyond'), { addedAtUs: 1 }));
  assert.match(
    message,
    /Npix=4\.parquet because column id must hold integers up to 9223372036854775807: the largest is 9223372036854775808/,
  );
});

test('so is one of which the statistics say nothing, before anything is crossmatched', async () => {
  const { message } = await rejection(registerCatalog(definition, join(fixtures, 'beyond_unstated'), { addedAtUs: 1 }));
  assert.match(
    message,
    /Npix=4\.parquet because column id must hold 64-bit integers \(9223372036854775808 was found\)/,
  );
});

test('float32 positions: each source is found, at the separation that astropy gives from the same numbers', () =>
  inWorld(async world => {
    const sparse = join(fixtures, '../sparse');
    const undefinedCatalog = { name: 'single', idColumn: 'id', description: {} };
    await world.writer.commit({
      kind: 'register_catalog',
      registration: await registerCatalog(undefinedCatalog, join(sparse, 'single'), { addedAtUs: 1 }),
    });
    const rows = readFileSync(join(sparse, 'separations.csv'), 'utf8')
      .trim()
      .split('\n')
      .slice(1)
      .map(line => line.split(','));
    const ids = await world.ingest(rows.map(([, ra, dec]) => ({ ra: Number(ra), dec: Number(dec) })));
    const { statuses, problems } = await world.crossmatch();
    assert.equal([rows.length, statuses.coincident_sources, problems], [200, 200, []]);
    ids.forEach((id, at) => {
      const { catalogSourceId, separationArcsec } = world.store.getObject(id)!.matches[0]!;
      assert.is(catalogSourceId, rows[at]![0]);
      assert.ok(Math.abs(separationArcsec - Number(rows[at]![3])) < 1e-8, `${separationArcsec} and ${rows[at]![3]}`);
    });
  }));

test.run();
