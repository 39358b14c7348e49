/** Neither the contents nor the name of a file can control the terminal on which a command mentions it. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { printable } from '../../src/core/base/error_text.ts';
import { withDirectory } from '../directory.ts';
import { start } from './in_process.ts';

const test = suite('commands/terminal');

/** A title, a clearing of the screen in both ways to write its beginning, and an override of the direction of text. */
const STEERING = '\u001b]0;title\u0007\u001b[2J\u009b2J\u202e\u007f';
const SHOWN = '\\u001b]0;title\\u0007\\u001b[2J\\u009b2J\\u202e\\u007f';

test('control characters are shown as JSON writes them, so that a document stays what it is', () => {
  assert.is(printable(`a\n${STEERING}ü€𝄞`), `a\n${SHOWN}ü€𝄞`);
  assert.is(JSON.parse(printable(JSON.stringify({ text: `\n${STEERING}` }))).text, `\n${STEERING}`);
});

test('messages that quote a file or its name', () =>
  withDirectory(async directory => {
    const file = (name: string, text: string) => {
      const path = join(directory, name);
      writeFileSync(path, text);
      return path;
    };
    const hats = join(directory, 'hats');
    mkdirSync(hats);
    writeFileSync(join(hats, 'hats.properties'), `dataproduct_type=${STEERING}\n`);
    writeFileSync(join(hats, 'properties'), `dataproduct_type=${STEERING}\n`);
    const messages = file('messages', `{"diaObjectId": "${STEERING.replaceAll('\u001b', '\\u001b')}"}\n`);
    const named = file(`m${STEERING}`, '{}\n');
    const registry = file('registry.csv', `"${STEERING}"\n"objid"\n`);
    const config = file('config', `{"${STEERING.replaceAll(/\p{Cc}/gu, '')}\\u001b[2J": 1}`);
    const commands: [args: string[], isQuoted: boolean][] = [
      [['ingest', '--broker', 'lasair', messages], false],
      [['ingest', '--broker', 'lasair', named], true],
      [['catalog', 'add', 'gaia_dr3', hats], true],
      [['tns', 'load', registry], false],
      [['stats', '--config', config], true],
      [[STEERING], true],
    ];
    for (const [args, isQuoted] of commands) {
      const data = args.length > 1 ? ['--data', join(directory, 'data')] : [];
      const { stdout, stderr } = await start([...args, ...data]).finished;
      const told = stdout + stderr;
      assert.not.match(told, /[^\P{Cc}\n]|\p{Bidi_Control}/u, `${args[0]}: ${JSON.stringify(told)}`);
      if (isQuoted) assert.match(told, /\\u001b/, `${args[0]}: ${told}`);
    }
  }));

test.run();
