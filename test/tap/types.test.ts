/** Columns of whole catalogs have the spelling and the types of the catalogs' files. */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { registerCatalog } from '../../src/catalogs/register.ts';
import { isInstalled } from '../../src/tap/tap.ts';
import { writeHats } from '../catalogs/write_hats.ts';
import { inWorld, pool, type World } from '../crossmatch/world.ts';
import { TestApp } from '../http/support.ts';
import { needs } from '../needs.ts';
import { rowsOf } from '../tables/read_votable.ts';

const test = suite('tap/types');
const check = needs(
  test,
  isInstalled() ? undefined : '@duckdb/node-api is not installed: npm install gets it where it can',
);

test.after(() => pool.close());

/** Two rows, in two partitions. */
const RA = [61, 240];
const DEC = [-49, 30];
const MAGNITUDES = [15.1, -0.3].map(Math.fround);

/** Writes a catalog whose magnitudes have a type. Returns its partitions' files. */
function write(location: string, name: string, type: 'FLOAT' | 'DOUBLE'): readonly string[] {
  const columns = [
    { name: 'ID', type: 'INT64', data: [7n, 8n] },
    { name: 'RA', type: 'DOUBLE', data: RA },
    { name: 'DEC', type: 'DOUBLE', data: DEC },
    { name: 'MAG_AUTO_G', type, data: MAGNITUDES },
    { name: 'N_OBS', type: 'INT32', data: [3, -2] },
    { name: 'Chi', type: 'DOUBLE', data: [0.1, 0.2] },
    { name: 'PARENT', type: 'INT64', data: [2n ** 62n, null] },
  ] as const;
  return writeHats(location, { name, columns, ra: 'RA', dec: 'DEC', maxRows: 1 }).flatMap(({ files }) => files);
}

async function add(world: World, name: string, location: string): Promise<void> {
  const catalog = { name, idColumn: 'ID', description: {} };
  await world.writer.putCatalog(await registerCatalog(catalog, location, { addedAtUs: Date.now() * 1000 }));
}

function get(app: TestApp, query: string, format: string) {
  return app.get(`/vo/tap/sync?${new URLSearchParams({ LANG: 'ADQL', QUERY: query, FORMAT: format })}`);
}

async function answer(app: TestApp, query: string, format: string): Promise<string> {
  for (;;) {
    const { status, text } = await get(app, query, format);
    if (status === 200) return text;
    assert.is(status, 503, text);
    await sleep(200);
  }
}

check('names and types are those of the files, unless files differ', () =>
  inWorld(async world => {
    const [single, double, mixed] = ['single', 'double', 'mixed'].map(name => join(world.directory, name));
    const files = write(single!, 'single', 'FLOAT');
    write(double!, 'double', 'DOUBLE');
    write(mixed!, 'mixed', 'FLOAT');
    cpSync(join(double!, files[1]!), join(mixed!, files[1]!));
    await add(world, 'single', single!);
    await add(world, 'mixed', mixed!);
    const app = new TestApp(join(world.directory, 'data'), { TAP_QUERY_SECONDS: '60' });
    try {
      const types = async (catalog: string) => {
        const list = `SELECT column_name, datatype FROM TAP_SCHEMA.columns WHERE table_name = '${catalog}.sources' ORDER BY column_index`;
        return (await answer(app, list, 'csv')).trim().split('\n').slice(1);
      };
      const expected = (magnitude: string) => [
        'ID,long',
        'RA,double',
        'DEC,double',
        `MAG_AUTO_G,${magnitude}`,
        'N_OBS,int',
        'Chi,double',
        'PARENT,long',
      ];
      assert.equal(await types('single'), expected('float'));
      assert.equal(await types('mixed'), expected('double'));
      const { text } = await app.get('/vo/tap/tables/single.sources');
      assert.match(text, /<name>MAG_AUTO_G<\/name>.*<dataType xsi:type="vs:VOTableType">float<\/dataType>/);
      const rows = 'SELECT mag_auto_g, n_obs, 2 * mag_auto_g AS two FROM single.sources ORDER BY id';
      const votable = await answer(app, rows, 'votable');
      assert.match(votable, '<FIELD name="MAG_AUTO_G" datatype="float"');
      assert.match(votable, '<FIELD name="N_OBS" datatype="int"');
      // The shortest text of a single-precision number; arithmetic has double precision.
      const twice = MAGNITUDES.map(each => `${2 * each}`);
      assert.equal(rowsOf(votable), [
        { MAG_AUTO_G: '15.1', N_OBS: '3', two: twice[0] },
        { MAG_AUTO_G: '-0.3', N_OBS: '-2', two: twice[1] },
      ]);
      const bright = 'SELECT id FROM single.sources WHERE mag_auto_g < 15.1000005 AND mag_auto_g > 15.1';
      assert.equal(await answer(app, bright, 'csv'), 'ID\n7\n');
      const exact =
        'SELECT s.mag_auto_g FROM single.sources AS s JOIN mixed.sources AS m ON s.mag_auto_g = m.mag_auto_g';
      assert.is((await answer(app, exact, 'csv')).trim().split('\n').length, 3);
      cpSync(double!, single!, { recursive: true });
      const changed = await get(app, rows, 'csv');
      assert.is(changed.status, 503, 'no digits are lost without a word');
    } finally {
      await app.app.close();
    }
  }),
);

test.run();
