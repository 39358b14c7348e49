/** Without the folder of an optional capability, and its two lines, the rest compiles; so without those that need it. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { OPTIONAL } from '../../src/capabilities.ts';
import { withNeeding } from './without_capability.ts';

const test = suite('core/compiled_without');
const root = fileURLToPath(new URL('../..', import.meta.url));
const TSC = join(root, 'test/node_modules/.bin/tsc');
const LIST = 'src/capabilities.ts';

/** A copy of the program without these capabilities. */
function copyWithout(gone: ReadonlySet<string>): string {
  const directory = mkdtempSync(join(tmpdir(), 'nearsky-without-'));
  for (const part of ['src', 'index', 'packages', 'workers', 'package.json', 'tsconfig.json'])
    cpSync(join(root, part), join(directory, part), { recursive: true, verbatimSymlinks: true });
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'));
  let list = readFileSync(join(directory, LIST), 'utf8');
  for (const name of gone) {
    rmSync(join(directory, 'src/capabilities', name), { recursive: true });
    const line = new RegExp(`^import \\{ (\\w+) \\} from '\\./capabilities/${name}/mod\\.ts';\\n`, 'm');
    const [, constant] = line.exec(list)!;
    list = list.replace(line, '').replace(new RegExp(`\\b${constant}(,\\s*|(?=\\]))`), '');
    assert.not.match(list, new RegExp(`\\b${constant}\\b`));
  }
  writeFileSync(join(directory, LIST), list);
  return directory;
}

for (const { name } of OPTIONAL) {
  test(name, () => {
    const gone = withNeeding(name);
    const directory = copyWithout(gone);
    try {
      const config = join(directory, 'tsconfig.rest.json');
      writeFileSync(config, JSON.stringify({ extends: './tsconfig.json', include: ['src', 'workers'] }));
      const { status, stdout } = spawnSync(TSC, ['--noEmit', '-p', config], { encoding: 'utf8' });
      assert.is(status, 0, `without ${[...gone].join(', ')}: ${stdout.slice(0, 2000)}`);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });
}

test.run();
