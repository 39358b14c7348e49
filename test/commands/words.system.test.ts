/** What a user is told by commands whose process matters: its port, its reader, its packages. */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { nearsky, root, start, withDirectory } from '../e2e/support.ts';
import { isDeno } from '../runtime.ts';

const test = suite('commands/words');

test('a data directory that cannot be made ends `serve` with the reason', async () => {
  // The system reports ENOENT below an existing directory: the runtime's `mkdir -p` would try forever.
  if (process.platform !== 'linux') return;
  const { code, stderr } = await start(['serve', '--data', '/proc/nearsky/data', '--port', '0']).finished;
  assert.is(code, 1);
  // Deno's permissions refuse the path before the system does.
  assert.match(
    stderr,
    isDeno
      ? /\/proc/
      : /Cannot make the data directory \/proc\/nearsky\/data because .*: set --data to another directory/,
  );
});

test('`demo` and `serve` look at their port before they do or log anything else', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const temporary = mkdtempSync(join(tmpdir(), 'nearsky-test-'));
  try {
    const { port } = server.address() as AddressInfo;
    for (const args of [['demo'], ['serve', '--data', join(temporary, 'data')]]) {
      const { code, stdout, stderr } = await start([...args, '--port', `${port}`], { TMPDIR: temporary }).finished;
      assert.equal([code, stdout], [1, '']);
      assert.match(
        stderr,
        /^nearsky \w+: Cannot listen on 127\.0\.0\.1:\d+ because another program listens there already \(EADDRINUSE\): give another .*\n$/,
      );
      assert.equal(readdirSync(temporary), []);
    }
  } finally {
    rmSync(temporary, { recursive: true });
    server.close();
  }
});

test('a reader that has enough ends a command without a word', () =>
  withDirectory(async directory => {
    const data = join(directory, 'data');
    const file = join(directory, 'many.ndjson');
    // More than the buffer of a pipe can hold.
    const lines = Array.from(
      { length: 3000 },
      (_, i) => `{"diaObjectId":${i + 1},"ra":${i / 10},"decl":1,"latestR":0.9,"firstDiaSourceMjdTai":61105.25}\n`,
    );
    writeFileSync(file, lines.join(''));
    await nearsky('ingest', '--broker', 'lasair', '--data', data, file);
    const { child, finished } = start(['export', '--data', data]);
    child.stdout!.once('data', () => child.stdout!.destroy());
    const { code, stderr } = await finished;
    assert.equal([code, stderr], [141, '']);
  }));

test('`npm run demo` before `npm ci` says in a line what is missing', () =>
  withDirectory(async directory => {
    if (isDeno) return;
    for (const name of ['package.json', 'bin/nearsky.cjs', 'src/main.ts'])
      cpSync(join(root, name), join(directory, name));
    const { scripts } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
    for (const name of ['demo', 'serve', 'nearsky']) {
      const [node, ...args] = scripts[name].split(' ');
      assert.is(node, 'node');
      const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: directory, encoding: 'utf8' });
      assert.equal([status, stdout], [1, '']);
      assert.is(stderr, 'nearsky: the packages are not installed: run `npm ci` in this checkout first\n');
    }
  }));

test.run();
