import { execFileSync } from 'node:child_process';
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { root, version, withDirectory } from '../directory.ts';

const test = suite('install/compile_cache');

const start = (cache: string) =>
  execFileSync(process.execPath, [join(root, 'bin/nearsky.cjs'), '--version'], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, XDG_CACHE_HOME: cache },
  });

test('compiled code is kept in a directory of the user; without one the program starts, too', () =>
  withDirectory(async directory => {
    const caches = join(directory, 'caches');
    assert.is(start(caches), `nearsky ${version}\n`);
    assert.is(statSync(join(caches, 'nearsky')).mode & 0o777, 0o700);
    assert.ok(readdirSync(join(caches, 'nearsky/compiled'), { recursive: true }).length > 10);
    assert.is(start(caches), `nearsky ${version}\n`);
    const file = join(directory, 'file');
    writeFileSync(file, '');
    assert.is(start(file), `nearsky ${version}\n`);
  }));

test.run();
