import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openStore } from '../../src/core/store/store.ts';
import { Writer } from '../../src/core/store/writer.ts';
import { csvOf, someRecords } from '../capabilities/names/support.ts';
import { startScript } from '../core/store/script.ts';
import { delivery } from '../core/store/support.ts';
import { eventually, nearsky, start, startServer, withDirectory } from '../e2e/support.ts';

const test = suite('capabilities/status/stats_command');

test('the registry, the index, the claims and the disk', () =>
  withDirectory(async directory => {
    const data = join(directory, 'data');
    const store = openStore(data, 'write');
    await new Writer(store).ingest(
      Array.from({ length: 8 }, (_, i) => delivery(BigInt(i))),
      1_000_000,
    );
    await store.close();
    const empty = await nearsky('stats', '--data', data);
    assert.equal(empty.registry, { objects: 0, epoch: null, current: false });
    assert.equal([empty.claimed, empty.format], [0, 1]);
    const disk = empty.disk as Record<string, number>;
    const databaseBytes = statSync(join(data, 'nearsky.mdb')).size;
    const lockBytes = statSync(join(data, 'nearsky.mdb-lock')).size;
    const { reusable, ...files } = disk;
    assert.equal(files, { database: databaseBytes, index: 0, rejected: 0, cache: 0, total: databaseBytes + lockBytes });
    assert.ok(reusable! >= 0 && reusable! < databaseBytes);
    mkdirSync(join(data, 'catalog-cache/a'), { recursive: true });
    writeFileSync(join(data, 'catalog-cache/a/range'), 'x'.repeat(2 ** 20));

    const file = join(directory, 'a.csv');
    writeFileSync(file, `${csvOf(undefined, someRecords(7))}"a row"\n`);
    await nearsky('tns', 'load', file, '--epoch', new Date(Date.now() - 1000).toISOString(), '--data', data);
    const server = await startServer(['serve', '--data', data, '--port', '0', '--no-crossmatch']);
    await server.stop();
    assert.ok(existsSync(join(data, 'index/generation')));
    const other = startScript(new URL('../core/store/claim_process.ts', import.meta.url), [data]);
    try {
      await eventually('the objects are claimed', async () => (other.output() === '' ? undefined : true));
      const stats = await nearsky('stats', '--data', data);
      const { objects, current } = stats.registry as Record<string, unknown>;
      assert.equal([objects, current, stats.claimed], [7, true, 5]);
      const { index, rejected, cache } = stats.disk as Record<string, number>;
      assert.is(cache, 2 ** 20);
      const caches = readdirSync(join(data, 'index')).map(name => statSync(join(data, 'index', name)).size);
      assert.is(
        index,
        caches.reduce((sum, size) => sum + size),
      );
      assert.ok(rejected! > 0);
      const { stdout } = await start(['stats', '--data', data]).finished;
      assert.match(stdout, /^ {2}being crossmatched +5$/m);
      assert.match(stdout, /^ {4}free for new data +\d+\.\d MiB$/m);
      assert.match(stdout, /^TNS registry +7 objects$/m);
      assert.match(stdout, /^ {2}remote catalogs +1\.0 MiB, a cache$/m);
    } finally {
      other.child.kill('SIGKILL');
      await other.ended;
    }
    assert.is((await nearsky('stats', '--data', data)).claimed, 0);
  }));

test.run();
