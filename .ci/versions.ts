/**
 * The places that state the version of nearsky. `npm version VERSION` calls this after it has changed package.json and package-lock.json: it
 * changes the others, and releases what CHANGELOG.md has as not yet released, or begins the next section there.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Each file that states the version, and the pattern around it. The service and both clients are released together, in one version. */
const PLACES: readonly (readonly [file: string, before: RegExp])[] = [
  ['package.json', /^ {2}"version": "/m],
  ['package-lock.json', /^ {2}"version": "/m],
  ['package-lock.json', /^ {4}"": \{\n {6}"name": "nearsky",\n {6}"version": "/m],
  ['clients/python/pyproject.toml', /^version = "/m],
  ['clients/python/nearsky/__init__.py', /^__version__ = "/m],
  ['clients/python/README.md', /^pip install http:.*\/nearsky-/m],
  ['clients/python/README.md', /^pip install '.*\/nearsky-/m],
  ['clients/typescript/package.json', /^ {2}"version": "/m],
  ['clients/typescript/jsr.json', /^ {2}"version": "/m],
  ['CITATION.cff', /^version: "/m],
  ['deploy/helm/Chart.yaml', /^version: /m],
  ['deploy/helm/Chart.yaml', /^appVersion: /m],
];

/** Text before the version, the version, and text after it. */
function split(text: string, before: RegExp): readonly [string, string, string] | undefined {
  const found = new RegExp(`${before.source}(\\d+\\.\\d+\\.\\d+)`, before.flags).exec(text);
  if (!found) return undefined;
  const end = found.index + found[0].length;
  return [text.slice(0, end - found[1]!.length), found[1]!, text.slice(end)];
}

/** The version that each place states; undefined where it states none. */
export function statedVersions(root: string): (readonly [file: string, version: string | undefined])[] {
  return PLACES.map(([file, before]) => [file, split(readFileSync(join(root, file), 'utf8'), before)?.[1]]);
}

/** The rule of the table in docs/versions.md, its newest line, and the version in that. */
const NEWEST = /^(\|[-|]+\n)(\| (\d+\.\d+\.\d+) .*\n)/m;
const UNRELEASED = /^## \d+\.\d+\.\d+ \(not yet released\)$/m;

/**
 * Makes every place state a version. Where CHANGELOG.md has a section that is not yet released, that becomes this version, released on a day, and
 * so does the newest line of docs/versions.md; else this version begins, with a section and a line of its own.
 * @param day in the form 2026-11-24
 * @throws where a file states no version
 */
export function setVersion(root: string, version: string, day: string): void {
  const edit = (file: string, change: (text: string) => string) =>
    writeFileSync(join(root, file), change(readFileSync(join(root, file), 'utf8')));
  const isRelease = UNRELEASED.test(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'));
  edit('CHANGELOG.md', text =>
    isRelease
      ? text.replace(UNRELEASED, `## ${version} (${day})`)
      : text.replace(/^## /m, `## ${version} (not yet released)\n\n## `),
  );
  edit('docs/versions.md', text =>
    text.replace(NEWEST, (_, rule: string, line: string, newest: string) => {
      const ofVersion = line.replaceAll(newest, version);
      return isRelease ? `${rule}${ofVersion}` : `${rule}${ofVersion}${line}`;
    }),
  );
  for (const [file, before] of PLACES)
    edit(file, text => {
      const parts = split(text, before);
      if (!parts) throw new Error(`${file} states no version where ${before} finds it`);
      return `${parts[0]}${version}${parts[2]}`;
    });
  edit('CITATION.cff', text => {
    const undated = text.replace(/^date-released: .*\n/m, '');
    return isRelease ? undated.replace(/^version: .*\n/m, line => `${line}date-released: "${day}"\n`) : undated;
  });
}

if (import.meta.main) {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  setVersion(root, version, new Date().toISOString().slice(0, 10));
}
