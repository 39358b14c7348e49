/**
 * The statements of the documents about nearsky's behaviour are true: the document names the tests that hold them, in
 * lines `<!-- test FILE: NAME -->` below the paragraph, in code `// test FILE: NAME` above the declaration. FILE is below
 * test/; NAME is a part of the test's name. A statement that no test can hold is removed from the document.
 */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { root } from '../directory.ts';

const test = suite('docs/statements');

/** A paragraph of definitions, reasons or advice. */
const NO_BEHAVIOUR = '<!-- no behaviour -->';

const text = (path: string) => readFileSync(join(root, path), 'utf8');

const DOCUMENTS = globSync(['README.md', 'docs/*.md', 'src/pages/**/*.{js,ts}', 'src/documents/**/*.ts'], {
  cwd: root,
}).sort();

/** The tests that a document names. */
const testsOf = (document: string) =>
  [...document.matchAll(/^ *(?:<!--|\/\/) test (\S+?\.ts): (.*?)(?: -->)?$/gm)].map(([, file, name]) => ({
    file: file!,
    name: name!,
  }));

test('every test that a document names is there', () => {
  let seen = 0;
  for (const document of DOCUMENTS)
    for (const { file, name } of testsOf(text(document))) {
      seen++;
      const path = `test/${file}`;
      assert.ok(existsSync(join(root, path)), `${document} names ${path}, which is missing`);
      assert.ok(text(path).includes(name), `${document} names a test that ${path} does not have: ${name}`);
    }
  assert.ok(seen > 500, `${seen} tests are named`);
});

/** The paragraphs, list items and tables of a page, each with the comments below it. */
const blocksOf = (page: string) =>
  page
    .split(/\n(?:\s*\n|(?=- )|(?=#))/)
    .map(block => block.trim())
    .filter(block => block !== '' && !block.startsWith('#'));

test('docs/contract.md: every paragraph names its tests, or has no behaviour', () => {
  const isHeld = (block: string) => testsOf(block).length > 0 || block.endsWith(NO_BEHAVIOUR);
  assert.equal(
    blocksOf(text('docs/contract.md')).filter(block => !isHeld(block)),
    [],
  );
});

test.run();
