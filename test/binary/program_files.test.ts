/** Only one file locates the program's files, because they are elsewhere in the single executable. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { CAPABILITIES } from '../../src/capabilities.ts';
import { programFile, programModule } from '../../src/core/base/program_files.ts';
import { root } from '../directory.ts';

/** Files that are never part of the executable may determine their own location. */
const MAY_ASK = ['src/core/base/program_files.ts', 'src/binary/bundle.ts', 'src/binary/build.ts'];

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
    const modules = text.matchAll(/(?:programModule\(|processProgram\()'([^']*)'/g);
    named.push(...[...modules].map(([, module]) => `${module}.ts`));
  }
  assert.equal(asking, [...MAY_ASK].sort());
  assert.ok(named.length >= 7);
  for (const file of named) assert.ok(existsSync(join(root, file)), file);
});

test('the module that a task names exports the function that runs it', () => {
  const named = CAPABILITIES.flatMap(({ duties = [] }) => duties.map(({ module }) => `${module}.ts: OnDuty`));
  const exported: string[] = [];
  for (const path of globSync('src/**/*.ts', { cwd: root })) {
    const text = readFileSync(join(root, path), 'utf8');
    for (const [, name, module] of text.matchAll(
      /export interface (\w+) extends Task<[^{]*\{\s+readonly module: '(.*)'/g,
    ))
      named.push(`${module}.ts: ${name}`);
    // The executable and the npm package find the modules by this line.
    const [, names = ''] = /\nexport const tasks: Tasks<(.*?)> = /.exec(text) ?? [];
    exported.push(...names.split(' | ').flatMap(name => (name ? `${path}: ${name}` : [])));
  }
  assert.equal(exported.sort(), named.sort());
  assert.ok(named.length >= 5);
});

test.run();
