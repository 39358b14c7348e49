/** Where the single executable unpacks its files, and which directories it refuses. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { cacheDirectories, type Packed, UnpackError, unpack } from '../../src/binary/unpack.ts';
import { withDirectory } from '../directory.ts';
import { needs } from '../needs.ts';
import { runtimeArgs } from '../runtime.ts';

const FILES: Readonly<Record<string, string>> = {
  'package.json': '{}',
  'src/main.js': 'main',
  'src/deep/er/addon.node': '\x7fELF',
  empty: '',
};
const packed: Packed = {
  name: '1.0.0-abc',
  paths: Object.keys(FILES),
  read: path => Buffer.from(FILES[path]!),
};
const isRoot = process.getuid!() === 0;
const ownTemporary = join(tmpdir(), `nearsky-${process.getuid!()}`);

/** The files below the root: each file's contents by its path, and nothing else. */
function unpacked(root: string): Record<string, string> {
  const paths = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(path =>
    lstatSync(join(root, path)).isFile(),
  );
  return Object.fromEntries(paths.map(path => [path, readFileSync(join(root, path), 'utf8')]));
}

/** Deno's own links need leave to read and write everywhere. */
const makeLink = (target: string, path: string) => execFileSync('ln', ['-s', target, path]);

function refusal(directory: string): string {
  try {
    unpack(packed, [directory]);
  } catch (error) {
    assert.instance(error, UnpackError);
    return (error as Error).message;
  }
  throw new Error(`${directory} was not refused`);
}

const test = suite('binary/unpack');

test('the directory: what was set, else the XDG one, the home, the temporary one with the number of the user', () => {
  assert.equal(cacheDirectories({ NEARSKY_CACHE_DIR: '/c', XDG_CACHE_HOME: '/x', HOME: '/h' }), ['/c']);
  assert.equal(cacheDirectories({ XDG_CACHE_HOME: '/x', HOME: '/h' }), [
    '/x/nearsky',
    '/h/.cache/nearsky',
    ownTemporary,
  ]);
  assert.equal(cacheDirectories({ XDG_CACHE_HOME: 'x', HOME: '' }), [ownTemporary]);
  assert.equal(cacheDirectories({}), [ownTemporary]);
});

test('all files, for nobody else; what is whole is left alone, what is damaged or missing is put back', () =>
  withDirectory(async directory => {
    const cache = join(directory, 'not/there/yet');
    const root = unpack(packed, [cache]);
    assert.is(root, join(cache, packed.name));
    assert.equal(unpacked(root), FILES);
    for (const path of ['.', 'src', 'src/deep/er', 'src/main.js', 'src/deep/er/addon.node', 'empty'])
      assert.is(statSync(join(root, path)).mode & 0o077, 0, path);

    const inode = statSync(join(root, 'src/main.js')).ino;
    writeFileSync(join(root, 'package.json'), '[]');
    rmSync(join(root, 'src/deep'), { recursive: true });
    rmSync(join(root, 'empty'));
    makeLink(join(root, 'src/main.js'), join(root, 'empty'));
    assert.is(unpack(packed, [cache]), root);
    assert.equal(unpacked(root), FILES);
    assert.is(statSync(join(root, 'src/main.js')).ino, inode, 'the same file as before');
    chmodSync(join(root, 'src/main.js'), 0o666);
    unpack(packed, [cache]);
    assert.is(statSync(join(root, 'src/main.js')).mode & 0o077, 0, 'others might have changed it');
  }));

test('the next directory where one cannot be used; an error with all reasons where none can', () =>
  withDirectory(async directory => {
    const [file, cache] = [join(directory, 'file'), join(directory, 'cache')];
    writeFileSync(file, '');
    assert.is(unpack(packed, [join(file, 'nearsky'), file, cache]), join(cache, packed.name));
    const message = refusal(file);
    assert.ok(message.includes(`${file} (${file} is not a directory)`), message);
    assert.ok(message.includes('set NEARSKY_CACHE_DIR'), message);
  }));

test('a directory that others could have filled is refused', () =>
  withDirectory(async directory => {
    const [real, link, open] = ['real', 'link', 'open'].map(name => join(directory, name)) as [string, string, string];
    mkdirSync(real);
    makeLink(real, link);
    assert.match(refusal(link), 'is a symbolic link');
    assert.equal(readdirSync(real), []);
    mkdirSync(open);
    chmodSync(open, 0o770);
    assert.match(refusal(open), 'others may write to');
    // The same is true below it.
    const root = unpack(packed, [real]);
    rmSync(join(root, 'src'), { recursive: true });
    makeLink(open, join(root, 'src'));
    assert.match(refusal(real), 'is a symbolic link');
    assert.equal(readdirSync(open), []);
  }));

needs(test, isRoot ? undefined : 'only root can make one')('a directory of another user is refused', () =>
  withDirectory(async directory => {
    const cache = join(directory, 'cache');
    mkdirSync(cache);
    chownSync(cache, 65534, 65534);
    assert.match(refusal(cache), 'belongs to user 65534');
    assert.not.ok(existsSync(join(cache, packed.name)));
  }),
);

test('several processes at once', () =>
  withDirectory(async directory => {
    const module = new URL('../../src/binary/unpack.ts', import.meta.url).href;
    const script = join(directory, 'unpack.mjs');
    const cache = join(directory, 'cache');
    writeFileSync(
      script,
      `import { unpack } from ${JSON.stringify(module)};
       const files = ${JSON.stringify(FILES)};
       const packed = { name: 'name', paths: Object.keys(files), read: path => Buffer.from(files[path]) };
       for (let i = 0; i < 50; i++) unpack(packed, [${JSON.stringify(cache)} + i]);`,
    );
    const children = [1, 2, 3].map(() => spawn(process.execPath, [...runtimeArgs, script], { stdio: 'inherit' }));
    const codes = await Promise.all(children.map(async child => (await once(child, 'close'))[0]));
    assert.equal(codes, [0, 0, 0]);
    for (let i = 0; i < 50; i++) assert.equal(unpacked(join(cache + i, 'name')), FILES);
  }));

test.run();
