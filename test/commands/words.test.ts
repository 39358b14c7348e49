/** The messages for a person who mistypes, or gives the wrong file. */
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Progress } from '../../src/commands/cli.ts';
import { nearsky, sample, start, withDirectory } from '../e2e/support.ts';
import { isDeno } from '../runtime.ts';

const test = suite('commands/words');

test('the nearest command and option; help of a command; an option by its own name', async () => {
  const told: [string[], number, RegExp][] = [
    [['sevre'], 2, /unknown command "sevre": did you mean serve\?/],
    [['help', 'ingst'], 2, /unknown command "ingst": did you mean ingest\?/],
    [['frobnicate'], 2, /unknown command "frobnicate"\. Commands:/],
    [['serve', '--prot', '1'], 2, /Unknown option '--prot': did you mean --port\? Usage/],
    [['serve', '--port', 'abc'], 2, /--port must be an integer from 0 to 65535 \("abc" was given/],
    [['help', 'ingest'], 0, /^Usage: nearsky ingest --broker/],
  ];
  for (const [args, code, text] of told) {
    const { code: ended, stdout, stderr } = await start(args).finished;
    assert.is(ended, code, stderr);
    assert.match(code === 0 ? stdout : stderr, text);
    assert.not.match(stderr, /NEARSKY_PORT/);
  }
});

test('wholly wrong input is status 1, with the first reasons and whose messages they are; a missing file comes before any count', () =>
  withDirectory(async directory => {
    const data = join(directory, 'data');
    const ingest = (broker: string, ...files: string[]) =>
      start(['ingest', '--broker', broker, '--data', data, ...files]).finished;
    const others = await ingest('lasair', join(sample, 'alerts/pittgoogle.ndjson'));
    assert.is(others.code, 1);
    assert.match(
      others.stderr,
      /^nearsky ingest: nothing of .*pittgoogle\.ndjson can be used; it looks like messages of pittgoogle: give --broker pittgoogle\n.*:1: diaObjectId must be .*\n.*:2: .*\n.*:3: .*\nand 7 more\n$/,
    );
    assert.match(others.stdout, /^read +10\nnew objects +0\nrejected +10, see .*\n$/, 'no row of zeros');
    writeFileSync(join(directory, 'random'), Buffer.from(Array.from({ length: 500 }, (_, i) => (i * 7919 + 13) % 256)));
    const random = await ingest('antares', join(directory, 'random'));
    assert.equal(
      [
        random.code,
        /nothing of .*random can be used; --broker antares takes one JSON message a line/.test(random.stderr),
      ],
      [1, true],
    );
    const missing = await ingest('lasair', join(sample, 'alerts/lasair.ndjson'), join(directory, 'none'));
    assert.equal([missing.code, missing.stdout], [1, ''], 'nothing is begun');
    assert.match(
      missing.stderr,
      /Cannot read .*none because there is no such file or directory \(ENOENT\): give a file that can be read; nothing was done\n$/,
    );
    const some = await ingest('lasair', join(sample, 'alerts/lasair.ndjson'));
    assert.equal([some.code, /lasair\.ndjson:84: not JSON/.test(some.stderr)], [0, true]);
    writeFileSync(join(directory, 'empty'), '');
    const empty = await ingest('lasair', join(directory, 'empty'));
    assert.equal([empty.code, empty.stdout, /there is nothing in .*empty\n$/.test(empty.stderr)], [0, '', true]);
    const lines = join(directory, 'lines.ndjson');
    await nearsky('export', '--data', data, lines);
    const exported = await ingest('antares', lines);
    assert.match(
      exported.stderr,
      /^nearsky ingest: .*it looks like what nearsky export wrote: give it to nearsky import\n/,
    );
    const imported = await start(['import', '--data', data, join(sample, 'alerts/lasair.ndjson')]).finished;
    assert.match(imported.stderr, /nothing of .*lasair\.ndjson can be used; it takes what nearsky export wrote/);
    assert.match(imported.stdout, /^lines read +85\nrejected +85, see .*\n$/);
  }));

test('a data directory that cannot be made ends `serve` with the reason', async () => {
  // The system says ENOENT below it, though it is there: `mkdir -p` of the runtime would try for ever.
  if (process.platform !== 'linux') return;
  const { code, stderr } = await start(['serve', '--data', '/proc/nearsky/data', '--port', '0']).finished;
  assert.is(code, 1);
  // Deno's permissions refuse the path before the system does.
  assert.match(
    stderr,
    isDeno ? /\/proc/ : /Cannot make the data directory \/proc\/nearsky\/data because .*: give --data another/,
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

test('a data directory that is not there is an error, not an empty one, and none is made', () =>
  withDirectory(async directory => {
    for (const args of [['check'], ['crossmatch'], ['stats'], ['lookup', '1'], ['export'], ['catalog', 'list']]) {
      const { code, stdout, stderr } = await start([...args, '--data', join(directory, 'mistyped')]).finished;
      assert.equal([code, stdout], [1, ''], args.join(' '));
      assert.match(stderr, /Cannot open the data directory .*mistyped as nothing is stored there yet: run/);
    }
    assert.equal(readdirSync(directory), []);
  }));

test('progress has the share, the rate and the time that is left; without a total only the rate', async () => {
  const progress = new Progress();
  assert.is(progress.pace(1, 4, String), '25%', 'too early for a rate');
  await new Promise(resolve => setTimeout(resolve, 550));
  assert.match(
    progress.pace(100, 400, n => n.toFixed(0)),
    /^25%, \d+\/s, \d+ s left$/,
  );
  assert.match(
    progress.pace(100, 1_000_000, n => n.toFixed(0)),
    /^0%, \d+\/s, (\d+ h )?\d+ min( \d+ s)? left$/,
  );
  assert.match(
    progress.pace(100, undefined, n => n.toFixed(0)),
    /^\d+\/s$/,
  );
  assert.match(
    progress.pace(500, 400, n => n.toFixed(0)),
    /^100%, \d+\/s, 0 s left$/,
  );
});

test.run();
