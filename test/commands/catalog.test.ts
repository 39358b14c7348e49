/** The output of `nearsky catalog` about rows and files that cannot give a match. */
import { appendFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { catalogDefinition } from '../../src/contract/catalogs.ts';
import { catalogColumns } from '../catalogs/small_catalog.ts';
import { writeHats } from '../catalogs/write_hats.ts';
import { nearsky, start, withDirectory } from '../e2e/support.ts';
import { TestApp } from '../http/support.ts';

const test = suite('commands/catalog');

/** Seven rows, of which three have no usable position and one has no id. */
function writeGaia(location: string) {
  const definition = catalogDefinition('gaia_dr3')!;
  const columns = catalogColumns(
    definition,
    [10, -10, 200, 20, null, 30, Number.POSITIVE_INFINITY],
    [-5, -5.5, 60, Number.NaN, 1, 91, 2],
  );
  const [id, ...others] = columns;
  const ids = { ...id!, data: Array.from(id!.data, (value, row) => (row === 2 ? null : value)) };
  return writeHats(location, { name: 'gaia', columns: [ids, ...others], ra: 'ra', dec: 'dec', minOrder: 1 });
}

test('rows that can be no source, or that the properties state and the files lack, are shown; --quick looks at no row', () =>
  withDirectory(async directory => {
    const [data, location] = [join(directory, 'data'), join(directory, 'gaia')];
    writeGaia(location);
    for (const file of ['hats.properties', 'properties']) appendFileSync(join(location, file), 'hats_nrows=9\n');
    const counts = { rows: 7, rows_stated: 9, rows_without_position: 4, rows_without_id: 1 };
    const countsOf = (answer: Record<string, unknown>) =>
      Object.fromEntries(Object.keys(counts).map(name => [name, answer[name]]));
    const add = (...more: string[]) => nearsky('catalog', 'add', 'gaia_dr3', location, '--data', data, ...more);
    assert.equal(countsOf(await add()), counts);
    const listed = (await start(['catalog', 'list', '--data', data]).finished).stdout;
    assert.match(listed, /rows +7, but hats_nrows states 9: files may be missing/);
    assert.match(listed, /rows without a position +4\n +rows without an id +1/);
    const check = await nearsky('catalog', 'check', 'gaia_dr3', '--data', data);
    assert.equal([check.rows, check.without_position, check.without_id, check.problems], [7, 4, 1, []]);
    const unknown = { rows: 9, rows_stated: 9, rows_without_position: null, rows_without_id: null };
    assert.equal(countsOf(await add('--quick')), unknown);
    for (const file of ['hats.properties', 'properties']) appendFileSync(join(location, file), 'hats_nrows=5\n');
    const grown = await start(['catalog', 'add', 'gaia_dr3', location, '--data', data]).finished;
    assert.match(grown.stdout, /rows +7, but hats_nrows states 5: files may have been added since/);
  }));

test('add looks at every file, and names those that cannot be used; --quick looks only whether they are there', () =>
  withDirectory(async directory => {
    const [data, location] = [join(directory, 'data'), join(directory, 'gaia')];
    const last = join(location, writeGaia(location).at(-1)!.files[0]!);
    const add = (...more: string[]) =>
      start(['catalog', 'add', 'gaia_dr3', location, '--data', data, ...more]).finished;
    writeFileSync(last, 'no Parquet file');
    const refused = await add();
    assert.is(refused.code, 1);
    assert.ok(refused.stderr.includes(last), refused.stderr);
    assert.is((await add('--quick')).code, 0);
    rmSync(last);
    assert.match((await add('--quick')).stderr, /files of its partitions are missing/);
  }));

test('remove: the catalog is searched no more, what was found in it stays, and it may be added again; ids are read when it is added', () =>
  withDirectory(async directory => {
    const [data, location] = [join(directory, 'data'), join(directory, 'mine')];
    const columns = [
      { name: 'id', type: 'INT64' as const, data: [7n, 8n] },
      { name: 'ra', type: 'DOUBLE' as const, data: [10, 20] },
      { name: 'dec', type: 'DOUBLE' as const, data: [1, 2] },
      { name: 'mag', type: 'DOUBLE' as const, data: [15, 16] },
    ];
    writeHats(location, { name: 'mine', columns, ra: 'ra', dec: 'dec', minOrder: 0 });
    const objects = [{ name: 'id', type: 'INT64' as const, data: [1n, 2n] }, ...columns.slice(1, 3)];
    writeFileSync(join(directory, 'objects.parquet'), Buffer.from(parquetWriteBuffer({ columnData: objects })));
    const table = ['ingest', '--table', join(directory, 'objects.parquet'), '--id', 'id', '--ra', 'ra', '--dec', 'dec'];
    await nearsky(...table, '--data', data);
    const add = () =>
      nearsky('catalog', 'add', 'mine', location, '--id', 'id', '--footprint', 'all-sky', '--data', data);
    assert.is(((await add()).coverage as { sky_fraction: number }).sky_fraction, 1);
    assert.is((await nearsky('crossmatch', '--data', data)).recorded, 2);
    assert.equal(await nearsky('catalog', 'remove', 'mine', '--data', data), { removed: 'mine' });
    const again = await start(['catalog', 'remove', 'mine', '--data', data]).finished;
    assert.equal([again.code, /there is no registered catalog "mine"/.test(again.stderr)], [2, true], again.stderr);
    for (const format of ['json', 'csv', 'votable', 'parquet'])
      for (const detail of ['matches', 'full']) {
        const { body } = await answerOf(data, `/api/objects/1?detail=${detail}&format=${format}`);
        if (format === 'json') assert.match(body, /"catalog_name": "mine"/, detail);
      }
    await nearsky('export', '--data', data, '--format', 'hats', join(directory, 'hats'));
    await nearsky('stats', '--data', data);
    await add();
    assert.match((await answerOf(data, '/api/objects/1?detail=full')).body, /"mag": 15/);
    const texts = join(directory, 'texts');
    const named = columns.map(column =>
      column.name === 'id' ? { name: 'id', type: 'STRING' as const, data: ['a 1', 'b'] } : column,
    );
    writeHats(texts, { name: 'texts', columns: named, ra: 'ra', dec: 'dec', minOrder: 0 });
    const description = join(directory, 'texts.json');
    writeFileSync(description, '{"idType": "int64"}');
    for (const more of [[], ['--quick']]) {
      const add = ['catalog', 'add', 'texts', texts, '--id', 'id', '--description', description, '--data', data];
      const refused = await start([...add, ...more]).finished;
      assert.match(refused.stderr, /column id must hold 64-bit integers \((?:a 1|b) was found\)/);
    }
  }));

async function answerOf(data: string, path: string): Promise<{ body: string }> {
  const app = await new TestApp(data).ready();
  try {
    const { status, text } = await app.get(path);
    assert.is(status, 200, `${path}: ${text}`);
    return { body: text };
  } finally {
    await app.app.close();
  }
}

test.run();
