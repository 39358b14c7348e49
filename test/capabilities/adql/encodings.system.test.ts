/** Catalogs with the encodings of other tools, in queries. */
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { registerCatalog } from '../../../src/capabilities/catalogs/register.ts';
import { TestApp } from '../../core/http/support.ts';
import { duckdbObstacle, needs } from '../../needs.ts';
import { columnsOfQuery } from '../../parquet_answer.ts';
import { inWorld } from '../crossmatch/world.ts';
import { expectedOf, fixtures, NAMES, rowsOf } from './encodings.ts';

const test = suite('tap/encodings in queries');
const check = needs(test, duckdbObstacle());

check('every column of every tool in ADQL: of whole files, and of the rows near a position', () =>
  inWorld(async world => {
    for (const name of NAMES) {
      const catalog = { name, idColumn: 'id', description: {} };
      const footprint = { kind: 'all-sky' } as const;
      await world.writer.commit({
        kind: 'register_catalog',
        registration: await registerCatalog(catalog, join(fixtures, name), { addedAtUs: Date.now() * 1000, footprint }),
      });
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
