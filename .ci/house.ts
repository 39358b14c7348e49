/**
 * Counts what somebody has to read: `node .ci/house.ts [FILE]`. Prints the files and lines that FILE reaches by its imports
 * (types included; by default the cone search), and those of the core, with what it uses of the libraries.
 */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { OPTIONAL } from '../src/capabilities.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const text = (file: string) => readFileSync(join(root, file), 'utf8');

function importsOf(file: string): string[] {
  const found = text(file).matchAll(/(?:\bfrom|(?<!")\bimport\(|^import)\s*'((?:\.{1,2}|@nearsky)\/[^']+)'/gm);
  return [...found].map(([, path]) =>
    path!.startsWith('.')
      ? normalize(join(dirname(file), path!))
      : fileURLToPath(import.meta.resolve(path!)).slice(root.length),
  );
}

function reachedBy(files: readonly string[]): readonly string[] {
  const reached = new Set(files);
  for (const file of reached) for (const imported of importsOf(file)) reached.add(imported);
  return [...reached];
}

const lines = (files: readonly string[]) => files.reduce((sum, file) => sum + text(file).split('\n').length - 1, 0);
const size = (files: readonly string[]) => `${files.length} files, ${lines(files).toLocaleString('en')} lines`;
const roomOf = (file: string) => /^(?:src\/(?:core|capabilities)|packages)\/\w+|^\w+/.exec(file)![0];

const [file = 'src/capabilities/objects/cone_search.ts'] = process.argv.slice(2);
const reached = reachedBy([normalize(file)]);
const optional = OPTIONAL.map(({ name }) => `src/capabilities/${name}`).filter(room =>
  reached.map(roomOf).includes(room),
);
const core = globSync('src/core/**/*.{ts,js}', { cwd: root });
const libraries = reachedBy(core).filter(each => !each.startsWith('src/'));

console.log(`${file} reaches ${size(reached)}; optional capabilities among them: ${optional.join(', ') || 'none'}`);
for (const [room, files] of [...Map.groupBy(reached, roomOf)].sort((a, b) => lines(b[1]) - lines(a[1])))
  console.log(`  ${room.padEnd(32)} ${size(files)}`);
console.log(`src/core: ${size(core)}; with what it reaches of libraries: ${size([...core, ...libraries])}`);
for (const [room, files] of Map.groupBy(libraries, roomOf)) console.log(`  ${room.padEnd(32)} ${size(files)}`);
