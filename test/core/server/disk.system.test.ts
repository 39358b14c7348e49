/** A disk that is full while the service runs. */
import { unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { freeBytesAt } from '../../../src/core/base/disk.ts';
import { RESERVE_BYTES } from '../../../src/core/store/disk_space.ts';
import { openStore } from '../../../src/core/store/store.ts';
import { StoreError } from '../../../src/core/store/store_error.ts';
import { Writer } from '../../../src/core/store/writer.ts';
import { get, startServer } from '../../e2e/support.ts';
import { needs } from '../../needs.ts';
import { fillDisk, mountSmallDisk } from '../../small_disk.ts';
import { rejection } from '../catalogs/support.ts';
import { delivery, eventually, NOW_US, withDirectory } from '../http/support.ts';

const test = suite('server/disk');

const disk = mountSmallDisk('6m');
const testWithDisk = needs(test, disk ? undefined : 'this process may not mount a small disk');

testWithDisk(
  'a full disk: what is stored is served, what cannot be stored is not acknowledged, and later it can be',
  () =>
    // For its end, at which the server is gone in any case.
    withDirectory(async () => {
      const data = join(disk!.directory, 'data');
      const store = openStore(data, 'write');
      const writer = new Writer(store);
      await writer.ingest([delivery(1n)], NOW_US);
      const server = await startServer(['serve', '--data', data, '--port', '0', '--no-crossmatch']);
      const batch = (first: number) => Array.from({ length: 500 }, (_, i) => delivery(BigInt(first + i)));
      let stored = 1;
      const fill = async () => {
        for (let first = 1000 * stored; ; first += 500) {
          await writer.ingest(batch(first), NOW_US);
          stored += 500;
        }
      };
      // The free space falls below the reserve before it is gone, so nothing is begun that may not end.
      const failure = await rejection(fill());
      assert.instance(failure, StoreError);
      assert.match(failure.message, /^Cannot store the messages because the disk of \S+ is full: \d\.\d MB are free/);
      assert.ok(freeBytesAt(disk!.directory)! > 2 ** 20, 'it was refused before the disk was full');
      const filler = fillDisk(disk!.directory, 0);
      await eventually(
        'a disk without any space is told of',
        async () => (await get(`${server.url}/readyz`)).disk_full?.free_bytes === 0 || undefined,
      );
      const { disk_full, status } = await get(`${server.url}/readyz`);
      assert.equal([status, disk_full], ['ready', { free_bytes: 0, needed_bytes: RESERVE_BYTES }]);
      assert.match(await (await fetch(`${server.url}/metrics`)).text(), /^nearsky_disk_free_bytes 0$/m);
      assert.instance(await rejection(writer.ingest(batch(1), NOW_US)), StoreError);
      const total = async () => (await get(`${server.url}/api/cone?ra=150&dec=2&radius_arcsec=1`)).results[0].total;
      await eventually('all that was acknowledged is served', async () => (await total()) === stored || undefined);
      unlinkSync(filler);
      await writer.ingest([delivery(2n)], NOW_US);
      await eventually('what is stored afterwards is served', async () => (await total()) === stored + 1 || undefined);
      await eventually(
        'it is told that there is space',
        async () => !(await get(`${server.url}/readyz`)).disk_full || undefined,
      );
      const { code, stderr } = await server.stop();
      assert.is(code, 0, stderr);
      assert.match(stderr, /"disk_full".*"needed_bytes"(?:.|\n)*"disk_has_space"/);
      await store.close();
    }),
);

test.after(() => disk?.unmount());

test('a log that cannot be written stops nothing', () =>
  withDirectory(async directory => {
    const server = await startServer(['serve', '--data', directory, '--port', '0'], { NEARSKY_LOG_REQUESTS: 'yes' });
    server.child.stderr!.destroy();
    for (let i = 0; i < 3; i++) assert.is((await get(`${server.url}/api/status`)).database, 'ok');
    assert.is((await server.stop()).code, 0);
  }));

test.run();
