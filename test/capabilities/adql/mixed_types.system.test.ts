/**
 * Every reader of a catalog whose files have different types gives the same values: those that pyarrow reads
 * (test/fixtures/mixed_types).
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { registerCatalog } from '../../../src/capabilities/catalogs/register.ts';
import { TestApp } from '../../core/http/support.ts';
import { duckdbObstacle, needs } from '../../needs.ts';
import { columnsAt, columnsOfQuery } from '../../parquet_answer.ts';
import { inWorld } from '../crossmatch/world.ts';

const test = suite('tap/mixed_types');
const check = needs(test, duckdbObstacle());

const fixtures = fileURLToPath(new URL('../../fixtures/mixed_types', import.meta.url));
const ACCEPTED: Readonly<Record<string, readonly unknown[]>> = JSON.parse(
  readFileSync(join(fixtures, 'pairs.json'), 'utf8'),
).accepted;
const COLUMNS = Object.keys(ACCEPTED);
const IDS = [40, 41, 80, 81, 100, 101];
const PLACES = [
  [0.5, 0.1],
  [1, 0.2],
  [61.6, -49.2],
  [57.4, -48.5],
  [225, -41],
  [226, -41],
].map(([ra, dec]) => ({ ra: ra!, dec: dec! }));

const strings = (values: readonly unknown[]) => values.map(value => `${value}`);

check('stored crossmatches, sources near a position, tables against the catalog, and ADQL', () =>
  inWorld(async world => {
    for (const [name, location, columns] of [
      ['pairs', 'pairs', COLUMNS],
      ['imported', 'hats_import', undefined],
    ] as const) {
      const description = columns ? { columns: columns.map(name => ({ name })), filterable: [] } : {};
      await world.writer.commit({
        kind: 'register_catalog',
        registration: await registerCatalog({ name, idColumn: 'id', description }, join(fixtures, location), {
          addedAtUs: Date.now() * 1000,
          footprint: { kind: 'all-sky' },
        }),
      });
    }
    const objects = await world.ingest(PLACES);
    await world.crossmatch();
    const stored = objects.map(id => {
      const at = world.store.getObject(id)!.matches.findIndex(({ catalogName }) => catalogName === 'pairs');
      return world.store.getSources(id)[at]!;
    });
    for (const column of COLUMNS)
      assert.equal(strings(stored.map(({ payload }) => payload![column])), strings(ACCEPTED[column]!), column);

    const app = new TestApp(join(world.directory, 'data'), { TAP_QUERY_SECONDS: '60' });
    try {
      await app.ready();
      for (const [row, { ra, dec }] of PLACES.entries()) {
        const { body } = await app.get(`/api/sources?ra=${ra}&dec=${dec}&radius_arcsec=1&catalog=pairs`);
        const [source] = body.sources;
        assert.is(source.catalog_source_id, `${IDS[row]}`);
        for (const column of COLUMNS)
          assert.is(`${source.catalog_payload[column]}`, `${ACCEPTED[column]![row]}`, column);
      }

      const table = `ra,dec\n${PLACES.map(({ ra, dec }) => `${ra},${dec}\n`).join('')}`;
      const matched = await columnsAt(app, '/api/crossmatch?against=pairs&format=parquet', {
        method: 'POST',
        body: table,
        headers: { 'Content-Type': 'text/csv' },
      });
      for (const column of COLUMNS)
        assert.equal(strings(matched.get(`pairs_${column}`)!), strings(ACCEPTED[column]!), column);

      const query = (text: string) => columnsOfQuery(app, text);
      const whole = await query('SELECT * FROM pairs.sources ORDER BY id');
      assert.equal(strings(whole.get('id')!), strings(IDS));
      for (const column of COLUMNS) assert.equal(strings(whole.get(column)!), strings(ACCEPTED[column]!), column);
      const one = await query('SELECT * FROM pairs.sources WHERE DISTANCE(ra, dec, 61.6, -49.2) < 0.001');
      for (const column of COLUMNS) assert.is(`${one.get(column)![0]}`, `${ACCEPTED[column]![2]}`, column);

      // The values of lsdb.
      assert.equal((await query('SELECT flux FROM imported.sources ORDER BY id')).get('flux'), [1, 2, 1.5, 2.5]);
      assert.equal((await query('SELECT id FROM imported.sources WHERE flux = 2')).get('id'), [2n]);
    } finally {
      await app.app.close();
    }
  }),
);

test.run();
