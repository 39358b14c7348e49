/** Only one file locates the program's files, because they are elsewhere in the single executable. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { programFile, programModule } from '../../src/base/program_files.ts';
import { root } from '../directory.ts';

/** Files that are never part of the executable may determine their own location. */
const MAY_ASK = ['src/base/program_files.ts', 'src/binary/bundle.ts', 'src/binary/build.ts'];

const test = suite('binary/program_files');

test('names files and modules from the root of the checkout', () => {
  assert.is(programFile('package.json'), join(root, 'package.json'));
  assert.is(fileURLToPath(programModule('workers/task')), join(root, 'workers/task.ts'));
});

test('no other module asks where it is; every file and module that is named exists', () => {
  const asking: string[] = [];
  const named: string[] = [];
  for (const path of globSync('{src,workers,index,packages}/**/*.ts', { cwd: root }).sort()) {
    const text = readFileSync(join(root, path), 'utf8');
    if (/import\.meta\.(url|dirname|filename|resolve)/.test(text)) asking.push(path);
    named.push(...[...text.matchAll(/programFile\('([^']*)'\)/g)].map(([, file]) => file!));
    named.push(...[...text.matchAll(/programModule\('([^']*)'\)/g)].map(([, module]) => `${module}.ts`));
  }
  assert.equal(asking, [...MAY_ASK].sort());
  assert.ok(named.length >= 7);
  for (const file of named) assert.ok(existsSync(join(root, file)), file);
});

test.run();
