/** The commands `ingest` and `stats` and what all commands share, as a user runs them. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { BROKER_NAMES } from '../../src/core/contract/brokers.ts';
import { openStore } from '../../src/core/store/store.ts';
import { startScript } from '../core/store/script.ts';
import { eventually, nearsky, start, withDirectory } from '../e2e/support.ts';

const test = suite('commands/ingest');

const lasair = (id: bigint, more = '') => `{"diaObjectId": ${id}, "ra": 10.5, "decl": -20.25, "latestR": 0.75${more}}`;
const FIRST_ID = 170_055_002_004_914_266n;

function idsIn(data: string): bigint[] {
  const store = openStore(data, 'read');
  const ids = [...store.objects()].map(object => object.diaObjectId);
  void store.close();
  return ids;
}

test('counts what it stores, keeps what it rejects, and does nothing twice', () =>
  withDirectory(async directory => {
    const data = join(directory, 'data');
    const file = join(directory, 'messages.ndjson');
    const lines = [
      lasair(FIRST_ID),
      '',
      lasair(FIRST_ID + 1n, ', "x": NaN, "firstDiaSourceMjdTai": 61029.346'),
      '{"diaObjectId": 1e5}',
      '  ',
      lasair(FIRST_ID),
      '{"a"',
    ];
    writeFileSync(file, lines.join('\r\n'));
    const { rejects_file: rejectsFile, ...counts } = await nearsky(
      'ingest',
      '--broker',
      'lasair',
      '--data',
      data,
      file,
    );
    assert.equal(counts, {
      read: 5,
      stored: 2,
      further_broker: 0,
      duplicate: 1,
      below_cut: 0,
      skipped: 0,
      rejected: 2,
      without_position: 0,
      without_event_time: 2,
      blank_lines: 2,
    });
    assert.equal(idsIn(data), [FIRST_ID, FIRST_ID + 1n]);
    const rejected = readFileSync(String(rejectsFile), 'utf8')
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line));
    assert.ok(String(rejectsFile).startsWith(join(data, 'rejected', 'lasair-')));
    assert.equal(
      rejected.map(({ file, line, message }) => [file, line, message.trim()]),
      [
        [file, 4, '{"diaObjectId": 1e5}'],
        [file, 7, '{"a"'],
      ],
    );
    assert.match(rejected[0].reason, 'diaObjectId must be an integer');
    assert.match(rejected[1].reason, 'not JSON');

    const again = await nearsky('ingest', '--broker', 'lasair', '--data', data, file);
    assert.equal([again.stored, again.duplicate, again.rejected], [0, 3, 2]);
    const alert = `{"lsst_diaObject_diaObjectId": ${FIRST_ID}, "ant_time_received": 1772010265}`;
    writeFileSync(file, gzipSync(alert));
    const further = await nearsky('ingest', '--broker', 'antares', '--data', data, file);
    assert.equal([further.read, further.further_broker, further.rejects_file], [1, 1, null]);
    const stats = await nearsky('stats', '--data', data);
    assert.equal([stats.objects, stats.journalEntries], [2, 2]);
  }));

test('a cut that is set in the environment is the one that counts', () =>
  withDirectory(async directory => {
    const file = join(directory, 'messages.ndjson');
    writeFileSync(file, '{"diaObject": {"diaObjectId": 5}, "diaSource": {"reliability": 0.7}}');
    const args = ['ingest', '--broker', 'pittgoogle', '--data', join(directory, 'data'), '--json', file];
    const strict = await start(args, { MIN_DIASOURCE_RELIABILITY: '0.71' }).finished;
    assert.is(JSON.parse(strict.stdout).below_cut, 1);
    assert.is(strict.stderr, '', 'the position of a message that is not stored is not judged');
    const { stdout, stderr } = await start(args, { MIN_DIASOURCE_RELIABILITY: '0.7' }).finished;
    assert.is(JSON.parse(stdout).stored, 1);
    assert.match(stderr, /no message of .* has a usable position/);
  }));

test('what stands before a damage is stored, and the exit status is 1', () =>
  withDirectory(async directory => {
    const data = join(directory, 'data');
    const [good, cut] = [join(directory, 'good.ndjson'), join(directory, 'cut.gz')];
    writeFileSync(good, lasair(1n));
    writeFileSync(
      cut,
      gzipSync(Array.from({ length: 20_000 }, (_, i) => lasair(BigInt(i) * 7_919_113n)).join('\n')).subarray(0, -2000),
    );
    const { code, stdout, stderr } = await start([
      'ingest',
      '--broker',
      'lasair',
      '--data',
      data,
      '--json',
      good,
      cut,
      good,
    ]).finished;
    assert.is(code, 1);
    assert.match(stderr, /^nearsky ingest: Cannot read .*cut\.gz because unexpected end of file: .*\n$(?!\n)/m);
    const counts = JSON.parse(stdout);
    assert.ok(counts.read > 10_000);
    assert.is(idsIn(data).length, counts.stored);
  }));

test('from standard input a batch is durable before the input ends', () =>
  withDirectory(async directory => {
    const data = join(directory, 'data');
    const args = ['ingest', '--broker', 'lasair', '--data', data, '--json', '-'];
    const { child, ended } = startScript(new URL('../../src/main.ts', import.meta.url), args, { stdin: 'pipe' });
    try {
      child.stdin!.write(`${lasair(FIRST_ID)}\n${lasair(FIRST_ID + 1n)}\n{"diaObjectId": 12`);
      await eventually('the two whole lines are stored', async () => {
        if (!existsSync(join(data, 'nearsky.mdb'))) return undefined;
        try {
          return idsIn(data).length === 2 || undefined;
        } catch {
          return undefined; // It is being created.
        }
      });
      child.stdin!.end('3}');
      const { code, output } = await ended;
      assert.equal([code, JSON.parse(output).stored], [0, 3]);
    } finally {
      child.kill('SIGKILL'); // If a check failed, it would wait for its input forever.
    }
    assert.equal(idsIn(data), [123n, FIRST_ID, FIRST_ID + 1n]);
  }));

test('a wrong command line is status 2 and one line that says why', async () => {
  const wrong: [string[], RegExp][] = [
    [[], /no command given.*nearsky --help/],
    [['frobnicate'], /unknown command "frobnicate"/],
    [['ingest', 'file'], new RegExp(`--broker must be one of ${BROKER_NAMES.join(', ')}`)],
    [['ingest', '--broker', 'ztf', 'file'], /ztf was given/],
    [['ingest', '--broker', 'lasair'], /no file given/],
    [['ingest', '--broker', 'lasair', '--frob', 'file'], /Unknown option '--frob'/],
    [['ingest', '--broker', 'lasair', '--ra', 'x', 'file'], /--ra needs --table/],
    [['catalog', 'check', 'gaia_dr3', '--quick'], /catalog check takes no --quick/],
    [['catalog', 'list', '--within', '1'], /catalog list takes no --within/],
    [['catalog', 'shift', '--within', '1'], /catalog needs add, replace/],
    [['stats', 'file'], /stats takes no arguments/],
    [['stats', '--config', '/no/such/file'], /Cannot read the configuration file/],
  ];
  for (const [args, message] of wrong) {
    const { code, stdout, stderr } = await start(args).finished;
    assert.is(code, 2, args.join(' '));
    assert.is(stdout, '');
    assert.match(stderr, message);
    assert.is(stderr.trimEnd().split('\n').length, 1);
  }
  const { code, stderr } = await start(['stats'], { NEARSKY_PORT: 'x' }).finished;
  assert.equal([code, /NEARSKY_PORT must be an integer/.test(stderr)], [2, true]);
});

test('what fails is status 1; help and version are 0', () =>
  withDirectory(async directory => {
    const failed = await start(['stats', '--data', join(directory, 'none')]).finished;
    assert.equal([failed.code, failed.stdout], [1, '']);
    assert.match(failed.stderr, /nothing is stored there yet/);
    const help = await start(['ingest', '--help']).finished;
    assert.is(help.code, 0);
    for (const text of ['Usage: nearsky ingest', '--broker NAME', '--data DIR', 'NEARSKY_DATA', 'Example:'])
      assert.match(help.stdout, text);
    const all = await start(['--help']).finished;
    assert.equal([all.code, /ingest .*messages/.test(all.stdout)], [0, true]);
    assert.match((await start(['--version']).finished).stdout, /^nearsky \d+\.\d+\.\d+\n$/);
  }));

test.run();
