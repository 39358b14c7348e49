/** The libraries that stand for themselves, as workspaces of npm and Deno: what they import, and the example with which each README begins. */
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { join, normalize } from 'node:path';
import { pathToFileURL } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { root } from './directory.ts';

const test = suite('libraries');
const json = (path: string) => JSON.parse(readFileSync(join(root, path), 'utf8'));
const { workspaces, dependencies } = json('package.json');
const directories = globSync(workspaces as string[], { cwd: root }).sort();

test('npm and Deno know the same libraries, by the same names', () => {
  assert.ok(directories.length > 0);
  const ofDeno = (json('deno.json').workspace as string[]).map(path => normalize(path)).sort();
  // Deno warns of a folder with a package.json that is no member.
  assert.equal(ofDeno, [...directories, 'test']);
  for (const directory of directories) {
    const { name, version, license, exports, private: isPrivate } = json(`${directory}/package.json`);
    assert.equal(json(`${directory}/deno.json`), { name, version, license, exports });
    // npm would publish types that Node does not strip; JSR takes them.
    assert.is(isPrivate, true);
    const entries: Record<string, string> = typeof exports === 'string' ? { '.': exports } : exports;
    for (const [entry, file] of Object.entries(entries))
      assert.is(import.meta.resolve(name + entry.slice(1)), pathToFileURL(join(root, directory, file)).href);
  }
});

test('a library imports its own files, its dependencies and what is built in', () => {
  const strangers: string[] = [];
  for (const directory of directories) {
    const own: Record<string, string> = json(`${directory}/package.json`).dependencies ?? {};
    for (const [name, version] of Object.entries(own)) {
      const ofLibrary = directories.find(other => json(`${other}/package.json`).name === name);
      const expected = ofLibrary ? json(`${ofLibrary}/package.json`).version : dependencies[name];
      assert.is(version, expected, `${directory}: ${name}`);
    }
    for (const file of globSync(`${directory}/**/*.ts`, { cwd: root })) {
      const text = readFileSync(join(root, file), 'utf8');
      for (const [, from] of text.matchAll(/(?:\bfrom|\bimport\(|^import)\s*'([^']+)'/gm)) {
        const isOwn = from!.startsWith('.') && join(file, '..', from!).startsWith(`${directory}/`);
        const isListed = Object.keys(own).some(name => from === name || from!.startsWith(`${name}/`));
        if (!isOwn && !isListed && !isBuiltin(from!)) strangers.push(`${file}: ${from}`);
      }
      // Messages and comments, too, never mention a particular user of the library.
      if (/nearsky/i.test(text.replaceAll(/'@nearsky\/[\w/-]+'/g, ''))) strangers.push(`${file} names nearsky`);
    }
  }
  assert.equal(strangers, []);
});

/** The last bits of a sine differ between Node and Deno. */
const rounded = (text: string) => text.replaceAll(/\d+\.\d{9,}/g, digits => Number(digits).toFixed(9));

for (const directory of directories)
  test(`the example of ${directory}/README.md prints what it says`, async () => {
    const readme = readFileSync(join(root, directory, 'README.md'), 'utf8');
    const [, example, expected] = /^# [^`]*```ts\n([\s\S]*?)^```$[\s\S]*?^```text\n([\s\S]*?)^```$/m.exec(readme)!;
    const { name } = json(`${directory}/package.json`);
    assert.match(example!, `from '${name}'`);
    const place = mkdtempSync(join(tmpdir(), 'nearsky-example-'));
    const { log } = console;
    const printed: string[] = [];
    try {
      const file = join(place, 'example.mts');
      writeFileSync(
        file,
        example!.replaceAll(/ from '(@nearsky\/[^']+)'/g, (_, of) => ` from '${import.meta.resolve(of)}'`),
      );
      console.log = (...words) => printed.push(`${words.join(' ')}\n`);
      await import(pathToFileURL(file).href);
    } finally {
      console.log = log;
      rmSync(place, { recursive: true, force: true });
    }
    assert.is(rounded(printed.join('')), rounded(expected!));
  });

test.run();
