/**
 * Catalogs with each encoding and type that pyarrow, lsdb, Polars and fastparquet write, in queries. The values are
 * those that pyarrow reads (test/fixtures/encodings).
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { registerCatalog } from '../../../src/capabilities/catalogs/register.ts';
import { openLocalParquet } from '../../core/catalogs/support.ts';
import { TestApp } from '../../core/http/support.ts';
import { duckdbObstacle, needs } from '../../needs.ts';
import { columnsOfQuery } from '../../parquet_answer.ts';
import { inWorld } from '../crossmatch/world.ts';

const fixtures = fileURLToPath(new URL('../../fixtures/encodings', import.meta.url));
const NAMES = readdirSync(fixtures).flatMap(name => /^(\w+)\.json$/.exec(name)?.[1] ?? []);

const test = suite('tap/encodings');
const check = needs(test, duckdbObstacle());

type Values = Readonly<Record<string, readonly unknown[]>>;

/** The rows of `id` in ascending order, each value as a string; integers have all their digits. */
function rowsOf(values: Values): Map<string, Record<string, string>> {
  const columns = Object.entries(values);
  return new Map(
    values.id!.map((id, row) => [
      `${id}`,
      Object.fromEntries(columns.map(([name, cells]) => [name, Object.is(cells[row], -0) ? '-0' : `${cells[row]}`])),
    ]),
  );
}

const expectedOf = (name: string): Values => JSON.parse(readFileSync(join(fixtures, `${name}.json`), 'utf8'));

for (const name of NAMES)
  test(`${name}: the reader`, async () => {
    const expected = rowsOf(expectedOf(name));
    const paths = readdirSync(join(fixtures, name), { recursive: true, encoding: 'utf8' });
    let rows = 0;
    for (const path of paths.filter(path => path.endsWith('.parquet'))) {
      const file = await openLocalParquet(join(fixtures, name, path));
      const all = Array.from({ length: file.rows }, (_, row) => row);
      const names = Object.keys(expected.get('1')!);
      const read = await Promise.all(names.map(async column => [column, await file.readValues(column, all)] as const));
      for (const [id, row] of rowsOf(Object.fromEntries(read))) {
        for (const column of names) if (row[column] === 'NaN') row[column] = 'null';
        assert.equal(row, expected.get(id), `${id}`);
        rows++;
      }
      file.close();
    }
    assert.is(rows, expected.size);
  });

check('every column of every tool in ADQL: of whole files, and of the rows near a position', () =>
  inWorld(async world => {
    for (const name of NAMES) {
      const catalog = { name, idColumn: 'id', description: {} };
      const footprint = { kind: 'all-sky' } as const;
      await world.writer.putCatalog(
        await registerCatalog(catalog, join(fixtures, name), { addedAtUs: Date.now() * 1000, footprint }),
      );
    }
    const app = new TestApp(join(world.directory, 'data'), { TAP_QUERY_SECONDS: '60' });
    try {
      for (const name of NAMES) {
        const expected = rowsOf(expectedOf(name));
        const whole = await columnsOfQuery(app, `SELECT * FROM ${name}.sources ORDER BY id`);
        const payload = Object.keys(expected.get('1')!).filter(column => !/^(_healpix_29|nothing\w*)$/.test(column));
        assert.ok(payload.length > 20);
        assert.equal(
          payload.filter(column => !whole.has(column)),
          [],
          name,
        );
        const ids = whole.get('id')!.map(String);
        assert.equal(ids, [...expected.keys()]);
        for (const column of payload)
          assert.equal(
            whole.get(column)!.map(cell => (Object.is(cell, -0) ? '-0' : `${cell}`)),
            ids.map(id => expected.get(id)![column]),
            `${name}.${column}`,
          );
        const near = await columnsOfQuery(
          app,
          `SELECT * FROM ${name}.sources WHERE DISTANCE(ra, dec, ${expected.get('2')!.ra}, ${expected.get('2')!.dec}) < 0.0001`,
        );
        for (const column of payload)
          assert.equal(near.get(column)!.map(String), whole.get(column)!.slice(1, 2).map(String), `${name}.${column}`);
      }
    } finally {
      await app.app.close();
    }
  }),
);

test.run();
