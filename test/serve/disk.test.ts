/** A disk that is full, and a database file that is gone, while the service runs. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, renameSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openStore, StoreError } from '../../src/store/store.ts';
import { Writer } from '../../src/store/writer.ts';
import { get, startServer } from '../e2e/support.ts';
import { delivery, eventually, NOW_US, withApp, withDirectory } from '../http/support.ts';
import { needs } from '../needs.ts';

const test = suite('serve/disk');

/** A file system of a few megabytes; undefined where this process may not mount one. */
function mountSmallDisk(): string | undefined {
  const directory = mkdtempSync(join(tmpdir(), 'nearsky-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=6m', 'tmpfs', directory], { stdio: 'ignore' });
    return directory;
  } catch {
    rmSync(directory, { recursive: true });
    return undefined;
  }
}

const disk = mountSmallDisk();
const testWithDisk = needs(test, disk ? undefined : 'this process may not mount a small disk');

testWithDisk(
  'a full disk: what is stored is served, what cannot be stored is not acknowledged, and later it can be',
  () =>
    // For its end, at which the server is gone in any case.
    withDirectory(async () => {
      const data = join(disk!, 'data');
      const store = openStore(data, 'write');
      const writer = new Writer(store);
      await writer.ingest([delivery(1n)], NOW_US);
      const server = await startServer(['serve', '--data', data, '--port', '0', '--no-crossmatch']);
      assert.throws(() => writeFileSync(join(disk!, 'filler'), Buffer.alloc(8_000_000)), /ENOSPC/);
      const batch = (first: number) => Array.from({ length: 500 }, (_, i) => delivery(BigInt(first + i)));
      let stored = 1;
      let failure: unknown;
      for (let first = 1000; !failure; first += 500) {
        try {
          await writer.ingest(batch(first), NOW_US);
          stored += 500;
        } catch (error) {
          failure = error;
        }
      }
      assert.instance(failure, StoreError);
      const total = async () => (await get(`${server.url}/api/cone?ra=150&dec=2&radius_arcsec=1`)).results[0].total;
      await eventually('all that was acknowledged is served', async () => (await total()) === stored || undefined);
      await get(`${server.url}/readyz`);
      unlinkSync(join(disk!, 'filler'));
      await writer.ingest([delivery(2n)], NOW_US);
      await eventually('what is stored afterwards is served', async () => (await total()) === stored + 1 || undefined);
      const { code, stderr } = await server.stop();
      assert.is(code, 0, stderr);
      await store.close();
    }),
);

test.after(() => {
  if (!disk) return;
  execFileSync('umount', ['-l', disk]);
  rmSync(disk, { recursive: true });
});

test('a log that cannot be written stops nothing', () =>
  withDirectory(async directory => {
    const server = await startServer(['serve', '--data', directory, '--port', '0'], { NEARSKY_LOG_REQUESTS: 'yes' });
    server.child.stderr!.destroy();
    for (let i = 0; i < 3; i++) assert.is((await get(`${server.url}/api/status`)).database, 'ok');
    assert.is((await server.stop()).code, 0);
  }));

test('a database file that is removed: not ready, and the log says how to mend it; put back, it is ready again', () =>
  withApp(
    async ({ writer }) => {
      await writer.ingest([delivery(5n)], NOW_US);
    },
    async (app, { directory }) => {
      const file = join(directory, 'nearsky.mdb');
      assert.is((await app.get('/readyz')).status, 200);
      renameSync(file, `${file}.away`);
      assert.is((await app.get('/readyz')).status, 503);
      assert.is((await app.get('/api/status')).body.database, 'unavailable');
      const [, fields] = app.logged.find(([event]) => event === 'database_unreadable')!;
      assert.match(JSON.stringify(fields), /removed or replaced: put it back, or restart/);
      writeFileSync(file, '');
      assert.is((await app.get('/readyz')).status, 503, 'another file is no better');
      renameSync(`${file}.away`, file);
      assert.is((await app.get('/readyz')).status, 200);
      assert.is((await app.result('/api/objects/5')).status, 'crossmatch_pending');
    },
  ));

test.run();
