/**
 * Checks what documents, code and tests cite. Each section and decision of docs/contract.md has a test: one whose name ends with the section in
 * brackets (`… [Headers; P2]`), or a part of the outside suite (`section('Headers: …')`). Each section that is cited exists, and so does each file
 * that a page names. A page that lists all settings, all commands or the like leaves none out. `npm run check` runs this.
 */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CAPABILITIES } from '../src/capabilities.ts';
import { COMMANDS } from '../src/commands/table.ts';
import { GENERIC_FILTERS } from '../src/core/contract/filters.ts';
import { TABLE_FORMATS } from '../src/core/contract/formats.ts';
import { loadApi } from '../src/core/loaded.ts';
import { DATABASE_NAMES } from '../src/core/store/databases.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const text = (path: string) => readFileSync(join(root, path), 'utf8');
const glob = (pattern: string) =>
  globSync(pattern, { cwd: root, exclude: path => path.includes('node_modules') }).sort();

/** Sections without rules, which therefore need no test. */
const WITHOUT_RULES = new Set(['Decisions']);

const contract = text('docs/contract.md');
const sections = new Set([
  ...[...contract.matchAll(/^##+ (.+)$/gm)].map(([, name]) => name!),
  ...[...contract.matchAll(/^- \*\*(P\d+)\.\*\*/gm)].map(([, name]) => name!),
]);

/** `docs/contract.md, Errors; Time budget; decisions P1, P3`, up to the parenthesis or the end of the sentence. */
const CITATION = /docs\/contract\.md, ([A-Z][^)(.:*`\n]+)/g;

/** Comments without their line breaks, because a citation may be wrapped. */
const unwrapped = (file: string) => text(file).replaceAll(/\n *(?:\*|\/\/) /g, ' ');

const citedBy = (file: string) =>
  [...unwrapped(file).matchAll(CITATION)].flatMap(([, names]) =>
    names!.split(/;|(?<=P\d+), /).map(name => name.trim().replace(/^decisions? /, '')),
  );

/** The sections that the tests of a file hold. */
const heldBy = (file: string) => [
  ...[...text(file).matchAll(/^.*['`"].* \[([A-Z][^\]\n]*)\]['`"][,:]/gm)].flatMap(([, names]) => names!.split('; ')),
  ...[...text(file).matchAll(/= section\('([^':]+)/g)].map(([, name]) => name!),
];

const faults: string[] = [];
const held = new Set<string>();
for (const file of glob('test/**/*.ts'))
  for (const name of heldBy(file)) {
    held.add(name);
    if (!sections.has(name)) faults.push(`${file} holds "${name}", which docs/contract.md does not have`);
  }
for (const name of sections)
  if (!held.has(name) && !WITHOUT_RULES.has(name)) faults.push(`docs/contract.md: no test holds "${name}"`);
for (const file of glob('{src,test,workers,index,packages,bench,docs,clients}/**/*.{ts,js,md,py}'))
  for (const name of citedBy(file))
    if (!sections.has(name)) faults.push(`${file} cites "${name}", which is no section`);
for (const page of ['ARCHITECTURE.md', 'CONTRIBUTING.md', 'README.md', ...glob('docs/*.md')])
  for (const [, path] of text(page).matchAll(/`((?:src|index|workers|test|bench)\/[a-z\d_./-]*\w)[`/]/g))
    if (!existsSync(join(root, path!))) faults.push(`${page} names ${path}, which is missing`);

/** Pages that list everything of a kind, with what each of its members looks like there. */
const LISTS: readonly (readonly [pages: readonly string[], members: Iterable<string>])[] = [
  [['docs/design.md'], DATABASE_NAMES.map(name => `\`${name}\``)],
  [['docs/run.md'], [...COMMANDS.keys()].map(name => `\`${name}\``)],
  [['docs/api.md'], [`\`format=${TABLE_FORMATS.map(({ name }) => name).join('|')}\``]],
  [['docs/contract.md'], GENERIC_FILTERS.map(({ name }) => `\`${name}\``)],
  [
    ['docs/api.md', 'docs/contract.md'],
    (await loadApi(CAPABILITIES)).operations
      .filter(({ document }) => document)
      .map(({ path }) => path.replace(/:(\w+)/g, '{$1}')),
  ],
];
for (const [pages, members] of LISTS) {
  const texts = pages.map(text).join('\n');
  for (const member of members)
    if (!texts.includes(member)) faults.push(`${pages.join(' and ')}: ${member} is missing`);
}

/** An alert as `expression for 5m`. */
const alertsOf = (list: string, pattern: RegExp) =>
  new Set(
    [...list.matchAll(pattern)].map(([, expr, time, unit]) => `${expr} for ${time ? time + unit![0] : 'no time'}`),
  );
const rules = alertsOf(text('deploy/alerts.yaml'), /^ +expr: (.*)(?:\n +for: (\d+)(\w+))?/gm);
const listed = alertsOf(text('docs/watch.md'), /^\| `(.* [<>=]+ .*?)`(?: for (\d+) (\w+))?[ (|]/gm);
for (const alert of rules.symmetricDifference(listed))
  faults.push(`deploy/alerts.yaml and the table of docs/watch.md differ: ${alert}`);

for (const fault of faults) console.error(fault);
process.exitCode = faults.length > 0 ? 1 : 0;
