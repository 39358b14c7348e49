/** The messages for a user who mistypes, or gives the wrong file. */
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { COMMANDS } from '../../src/commands/table.ts';
import { commandHelp, Progress } from '../../src/core/cli/command.ts';
import { sample, withDirectory } from '../directory.ts';
import { start } from './in_process.ts';

const test = suite('commands/words');

test('the nearest command and option; help of a command; an option by its own name', async () => {
  const told: [string[], number, RegExp][] = [
    [['sevre'], 2, /unknown command "sevre": did you mean serve\?/],
    [['help', 'ingst'], 2, /unknown command "ingst": did you mean ingest\?/],
    [['frobnicate'], 2, /unknown command "frobnicate"\. Commands:/],
    [['serve', '--prot', '1'], 2, /Unknown option '--prot': did you mean --port\? Usage/],
    [['serve', '--port', 'abc'], 2, /--port must be an integer from 0 to 65535 \("abc" was given/],
    [['stats', '--data', 'a', '--json', '--data=b'], 2, /--data is given twice\. Usage: nearsky stats/],
    [['stats', '--json', '--json', '--help'], 0, /^Usage: nearsky stats/],
    [['help', 'ingest'], 0, /^Usage: nearsky ingest --broker/],
  ];
  for (const [args, code, text] of told) {
    const { code: ended, stdout, stderr } = await start(args).finished;
    assert.is(ended, code, stderr);
    assert.match(code === 0 ? stdout : stderr, text);
    assert.not.match(stderr, /NEARSKY_PORT/);
  }
});

test('wholly wrong input is status 3, with the first reasons and whose messages they are; a missing file comes before any count', () =>
  withDirectory(async directory => {
    const data = join(directory, 'data');
    const ingest = (broker: string, ...files: string[]) =>
      start(['ingest', '--broker', broker, '--data', data, ...files]).finished;
    const others = await ingest('lasair', join(sample, 'alerts/pittgoogle.ndjson'));
    assert.is(others.code, 3);
    assert.match(
      others.stderr,
      /^nearsky ingest: no message of .*pittgoogle\.ndjson can be used; it looks like messages of pittgoogle: use --broker pittgoogle\n.*:1: diaObjectId must be .*\n.*:2: .*\n.*:3: .*\nand 7 more\n$/,
    );
    assert.match(others.stdout, /^read +10\nnew objects +0\nrejected +10, see .*\n$/, 'no row of zeros');
    writeFileSync(join(directory, 'random'), Buffer.from(Array.from({ length: 500 }, (_, i) => (i * 7919 + 13) % 256)));
    const random = await ingest('antares', join(directory, 'random'));
    assert.equal(
      [
        random.code,
        /no message of .*random can be used; --broker antares reads one JSON message per line/.test(random.stderr),
      ],
      [3, true],
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
    assert.equal([empty.code, empty.stdout, /ingest: .*empty is empty\n$/.test(empty.stderr)], [0, '', true]);
  }));

test('a data directory that is not there is an error, not an empty one, and none is made', () =>
  withDirectory(async directory => {
    for (const args of [['check'], ['crossmatch'], ['stats'], ['lookup', '1'], ['catalog', 'list']]) {
      const { code, stdout, stderr } = await start([...args, '--data', join(directory, 'mistyped')]).finished;
      assert.equal([code, stdout], [1, ''], args.join(' '));
      assert.match(stderr, /Cannot open the data directory .*mistyped because nothing is stored there yet: run/);
    }
    assert.equal(readdirSync(directory), []);
  }));

test('help is at most 100 columns wide, and has every word of the descriptions', async () => {
  const { stdout: help } = await start(['--help']).finished;
  for (const [name, { load }] of COMMANDS) {
    assert.match(help, new RegExp(`^  ${name} `, 'm'));
    const { command } = await load();
    const text = commandHelp(command);
    const words = (each: string) => each.split(/\s+/).filter(word => word !== '');
    for (const line of text.split('\n')) assert.ok(line.length <= 100, `${name}: ${line}`);
    assert.ok(words(text).join(' ').includes(words(command.description).join(' ')), name);
    for (const { help: said } of Object.values(command.options))
      assert.ok(words(text).join(' ').includes(words(said).join(' ')), said);
  }
  for (const line of help.split('\n')) assert.ok(line.length <= 100, line);
  assert.match((await start(['catalog', '--help']).finished).stdout, /\n {7}nearsky catalog list\n/);
});

test('a rejected message is shown from its beginning, so that the bad line of the sample explains itself', () =>
  withDirectory(async directory => {
    const file = join(sample, 'alerts/lasair.ndjson');
    const { stderr } = await start(['ingest', '--broker', 'lasair', '--data', join(directory, 'data'), file]).finished;
    assert.match(stderr, /lasair\.ndjson:84: not JSON: .*: \{.*"nearsky_sample":"made: cut off inside the line"/);
  }));

test('the last line of progress is true: it says how far the work has come in the end', async () => {
  const told: string[] = [];
  const { write } = process.stderr;
  process.stderr.write = (text: string | Uint8Array) => told.push(`${text}`) > 0;
  const { now } = performance;
  try {
    const quick = new Progress();
    quick.update(() => '1 of 9');
    quick.end();
    const slow = new Progress();
    performance.now = () => now.call(performance) + 6000;
    let done = 3;
    slow.update(() => `${done} of 9`);
    done = 5;
    slow.update(() => `${done} of 9`);
    done = 9;
    slow.end();
    slow.end();
  } finally {
    process.stderr.write = write;
    performance.now = now;
  }
  assert.equal(told, ['3 of 9\n', '9 of 9\n']);
});

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
