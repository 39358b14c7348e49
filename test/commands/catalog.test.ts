/** The words of `nearsky catalog` about rows and files from which no match can come. */
import { appendFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { catalogDefinition } from '../../src/contract/catalogs.ts';
import { catalogColumns } from '../catalogs/small_catalog.ts';
import { writeHats } from '../catalogs/write_hats.ts';
import { nearsky, start, withDirectory } from '../e2e/support.ts';

const test = suite('commands/catalog');

/** Seven rows, of which three have no position that can be used and one has no id. */
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

test.run();
