/**
 * The floors that ARCHITECTURE.md draws: an import goes to a file of the same room, or to a room on a lower floor; this
 * includes imports of types.
 */
import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { coreFiles, importsOf, LIMITS, linesOf, reachedBy, textOf } from '../.ci/imports.ts';
import { CAPABILITIES, OPTIONAL } from '../src/capabilities.ts';
import { DATABASE_NAMES } from '../src/core/store/databases.ts';
import { LISTED, REMOVED } from './removed.ts';

const test = suite('architecture');
const root = fileURLToPath(new URL('..', import.meta.url));

/** Each room's floor, as drawn in the chapter "Floors". */
function floorsDrawn(): Map<string, number> {
  const drawing = /^## Floors$[\s\S]*?^```\n([\s\S]*?)^```$/m.exec(textOf('ARCHITECTURE.md'))![1]!;
  const floors = new Map<string, number>();
  let floor = Number.NaN;
  for (const line of drawing.split('\n')) {
    floor = Number(/^ *(\d+) /.exec(line)?.[1] ?? floor);
    for (const [room] of line.matchAll(
      /(?<![\w/])(?:src\/core\/\w+\/|src\/\w+(?:\/|\.ts)|packages\/\w+\/|index\/|workers\/)/g,
    )) {
      assert.not(floors.has(room), `${room} is drawn twice`);
      floors.set(room, floor);
    }
  }
  return floors;
}

/** Our code, except the files for browsers. */
const files = globSync('{src,index,packages,workers}/**/*.ts', { cwd: root })
  .filter(file => !file.startsWith('src/capabilities/pages/browser/') && !file.includes('node_modules'))
  .sort();

function roomOf(file: string): string {
  const [top, second] = file.split('/') as [string, string];
  if (top === 'packages') return `packages/${second}/`;
  if (top !== 'src') return `${top}/`;
  return /^src\/core\/\w+\//.exec(file)?.[0] ?? (file.split('/').length > 2 ? `src/${second}/` : file);
}

const capabilityOf = (file: string) => /^(?:src|test)\/capabilities\/(\w+)\//.exec(file)?.[1];

const needsOf = (name: string) => CAPABILITIES.find(capability => capability.name === name)?.needs ?? [];

/** The files that a file imports of capabilities other than its own and those that this one needs. */
function foreign(file: string): string[] {
  const own = capabilityOf(file);
  const known = own === undefined ? [] : [own, ...needsOf(own)];
  return importsOf(file).filter(imported => ![undefined, ...known].includes(capabilityOf(imported)));
}

test('every file is in a room that is drawn, and every room that is drawn has files', () => {
  const drawn = [...floorsDrawn().keys()].sort();
  assert.equal([...new Set(files.map(roomOf))].sort(), drawn);
});

test('no import goes up, or to another room of its own floor', () => {
  const floors = floorsDrawn();
  const breaches: string[] = [];
  let imports = 0;
  for (const file of files) {
    for (const imported of importsOf(file)) {
      const [from, to] = [roomOf(file), roomOf(imported)];
      if (from === to || !floors.has(to)) continue;
      imports++;
      if (floors.get(to)! >= floors.get(from)!) breaches.push(`${file} imports ${imported}`);
    }
  }
  assert.equal(breaches, []);
  assert.ok(imports > 500, `only ${imports} imports between rooms were found`);
});

test('the core knows no capability, and a capability others only by their lists of needs', () => {
  const breaches = files.flatMap(file => foreign(file).map(imported => `${file} imports ${imported}`));
  assert.equal(
    breaches.filter(breach => !breach.startsWith('src/capabilities.ts ')),
    [],
  );
});

test('so do their tests: without the folders of an optional capability, those that remain compile', () => {
  const optional = new Set(OPTIONAL.map(({ name }) => name));
  const tests = globSync('{test,bench,sample,.ci}/**/*.ts', {
    cwd: root,
    exclude: path => path.includes('node_modules'),
  });
  const breaches = tests.flatMap(file =>
    foreign(file)
      .filter(imported => optional.has(capabilityOf(imported)!))
      .map(imported => `${file} imports ${imported}`),
  );
  assert.equal(breaches, []);
});

test('the table of capabilities lists all of them in their order, with what each needs', () => {
  assert.equal(
    LISTED.filter(([name]) => !REMOVED.includes(name)),
    CAPABILITIES.map(({ name, needs = [] }) => [name, [...needs]]),
  );
});

test('no file imports itself by way of others', () => {
  const graph = new Map(files.map(file => [file, importsOf(file)]));
  const done = new Set<string>();
  const circles: string[] = [];
  const visit = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(' > '));
    else if (!done.has(file)) for (const imported of graph.get(file) ?? []) visit(imported, [...path, file]);
    done.add(file);
  };
  for (const file of files) visit(file, []);
  assert.equal(circles, []);
});

test('the spatial core imports nothing but Flatbush, and so does no I/O', () => {
  const core = files.filter(file => file.startsWith('index/'));
  const imported = core.flatMap(file => [...textOf(file).matchAll(/\bfrom '([^.'][^']*)'/g)].map(([, name]) => name));
  assert.equal(imported, ['flatbush']);
});

test('only the store writes to its tables: whatever else reads them asks the writer for changes', () => {
  const writes = new RegExp(`(?<![#\\w])(?:${DATABASE_NAMES.join('|')})\\.(?:put|remove|transactionSync)\\(`);
  const writing = files.filter(file => writes.test(textOf(file)));
  assert.ok(writing.includes('src/core/store/apply.ts'));
  assert.equal(
    writing.filter(file => !file.startsWith('src/core/store/')),
    [],
  );
});

test('one file asks which runtime it is, and one where the program lies', () => {
  const asking = (pattern: RegExp) => files.filter(file => pattern.test(textOf(file)));
  assert.equal(asking(/\bin globalThis|globalThis\.Deno|\bDeno\.\w+\(/), ['src/core/base/runtime.ts']);
  const others = asking(/import\.meta/).filter(file => !file.startsWith('src/binary/'));
  assert.equal(others, ['src/core/base/program_files.ts']);
});

test('one person can hold it: what a cone search reaches, and the core, stay within their limits', () => {
  const { cone, core } = LIMITS;
  const reached = reachedBy([cone.file]);
  assert.ok(reached.length <= cone.files, `${cone.file} reaches ${reached.length} files: see node .ci/house.ts`);
  assert.ok(linesOf(reached) <= cone.lines, `${cone.file} reaches ${linesOf(reached)} lines: see node .ci/house.ts`);
  assert.ok(linesOf(coreFiles()) <= core.lines, `the core has ${linesOf(coreFiles())} lines: see node .ci/house.ts`);
  const optional = new Set(OPTIONAL.map(({ name }) => name));
  assert.equal(
    reached.filter(file => optional.has(capabilityOf(file)!)),
    [],
  );
});

test('imports are of files that are there, so that none is overlooked', () => {
  const known = new Set(globSync('{src,index,packages,workers,clients,docs,sample,bench}/**/*', { cwd: root }));
  const lost = files.flatMap(file =>
    importsOf(file)
      .filter(path => !known.has(path))
      .map(path => `${file}: ${path}`),
  );
  assert.equal(lost, []);
});

test.run();
