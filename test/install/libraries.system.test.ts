/** JSR would take each library that stands for itself: from its files alone, with types that need no inference. */
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { root } from '../directory.ts';
import { needs } from '../needs.ts';
import { deno } from '../runtime.ts';

const test = suite<{ output: string }>('install/libraries');
const obstacle = existsSync(deno) ? undefined : `there is no ${deno}`;
const withDeno = needs(test, obstacle);
const { workspaces } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

// Checks all libraries at once, because loading the compiler takes most of the time.
test.before(context => {
  if (obstacle) return;
  const cache = mkdtempSync(join(tmpdir(), 'nearsky-jsr-'));
  try {
    const env = { PATH: process.env.PATH, DENO_DIR: cache, NO_COLOR: '1' };
    const args = ['publish', '--dry-run', '--allow-dirty'];
    const { status, stderr } = spawnSync(deno, args, { cwd: root, env, encoding: 'utf8' });
    assert.is(status, 0, stderr);
    context.output = stderr;
  } finally {
    rmSync(cache, { recursive: true, force: true });
  }
});

for (const directory of globSync(workspaces as string[], { cwd: root }).sort())
  withDeno(`JSR would take ${directory}`, ({ output }) => {
    const { name, version } = JSON.parse(readFileSync(join(root, directory, 'deno.json'), 'utf8'));
    const [, listed] = output.split(`Simulating publish of ${name}@${version} with files:\n`);
    assert.ok(listed, output);
    const lines = listed
      .split(/^Simulating|^Success/m, 1)[0]!
      .trim()
      .split('\n');
    for (const line of lines) assert.match(line, `${pathToFileURL(join(root, directory))}/`);
    for (const name of ['mod.ts', 'README.md', 'deno.json'])
      assert.ok(
        lines.some(line => line.includes(`/${name} (`)),
        name,
      );
    for (const line of lines) assert.not.match(line, '.test.ts');
  });

test.run();
