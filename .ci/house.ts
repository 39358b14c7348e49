/**
 * Counts what somebody has to read: `node .ci/house.ts [FILE]`. Prints how many files and lines FILE reaches by its
 * imports, types included. FILE is the cone search by default. Then prints the same for the core, first alone, then with
 * the libraries that it reaches.
 */
import { globSync } from 'node:fs';
import { normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { OPTIONAL } from '../src/capabilities.ts';
import { importsOf, textOf } from './imports.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
function reachedBy(files: readonly string[]): readonly string[] {
  const reached = new Set(files);
  for (const file of reached) for (const imported of importsOf(file)) reached.add(imported);
  return [...reached];
}

const lines = (files: readonly string[]) => files.reduce((sum, file) => sum + textOf(file).split('\n').length - 1, 0);
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
