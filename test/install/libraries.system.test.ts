/** JSR would take each library that stands for itself: from its files alone, with types that need no inference. */
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { root } from '../directory.ts';
import { needs } from '../needs.ts';
import { deno } from '../runtime.ts';

const test = suite('install/libraries');
const withDeno = needs(test, existsSync(deno) ? undefined : `there is no ${deno}`);
const { workspaces } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

for (const directory of globSync(workspaces as string[], { cwd: root }).sort())
  withDeno(`JSR would take ${directory}`, () => {
    const cache = mkdtempSync(join(tmpdir(), 'nearsky-jsr-'));
    try {
      const env = { PATH: process.env.PATH, DENO_DIR: cache, NO_COLOR: '1' };
      const args = ['publish', '--dry-run', '--allow-dirty'];
      const { status, stderr } = spawnSync(deno, args, { cwd: join(root, directory), env, encoding: 'utf8' });
      assert.is(status, 0, stderr);
      for (const name of ['mod.ts', 'README.md', 'deno.json']) assert.match(stderr, `/${name} (`);
      assert.not.match(stderr, '.test.ts');
    } finally {
      rmSync(cache, { recursive: true, force: true });
    }
  });

test.run();
