/**
 * Integers from 2^63 on: in a table of an astronomer, and in a file of a catalog that was not read when the catalog was
 * added. They are kept or refused, never null. pyarrow wrote them, and gives their values (test/fixtures/types).
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { registerCatalog } from '../../../src/capabilities/catalogs/register.ts';
import type { CatalogRegistration } from '../../../src/core/store/catalog_registration.ts';
import { TestApp } from '../../core/http/support.ts';
import { duckdbObstacle } from '../../needs.ts';
import { columnsOfParquet } from '../../parquet_answer.ts';
import { inWorld } from '../crossmatch/world.ts';

const test = suite('table_match/beyond_int64');

const fixtures = fileURLToPath(new URL('../../fixtures/types', import.meta.url));
const FILE = 'dataset/Norder=0/Dir=0/Npix=4.parquet';
const ROWS: Readonly<Record<string, string | null>>[] = JSON.parse(
  readFileSync(join(fixtures, 'unsigned.json'), 'utf8'),
);

/** As if the files with the integers from 2^63 on had not been read: with --quick, at most 16 are. */
async function registered(columns: readonly string[]): Promise<CatalogRegistration> {
  const description = { columns: [{ name: 'same' }], filterable: [] };
  const found = await registerCatalog({ name: 'wide', idColumn: 'id', description }, join(fixtures, 'unsigned'), {
    addedAtUs: Date.now() * 1000,
    footprint: { kind: 'all-sky' },
  });
  const further = columns.map(name => ({ name, type: 'int64' as const, description: name }));
  const payload = columns.map(name => ({ key: name, column: name, kind: 'integer64' as const }));
  return {
    ...found,
    definition: { ...found.definition!, columns: [...found.definition!.columns, ...further] },
    columns: { ...found.columns, payload: [...found.columns.payload, ...payload] },
  };
}

async function parquetOf(response: Response): Promise<Map<string, unknown[]>> {
  assert.is(response.status, 200, response.status === 200 ? '' : await response.clone().text());
  return await columnsOfParquet(await response.arrayBuffer());
}

const inService = (columns: readonly string[], run: (app: TestApp) => Promise<void>) =>
  inWorld(async world => {
    await world.writer.commit({ kind: 'register_catalog', registration: await registered(columns) });
    await world.ingest([{ ra: 0.1, dec: 0.06 }]);
    await world.crossmatch();
    const app = new TestApp(join(world.directory, 'data'), { TAP_QUERY_SECONDS: '60' });
    try {
      await app.ready();
      await run(app);
    } finally {
      await app.app.close();
    }
  });

const match = (app: TestApp, query: string) =>
  app.app.fetch(
    new Request(`http://nearsky.test/api/crossmatch?format=parquet${query}`, {
      method: 'POST',
      body: readFileSync(join(fixtures, 'unsigned', FILE)),
    }),
  );

test('the columns of a table keep them, with all digits', () =>
  inService(['whole'], async app => {
    for (const query of ['', '&against=wide']) {
      const found = await parquetOf(await match(app, query));
      for (const column of ['unsigned', 'huge', 'whole'])
        assert.equal(
          found.get(column),
          ROWS.map(row => row[column]),
          `${column} ${query}`,
        );
    }
    const found = await parquetOf(await match(app, '&against=wide'));
    assert.equal(
      found.get('wide_whole')!.map(value => (value === null ? null : `${value}`)),
      ROWS.map(({ whole }) => whole),
    );
  }));

for (const column of ['unsigned', 'huge'])
  test(`a catalog's ${column}: its rows are not searched, and ADQL does not answer`, () =>
    inService([column], async app => {
      const found = await parquetOf(await match(app, '&against=wide'));
      assert.equal([...new Set(found.get('nearsky_status'))], ['skipped_read_failure']);
      if (duckdbObstacle() !== undefined) return;
      for (const where of ['', ' WHERE DISTANCE(ra, dec, 359.9, 0.04) < 0.001', ' WHERE id = 9223372036854775807']) {
        const form = new URLSearchParams({ LANG: 'ADQL', QUERY: `SELECT id, ${column} FROM wide.sources${where}` });
        for (let tries = 0; ; tries++) {
          const response = await app.app.fetch(new Request(`http://nearsky.test/vo/tap/sync?${form}`));
          const text = await response.text();
          if (!text.includes('cannot be read') && response.status === 503 && tries < 300) {
            await sleep(200);
            continue;
          }
          assert.match(text, /a catalog that the query names cannot be read now/);
          break;
        }
      }
    }));

test.run();
