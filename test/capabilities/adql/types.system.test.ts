/** Columns of whole catalogs have the spelling and the types of the catalogs' files. */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { registerCatalog } from '../../../src/capabilities/catalogs/register.ts';
import { writeHats } from '../../core/catalogs/write_hats.ts';
import { NOW_US, TestApp } from '../../core/http/support.ts';
import { rowsOf } from '../../core/tables/read_votable.ts';
import { duckdbObstacle, needs } from '../../needs.ts';
import { inWorld, type World } from '../crossmatch/world.ts';

const test = suite('tap/types');
const check = needs(test, duckdbObstacle());

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
  await world.writer.commit({
    kind: 'register_catalog',
    registration: await registerCatalog(catalog, location, { addedAtUs: Date.now() * 1000 }),
  });
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

check('a name that needs quotes is spelled alike in sources, matches, keys and documents', () =>
  inWorld(async world => {
    const location = join(world.directory, 'named');
    const columns = [
      { name: 'Source ID', type: 'INT64', data: [7n, 8n] },
      { name: 'ra', type: 'DOUBLE', data: RA },
      { name: 'dec', type: 'DOUBLE', data: DEC },
      { name: 'B-V', type: 'DOUBLE', data: [0.5, 0.7] },
      { name: 'SIZE', type: 'DOUBLE', data: [1, 2] },
    ] as const;
    writeHats(location, { name: 'named', columns, ra: 'ra', dec: 'dec' });
    const catalog = { name: 'named', idColumn: 'Source ID', description: {} };
    await world.writer.commit({
      kind: 'register_catalog',
      registration: await registerCatalog(catalog, location, { addedAtUs: NOW_US }),
    });
    const app = new TestApp(join(world.directory, 'data'), { TAP_QUERY_SECONDS: '60' });
    try {
      const both = 'SELECT s."B-V", m."B-V", m."SIZE" FROM named.sources AS s JOIN nearsky.named_matches AS m';
      const joined = `${both} ON s."Source ID" = m.catalog_source_id AND s."SIZE" = m."SIZE"`;
      assert.is((await answer(app, joined, 'csv')).trim(), 'B-V,B-V_2,SIZE');
      const unknown = `SELECT k.target_column FROM TAP_SCHEMA.key_columns AS k JOIN TAP_SCHEMA.keys USING (key_id)
        LEFT JOIN TAP_SCHEMA.columns AS c ON c.table_name = target_table AND c.column_name = k.target_column WHERE c.column_name IS NULL`;
      assert.is((await answer(app, unknown, 'csv')).trim(), 'target_column');
      const { text } = await app.get('/vo/tap/tables/nearsky.named_matches');
      assert.match(text, '<targetColumn>&quot;Source ID&quot;</targetColumn>');
      assert.match(text, '<name>&quot;B-V&quot;</name>');
      assert.match(
        text,
        /<name>ra<\/name><description>[^<]*source_ra is the source&apos;s|<name>ra<\/name><description>[^<]*source_ra is the source's/,
      );
      const same = (await app.get('/vo/tap/')).text;
      assert.is(same, (await app.get('/vo/tap')).text);
      assert.match(same, '<vosi:capabilities');
    } finally {
      await app.app.close();
    }
  }),
);

check('a file that a query reads several times counts once', () =>
  inWorld(async world => {
    const rows = 300;
    const location = join(world.directory, 'many');
    const each = <T>(value: (i: number) => T) => Array.from({ length: rows }, (_, i) => value(i));
    const columns = [
      { name: 'ID', type: 'INT64', data: each(BigInt) },
      { name: 'RA', type: 'DOUBLE', data: each(i => i) },
      { name: 'DEC', type: 'DOUBLE', data: each(i => (i % 120) - 60) },
    ] as const;
    writeHats(location, { name: 'many', columns, ra: 'RA', dec: 'DEC', maxRows: 1 });
    await add(world, 'many', location);
    const app = new TestApp(join(world.directory, 'data'), { TAP_QUERY_SECONDS: '60' });
    try {
      const query = 'SELECT COUNT(*) AS n FROM many.sources AS a JOIN many.sources AS b ON a.id = b.id';
      assert.is(await answer(app, query, 'csv'), `n\n${rows}\n`);
    } finally {
      await app.app.close();
    }
  }),
);

test.run();
