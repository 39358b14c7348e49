/** One version: every place states it, `npm version` changes all of them, and docs/versions.md pairs it with what the code reads and writes. */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parse } from 'yaml';
import { setVersion, statedVersions } from '../.ci/versions.ts';
import { FORMAT_VERSION } from '../src/core/store/environment.ts';
import { LEVEL } from '../src/core/store/level.ts';
import { CONTRACT_VERSION } from '../src/core/store/provenance.ts';
import { root, version, withDirectory } from './directory.ts';

const test = suite('versions');
const text = (file: string, at = root) => readFileSync(join(at, file), 'utf8');
const places = [...new Set(statedVersions(root).map(([file]) => file)), 'docs/versions.md', 'CHANGELOG.md'];

/** The rows of the table, each a list of cells. */
const rowsOf = (page: string) => [...page.matchAll(/^\| (\d.*) \|$/gm)].map(([, cells]) => cells!.split(' | '));

/** The headings of releases, newest first. */
const releasesOf = (changelog: string) =>
  [...changelog.matchAll(/^## (.*)$/gm)].map(([, heading]) => {
    const found = /^(\d+\.\d+\.\d+) \((not yet released|\d{4}-\d\d-\d\d)\)$/.exec(heading!);
    assert.ok(found, heading);
    return { version: found[1]!, when: found[2]! };
  });

test('service and clients state one version, in every place', () => {
  assert.match(version, /^\d+\.\d+\.\d+$/);
  for (const [file, stated] of statedVersions(root)) assert.is(stated, version, file);
});

test('the table pairs it with the contract, the data format and the level of the log of the code', () => {
  const [newest] = rowsOf(text('docs/versions.md'));
  assert.equal(newest, [version, version, version, CONTRACT_VERSION, `${FORMAT_VERSION}`, `${LEVEL}`]);
});

test('the changelog has a section of each release in the table, with its date, newest first', () => {
  const releases = releasesOf(text('CHANGELOG.md'));
  assert.is(releases[0]!.version, version);
  assert.equal(
    releases.map(each => each.version),
    rowsOf(text('docs/versions.md')).map(([each]) => each),
  );
  const dates = releases.map(each => each.when);
  assert.equal(
    dates.slice(1).filter(when => when === 'not yet released'),
    [],
  );
  assert.equal([...dates].sort().reverse(), dates);
});

test('npm version releases what is not yet released, and then begins the next version, in every place', () =>
  withDirectory(async directory => {
    for (const file of places) {
      mkdirSync(dirname(join(directory, file)), { recursive: true });
      cpSync(join(root, file), join(directory, file));
    }
    const releases = () => releasesOf(text('CHANGELOG.md', directory)).map(each => `${each.version} ${each.when}`);
    const rows = () => rowsOf(text('docs/versions.md', directory));
    const citation = () => parse(text('CITATION.cff', directory));
    const [now, ...before] = rows();
    const isReleased = !releases()[0]!.endsWith('not yet released');
    if (isReleased) setVersion(directory, '97.0.0', '2031-02-03');
    setVersion(directory, '98.76.54', '2031-02-03');
    const released = ['98.76.54', '98.76.54', '98.76.54', ...now!.slice(3)];
    assert.is(releases()[0], '98.76.54 2031-02-03');
    assert.equal(rows(), [released, ...(isReleased ? [now!] : []), ...before]);
    assert.equal([citation().version, citation()['date-released']], ['98.76.54', '2031-02-03']);

    setVersion(directory, '98.77.0', '2031-02-04');
    assert.equal(releases().slice(0, 2), ['98.77.0 not yet released', '98.76.54 2031-02-03']);
    assert.equal(rows().slice(0, 2), [['98.77.0', '98.77.0', '98.77.0', ...now!.slice(3)], released]);
    assert.equal([citation().version, citation()['date-released']], ['98.77.0', undefined]);
    for (const [file, stated] of statedVersions(directory)) assert.is(stated, '98.77.0', file);
    assert.is(JSON.parse(text('package.json', directory)).version, '98.77.0');
  }));

test('no other file of the project states the version', () => {
  const here = readdirSync(root, { withFileTypes: true })
    .filter(entry => !/^(node_modules|data|build|dist|\.cache|\.git|test)$/.test(entry.name))
    .flatMap(entry =>
      entry.isDirectory()
        ? readdirSync(join(root, entry.name), { recursive: true, encoding: 'utf8' }).map(name => join(entry.name, name))
        : [entry.name],
    )
    .filter(
      file => /\.(ts|js|cjs|json|toml|py|md|cff|ya?ml|cfg|service)$|file$/.test(file) && !file.includes('node_modules'),
    );
  const stating = here.filter(file => existsSync(join(root, file)) && text(file).includes(version));
  assert.equal(
    stating.filter(file => !places.includes(file)),
    [],
  );
});

test('addresses that depend on where the project is published stand in docs/contact.md alone', () => {
  const templates = readdirSync(join(root, '.github/ISSUE_TEMPLATE')).map(name => `.github/ISSUE_TEMPLATE/${name}`);
  for (const file of ['CODE_OF_CONDUCT.md', 'SECURITY.md', 'CITATION.cff', ...templates])
    assert.not.match(text(file), /https?:|@\w|mailto/, file);
  for (const file of ['CODE_OF_CONDUCT.md', 'SECURITY.md']) assert.match(text(file), '(docs/contact.md)');
});

test('issue templates are forms with fields that can be filled', () => {
  for (const name of readdirSync(join(root, '.github/ISSUE_TEMPLATE'))) {
    const form = parse(text(`.github/ISSUE_TEMPLATE/${name}`));
    if (name === 'config.yml') continue;
    assert.ok(form.name && form.description, name);
    const fields = form.body.filter((each: { type: string }) => each.type !== 'markdown');
    assert.ok(fields.every((each: { id: string; attributes: { label: string } }) => each.id && each.attributes.label));
    assert.is(new Set(fields.map((each: { id: string }) => each.id)).size, fields.length);
  }
});

test.run();
