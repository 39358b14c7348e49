/** `ingest --table`, interrupted. */
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { countRecords } from '../../src/core/store/object_tables.ts';
import { openStore } from '../../src/core/store/store.ts';
import { eventually, withDirectory } from '../directory.ts';
import { start as startProcess } from '../e2e/support.ts';
import { nearsky } from './in_process.ts';
import { COLUMNS, tableOf, writeParquet } from './survey_files.ts';

const test = suite('commands/survey_table, interrupted');

async function countOf(data: string): Promise<number> {
  const store = openStore(data, 'read');
  const count = countRecords(store.databases);
  await store.close();
  return count;
}

test('interrupted, it says what is stored, and run again it stores the rest', () =>
  withDirectory(async directory => {
    const [folder, data] = [join(directory, 'tables'), join(directory, 'data')];
    const rows = 100_000;
    const files = 4;
    mkdirSync(folder);
    for (let file = 0; file < files; file++) {
      const ids = Array.from({ length: rows }, (_, i) => BigInt(file * rows + i + 1));
      const table = tableOf(
        ids,
        ids.map(id => Number(id % 3600n) / 10),
        ids.map(id => Number(id % 1800n) / 10 - 90),
      );
      writeParquet(join(folder, `${file}.parquet`), table, 10_000);
    }
    const args = ['ingest', '--data', data, '--table', folder, ...COLUMNS];
    const { child, finished } = startProcess(args);
    await eventually('it stores', async () => existsSync(join(data, 'nearsky.mdb')) || undefined);
    child.kill('SIGINT');
    const { code, signal, stdout, stderr } = await finished;
    // Under Deno the process ends by the signal itself, under Node with its status.
    assert.ok(code === 130 || signal === 'SIGINT', `${code} ${signal} ${stderr}`);
    assert.match(
      stderr,
      /interrupted \(SIGINT\)\. The rows counted above are stored\. To store the rest, run the same command again\.\n$/,
    );
    const count = Number(/^new objects +(\d+)$/m.exec(stdout)![1]);
    assert.ok(count > 0 && count < files * rows, `${count}`);
    assert.is(await countOf(data), count);
    await nearsky(...args);
    assert.is(await countOf(data), files * rows);
  }));

test.run();
