/** Tables that take more memory than the process that reads them may have. */
import { readFileSync } from 'node:fs';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { inWorld } from '../crossmatch/world.ts';
import { withApp } from './app.ts';

const test = suite('table_match/memory');

test('a table that takes more memory than its process may have is not called damaged [Crossmatch of a table]', () =>
  inWorld(async world => {
    const text = 'x'.repeat(2 ** 20);
    const columns = [
      { name: 'ra', data: Array(100).fill(10) },
      { name: 'dec', data: Array(100).fill(-30) },
      { name: 'text', data: Array.from({ length: 100 }, (_, i) => `${i}${text}`) },
    ];
    const parquet = new Uint8Array(parquetWriteBuffer({ columnData: columns, pageSize: 2 ** 30 }));
    const arrow = readFileSync(new URL('../../fixtures/tables/zeros_zstd.arrows', import.meta.url));
    const settings = { API_TABLE_MEMORY_MIB: '64', API_MAX_TABLE_ROWS: '10000000', API_MAX_TABLE_MIB: '1024' };
    await withApp(
      world,
      async app => {
        for (const table of [parquet, arrow]) {
          const { status, body } = await app.post('/api/crossmatch', table, null);
          assert.is(status, 400);
          assert.match(body.message, /takes more memory than is allowed for a table/);
        }
      },
      settings,
    );
  }));

test.run();
