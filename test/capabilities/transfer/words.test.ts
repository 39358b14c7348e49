/** The messages for a user who gives the wrong file or directory. */
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { nearsky, start } from '../../commands/in_process.ts';
import { sample, withDirectory } from '../../directory.ts';

const test = suite('transfer/words');

test('the file of the other command is recognised', () =>
  withDirectory(async directory => {
    const data = join(directory, 'data');
    const ingest = (broker: string, file: string) =>
      start(['ingest', '--broker', broker, '--data', data, file]).finished;
    await ingest('lasair', join(sample, 'alerts/lasair.ndjson'));
    const lines = join(directory, 'lines.ndjson');
    await nearsky('export', '--data', data, lines);
    const exported = await ingest('antares', lines);
    assert.match(
      exported.stderr,
      /^nearsky ingest: .*it looks like the output of nearsky export: use nearsky import\n/,
    );
    const imported = await start(['import', '--data', data, join(sample, 'alerts/lasair.ndjson')]).finished;
    assert.match(imported.stderr, /no line of .*lasair\.ndjson can be used; import reads the output of nearsky export/);
    assert.match(imported.stdout, /^lines read +85\nrejected +85, see .*\n$/);
  }));

test('no data directory is made, and what a line quotes cannot control the terminal', () =>
  withDirectory(async directory => {
    const { code, stdout, stderr } = await start(['export', '--data', join(directory, 'mistyped')]).finished;
    assert.equal([code, stdout], [1, '']);
    assert.match(stderr, /Cannot open the data directory .*mistyped because nothing is stored there yet: run/);
    assert.equal(readdirSync(directory), []);
    const lines = join(directory, 'lines');
    writeFileSync(lines, `${JSON.stringify({ type: '\u001b[2J\u009b2J\u202e' })}\n`);
    const told = await start(['import', lines, '--data', join(directory, 'data')]).finished;
    assert.not.match(told.stdout + told.stderr, /[^\P{Cc}\n]|\p{Bidi_Control}/u);
    assert.match(told.stderr, /\\u001b/);
  }));

test.run();
