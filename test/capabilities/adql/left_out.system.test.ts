/**
 * A catalog of hats-import whose columns have types that queries do not have (test/fixtures/left_out): they are named
 * wherever its columns are. Their types are those that pyarrow reads.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { spelled } from '@nearsky/adql';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { checkCatalog, registerCatalog } from '../../../src/capabilities/catalogs/register.ts';
import { TestApp } from '../../core/http/support.ts';
import { duckdbObstacle, needs } from '../../needs.ts';
import { inWorld } from '../crossmatch/world.ts';

const test = suite('tap/left_out');
const check = needs(test, duckdbObstacle());

const location = fileURLToPath(new URL('../../fixtures/left_out/timed', import.meta.url));
const LEFT_OUT = {
  obs_time: 'timestamp',
  obs_ns: 'timestamp',
  night: 'date',
  clock: 'time',
  fluxes: 'list',
  colour: 'structure',
  flags: 'map',
  stamp: 'BYTE_ARRAY',
  key: 'FIXED_LEN_BYTE_ARRAY',
  'Quoted name': 'date',
};

const add = (more: Partial<Parameters<typeof registerCatalog>[2]> = {}, columns?: readonly string[]) =>
  registerCatalog(
    {
      name: 'timed',
      idColumn: 'id',
      description: columns ? { columns: columns.map(name => ({ name })), filterable: [] } : {},
    },
    location,
    { addedAtUs: 1, footprint: { kind: 'all-sky' }, ...more },
  );

const sorted = (columns: object | undefined) => Object.entries(columns ?? {}).sort();

test('add and check name the columns that are left out by type, at any depth and with a description', async () => {
  for (const depth of ['files', 'footers', 'rows'] as const) {
    const registration = await add({ depth });
    assert.equal(sorted(registration.leftOut), sorted(LEFT_OUT), depth);
    assert.equal(sorted((await checkCatalog(registration)).leftOut), sorted(LEFT_OUT));
    assert.equal(
      registration.definition!.columns.map(({ name }) => name),
      ['ra', 'dec', 'mag', 'note'],
    );
  }
  assert.equal(sorted((await add({}, ['mag'])).leftOut), sorted(LEFT_OUT));
});

check('TAP_SCHEMA and VOSI name them, and a query that names one is told its type', () =>
  inWorld(async world => {
    await world.writer.commit({ kind: 'register_catalog', registration: await add() });
    await world.ingest([{ ra: 10, dec: -5 }]);
    await world.crossmatch();
    const app = new TestApp(join(world.directory, 'data'), { TAP_QUERY_SECONDS: '60' });
    const query = async (text: string): Promise<string> => {
      for (let tries = 0; ; tries++) {
        const form = new URLSearchParams({ LANG: 'ADQL', QUERY: text, FORMAT: 'csv' });
        const response = await app.app.fetch(new Request(`http://nearsky.test/vo/tap/sync?${form}`));
        const body = await response.text();
        if (response.status !== 503 || tries > 300) return body;
        await sleep(200);
      }
    };
    try {
      await app.ready();
      const described = await query(`SELECT description FROM TAP_SCHEMA.tables WHERE table_name = 'timed.sources'`);
      const tables = await (await app.app.fetch(new Request('http://nearsky.test/vo/tap/tables'))).text();
      for (const [column, type] of Object.entries(LEFT_OUT)) {
        const name = spelled(column);
        assert.ok(described.replaceAll('""', '"').includes(`${name} (${type})`), `${name} in ${described}`);
        assert.ok(tables.replaceAll('&quot;', '"').includes(`${name} (${type})`), name);
        for (const text of [name, `timed.sources.${name}`])
          assert.ok((await query(`SELECT ${text} FROM timed.sources`)).includes(`has the type ${type}`), text);
      }
      assert.match(await query('SELECT OBS_TIME FROM timed.sources AS s'), /obs_time of timed\.sources has the type/);
      assert.match(await query('SELECT note, mag FROM timed.sources WHERE id = 1'), /note,mag\r?\nseen,20\.5/);
    } finally {
      await app.app.close();
    }
  }),
);

test.run();
