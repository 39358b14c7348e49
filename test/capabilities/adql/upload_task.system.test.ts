/** The limits of tables that come with a query, in the process that reads them and writes them for the engine. */
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { UploadFile } from '../../../src/capabilities/adql/upload_file.ts';
import { runReadUploads } from '../../../src/capabilities/adql/upload_task.ts';
import { spoolRoom } from '../../../src/capabilities/uploads/spool.ts';
import { withDirectory } from '../../core/http/support.ts';
import { needs, OPEN_FILES, openFilesObstacle } from '../../needs.ts';

const test = suite('tap/upload_task');

/** Reads a table in a directory, with a bound of its bytes. */
async function read(directory: string, table: Uint8Array, maxBytes: number) {
  mkdirSync(join(directory, 'tap'), { recursive: true });
  const file = new UploadFile(directory, spoolRoom(2 ** 30, directory), 'a');
  file.begin('part')(table);
  const input = file.end();
  const output = join(directory, 'tables');
  const uploads = [{ name: 'mine', key: 'part' }];
  return await runReadUploads({ uploads, input, output, limits: { maxRows: 10_000, maxBytes } });
}

test('few bytes with very many values: a dictionary', () =>
  withDirectory(async directory => {
    let seed = 1;
    const oneOfFour = () => Math.sin(1 + (((seed = (seed * 48_271) % 0x7fffffff) >> 4) % 4));
    const columnData = Array.from({ length: 300 }, (_, i) => {
      return { name: `c${i}`, data: Array.from({ length: 5000 }, oneOfFour), type: 'DOUBLE' as const };
    });
    const table = new Uint8Array(parquetWriteBuffer({ columnData, rowGroupSize: 1000 }));
    const maxBytes = 640_000;
    assert.ok(table.length < maxBytes, `${table.length}`);
    assert.equal(await read(directory, table, maxBytes), {
      outcome: 'refused',
      message: 'the table mine cannot be used because it has too many cells with values: send fewer rows or columns',
    });
    assert.equal(await read(directory, table, 2 ** 24), { outcome: 'read' });
    assert.equal(readdirSync(join(directory, 'tables')).sort(), ['0.parquet', 'tables.json']);
  }));

test('long descriptions are cut, those of many columns refused', () =>
  withDirectory(async directory => {
    const field = `<FIELD name="n" datatype="int" unit="${'m'.repeat(300)}"><DESCRIPTION>${'\u00e9'.repeat(2 ** 16)}</DESCRIPTION></FIELD>`;
    const votable = (fields: number) =>
      Buffer.from(
        `<VOTABLE><RESOURCE><TABLE>${field.repeat(fields)}<DATA><TABLEDATA/></DATA></TABLE></RESOURCE></VOTABLE>`,
      );
    const long = await read(directory, votable(1100), 2 ** 28);
    assert.is(long.outcome, 'refused');
    assert.equal(await read(directory, votable(1), 2 ** 26), { outcome: 'read' });
    const [{ columns }] = JSON.parse(readFileSync(join(directory, 'tables/tables.json'), 'utf8'));
    assert.equal(columns, [{ name: 'n', type: 'int32', description: '\u00e9'.repeat(2000) }]);
  }));

needs(test, openFilesObstacle())('the files of read and refused tables are closed: the process reads many', () =>
  withDirectory(async directory => {
    const table = Buffer.from('id,ra\n1,2\n');
    assert.equal(await read(directory, table, 2 ** 24), { outcome: 'read' });
    assert.is((await read(directory, table, 10)).outcome, 'refused');
    const open = readdirSync(OPEN_FILES).flatMap(name => {
      const path = join(OPEN_FILES, name);
      return existsSync(path) ? [readlinkSync(path)] : [];
    });
    assert.equal(
      open.filter(path => path.startsWith(directory)),
      [],
    );
  }),
);

test.run();
