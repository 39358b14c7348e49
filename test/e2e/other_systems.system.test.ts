/**
 * What macOS lacks, taken away on Linux: /proc is empty, a port cannot be shared, the directory for temporary files is behind a symbolic link.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { needs } from '../needs.ts';
import { checkout, get, type Program, root, startServer, withDirectory } from './support.ts';

/** Mounts an empty file system over /proc, for the program that follows alone. */
const WITHOUT_PROC = ['-m', 'sh', '-c', 'mount -t tmpfs none /proc && exec "$0" "$@"'];
const canHide = spawnSync('unshare', [...WITHOUT_PROC, 'sh', '-c', 'test ! -e /proc/self']).status === 0;
const obstacle = canHide ? undefined : '/proc cannot be hidden here';

const test = suite('e2e/other_systems');

needs(test, obstacle)(
  'the demo answers everything on one thread, says what that costs, and leaves nothing behind',
  () =>
    withDirectory(async directory => {
      const [real, link] = [join(directory, 'real'), join(directory, 'link')];
      mkdirSync(real);
      symlinkSync(real, link);
      const preloaded = `--require ${join(root, 'test/e2e/fixtures/no_shared_port.cjs')}`;
      const program: Program = {
        ...checkout,
        file: 'unshare',
        args: [...WITHOUT_PROC, checkout.file, ...checkout.args],
      };
      const demo = await startServer(
        ['demo', '--port', '0'],
        { TMPDIR: link, NODE_OPTIONS: preloaded, NEARSKY_WORKERS: '3' },
        program,
      );
      const answer = await get(`${demo.url}/api/objects/313637935709683761`);
      assert.is(answer.results[0].objects[0].matches.length, 4);
      const query = 'SELECT COUNT(*) AS n FROM nearsky.objects';
      const asked = new URLSearchParams({ LANG: 'ADQL', FORMAT: 'csv', QUERY: query });
      assert.match(await (await fetch(`${demo.url}/vo/tap/sync?${asked}`)).text(), /^n\r?\n\d+\s*$/);
      const matched = await fetch(`${demo.url}/api/crossmatch?against=gaia_dr3&radius_arcsec=10&format=csv`, {
        method: 'POST',
        headers: { 'content-type': 'text/csv' },
        body: 'ra,dec\n61.62,-49.295\n',
      });
      assert.match(await matched.text(), /\n61\.62,-49\.295,matched,9000000000001000001,/);
      const metrics = await fetch(`${demo.url}/metrics`);
      assert.is(metrics.status, 200);
      assert.match(await metrics.text(), /^nearsky_objects\b/m);
      const { code, stderr } = await demo.stop();
      assert.is(code, 0, stderr);
      assert.match(stderr, /one server thread: .*one core answers requests, of the 3 that NEARSKY_WORKERS allows/);
      assert.equal(readdirSync(real), []);
    }),
);

test('the lock file has the libraries of every system that is supported', () => {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  for (const system of ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'])
    for (const library of ['@lmdb/lmdb', '@msgpackr-extract/msgpackr-extract', '@duckdb/node-bindings', '@esbuild/'])
      assert.ok(
        packages[`node_modules/${library}${library.endsWith('/') ? '' : '-'}${system}`],
        `${library} ${system}`,
      );
});

test('no two files of a folder differ only in the case of their names', () => {
  const seen = new Map<string, string>();
  const skipped = new Set(['node_modules', '.git', '.cache']);
  const walk = (folder: string): void => {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      if (skipped.has(entry.name)) continue;
      const path = join(folder, entry.name);
      const other = seen.get(path.toLowerCase());
      assert.is(other, undefined, `${path} and ${other}`);
      seen.set(path.toLowerCase(), path);
      if (entry.isDirectory()) walk(path);
    }
  };
  walk('.');
  assert.ok(seen.size > 500);
});

test.run();
