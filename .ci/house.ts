/**
 * Counts what somebody has to read: `node .ci/house.ts [FILE]`. Prints how many files and lines FILE reaches by its
 * imports, types included. FILE is the cone search by default. Then prints the same for the core, first alone, then with
 * the spatial index and the libraries that it reaches.
 */
import { normalize } from 'node:path';
import { OPTIONAL } from '../src/capabilities.ts';
import { coreFiles, LIMITS, linesOf, reachedBy } from './imports.ts';

const size = (files: readonly string[]) => `${files.length} files, ${linesOf(files).toLocaleString('en')} lines`;
const roomOf = (file: string) => /^(?:src\/(?:core|capabilities)|packages)\/\w+|^\w+/.exec(file)![0];

const [file = LIMITS.cone.file] = process.argv.slice(2);
const reached = reachedBy([normalize(file)]);
const optional = OPTIONAL.map(({ name }) => `src/capabilities/${name}`).filter(room =>
  reached.map(roomOf).includes(room),
);
const core = coreFiles();
const libraries = core.filter(each => !each.startsWith('src/'));
const own = core.filter(each => each.startsWith('src/'));

console.log(`${file} reaches ${size(reached)}; optional capabilities among them: ${optional.join(', ') || 'none'}`);
for (const [room, files] of [...Map.groupBy(reached, roomOf)].sort((a, b) => linesOf(b[1]) - linesOf(a[1])))
  console.log(`  ${room.padEnd(32)} ${size(files)}`);
console.log(`src/core: ${size(own)}; with the index and what it reaches of libraries: ${size(core)}`);
for (const [room, files] of Map.groupBy(libraries, roomOf)) console.log(`  ${room.padEnd(32)} ${size(files)}`);
const { cone, core: most } = LIMITS;
console.log(`limits: ${cone.files} files and ${cone.lines} lines for ${cone.file}; ${most.lines} lines for the core`);
