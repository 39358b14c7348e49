/** Every section of docs/contract.md that code and documents cite exists. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { root } from '../directory.ts';
import { documentText } from '../document.ts';

const test = suite('docs/citations');

const contract = documentText('docs/contract.md');
const sections = new Set([...contract.matchAll(/^##+ (.+)$/gm)].map(([, name]) => name!));
const decisions = new Set([...contract.matchAll(/^- \*\*(P\d+)\.\*\*/gm)].map(([, name]) => name!));

/** `docs/contract.md, Errors; Time budget; decisions P1, P3`, to the parenthesis or sentence's end. */
const CITATION = /docs\/contract\.md, ([A-Z][^)(.:*`\n]+)/g;

/** Comments without their line breaks, so that a citation may be wrapped. */
const unwrapped = (text: string) => text.replaceAll(/\n *(?:\*|\/\/) /g, ' ');

test('every section and decision that is cited is one of the contract', () => {
  const files = globSync('{src,test,workers,index,bench,docs,clients}/**/*.{ts,js,md,py}', { cwd: root });
  const cited = files.flatMap(file =>
    [...unwrapped(readFileSync(join(root, file), 'utf8')).matchAll(CITATION)].flatMap(([, names]) =>
      names!.split(';').map(name => [file, name.trim()] as const),
    ),
  );
  assert.ok(cited.length > 50, `${cited.length} citations`);
  for (const [file, name] of cited) {
    const [, numbers] = /^decisions? (P.*)$/.exec(name) ?? [];
    const isThere = numbers ? numbers.split(', ').every(number => decisions.has(number)) : sections.has(name);
    assert.ok(isThere, `${file} cites "${name}"`);
  }
});

test('every part of the outside suite is named after a section of the contract', () => {
  const files = globSync('test/contract/suite/*.ts', { cwd: root });
  const named = files.flatMap(file =>
    [...readFileSync(join(root, file), 'utf8').matchAll(/= section\('([^':]+)/g)].map(
      ([, name]) => [file, name!] as const,
    ),
  );
  assert.ok(named.length > 25, `${named.length} parts`);
  for (const [file, name] of named) assert.ok(sections.has(name), `${file}: ${name}`);
});

test('nothing cites a document that is not in the repository', () => {
  const files = globSync('{src,test,workers,index,bench,docs}/**/*.{ts,js,md}', { cwd: root });
  const old = ['wire', 'contract'].join(' ');
  for (const file of files) assert.not.match(readFileSync(join(root, file), 'utf8').toLowerCase(), old, file);
});

test('every file of the program that a page names is there', () => {
  const pages = ['ARCHITECTURE.md', 'CONTRIBUTING.md', 'README.md', ...globSync('docs/*.md', { cwd: root })];
  const named = pages.flatMap(page =>
    [...documentText(page).matchAll(/`((?:src|index|workers|test|bench)\/[a-z\d_./-]*\w)[`/]/g)].map(
      ([, path]) => [page, path!] as const,
    ),
  );
  assert.ok(named.length > 100, `${named.length} names`);
  for (const [page, path] of named) assert.ok(existsSync(join(root, path)), `${page} names ${path}`);
});

test.run();
