/**
 * Deletes the folder of an optional capability, the folder of its tests and its two lines, and the same for those that
 * need it, in a copy of the checkout. The rest compiles, tests included, and passes its tests.
 *
 * TEST_WITHOUT says for which: `all` (with all remaining tests of `npm test`; hours), or names (`sky_map,vo+demo`: `+`
 * removes several at once). A number N takes the Nth of the list, which begins with all at once, with the tests in
 * `QUICK`, about 40 s on two cores: `.ci/run` chooses another one for each commit. By default it is the first.
 */
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { OPTIONAL } from '../../src/capabilities.ts';
import { root } from '../directory.ts';
import { copyWithout, withNeeding } from './without_capability.ts';

const test = suite('core/removed_capability');
const TSC = join(root, 'test/node_modules/.bin/tsc');

/** The tests that ask the most of capabilities. */
const QUICK = [
  'architecture',
  'core/contract/describe',
  'core/contract/doc',
  'core/http/added_catalog',
  'core/http/filters',
  'core/http/motion',
  'core/http/removed',
  'core/http/routing',
  'core/http/text_ids',
  'core/http/walk',
  'core/without_capability',
  'binary/program_files',
  'commands/config',
  'commands/terminal',
  'commands/words',
  'connector/protocol',
  'docs/contract',
  'docs/operations',
];

const asked = process.env.TEST_WITHOUT ?? '0';
const isNumber = /^\d+$/.test(asked);
const names = OPTIONAL.map(({ name }) => name);
const steps = [names.join('+'), ...names];
const chosen =
  asked === 'all' ? steps : isNumber ? [steps[Number(asked) % steps.length]!] : asked.split(',').filter(Boolean);

for (const name of chosen)
  test(name, () => {
    const removed = name.split('+');
    for (const each of removed) assert.ok(names.includes(each), `${each} is none of ${names}`);
    const gone = new Set(removed.flatMap(each => [...withNeeding(each)]));
    const directory = copyWithout(gone);
    const runs = (program: string, ...args: string[]) => {
      const { status, stdout, stderr } = spawnSync(program, args, { cwd: directory, encoding: 'utf8' });
      const said = `${stdout}${stderr}`;
      assert.is(status, 0, `without ${[...gone].join(', ')}:\n${said.replaceAll(/^ok .*\n/gm, '').slice(-20_000)}`);
    };
    try {
      runs(TSC, '--noEmit');
      runs(process.execPath, 'test/run.ts', '--layer', 'test', ...(isNumber ? QUICK : []));
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });

test.run();
