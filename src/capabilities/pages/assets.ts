/**
 * The files that the pages load: our own scripts and style, without comments and with the colours of the catalogs; and
 * third-party libraries.
 */

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import { memoized } from '../../core/base/memoized.ts';
import { libraryFile, programFile } from '../../core/base/program_files.ts';
import type { Catalogs } from '../../core/contract/catalogs.ts';
import { sharedBody } from '../../core/http/compression.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Libraries for browsers, unchanged. */
const LIBRARIES = ['h3-js/dist/h3-js.umd.js', 'lit-html/lit-html.js'];
/**
 * Our own that others use, too: the published client, the text of a search, which `nearsky cone` reads alike, and the
 * magnitudes of sources, what their catalogs say of them, and what was searched.
 */
const SHARED = [
  'clients/typescript/nearsky.js',
  'src/capabilities/objects/near_words.js',
  'src/capabilities/objects/search_text.js',
  'src/core/contract/hours.js',
  'src/capabilities/objects/photometry.js',
  'src/core/contract/verdict.js',
];

/** The files. They are read for the first page, and again when the catalogs have changed. */
export const loadAssets = memoized(readAssets);

export function assetUrl(catalogs: Catalogs, name: string): string {
  const { files, version } = loadAssets(catalogs);
  if (!files.has(name)) throw new Error(`Cannot link to ${name} because there is no such file`);
  return `/assets/${version}/${name}`;
}

function readAssets(catalogs: Catalogs) {
  const directory = programFile('src/capabilities/pages/browser');
  const hash = createHash('sha256');
  const files = new Map<string, { bytes: Uint8Array<ArrayBuffer>; type: string }>();
  const add = (name: string, content: Buffer) => {
    const bytes = sharedBody(new Uint8Array(content));
    hash.update(`${name} ${bytes.length}\n`).update(bytes);
    files.set(name, { bytes, type: TYPES[extname(name)]! });
  };
  const own = readdirSync(directory).filter(name => TYPES[extname(name)]);
  for (const name of own.sort()) {
    const text = readFileSync(join(directory, name), 'utf8');
    add(name, plain(name === 'style.css' ? text + catalogStyle(catalogs) : text));
  }
  for (const path of SHARED) add(basename(path), plain(readFileSync(programFile(path), 'utf8')));
  for (const path of LIBRARIES) add(basename(path), readFileSync(libraryFile(path)));
  // Addresses contain the version of all files together, so that browsers may cache the files forever.
  return { files, version: hash.digest('hex').slice(0, 12) };
}

/** Our own script or style without comments and indentation, which saves a fifth of the compressed bytes. */
function plain(text: string): Buffer {
  return Buffer.from(text.replace(COMMENT_LINES, '').replace(INDENTS, '').replace(CORE_IMPORTS, '$1./'));
}

/** Comments that take whole lines. No multi-line string in these files contains such a line. */
const COMMENT_LINES = /^[ \t]*(?:\/\*(?:[^*]|\*(?!\/))*\*\/|\/\/.*)\n/gm;
const INDENTS = /^[ \t]+/gm;
/** All files are served from one folder. */
const CORE_IMPORTS = /(\bfrom .)(?:\.\.\/)+(?:core\/)?\w+\//g;

/**
 * The colour of each catalog, and the outline of the mark before its name, which has the shape of its marker in plots.
 */
function catalogStyle({ all }: Catalogs): string {
  const rules = all.map(({ name, colour, marker }) => {
    const [xs, ys] = [marker.map(([x]) => x), marker.map(([, y]) => y)];
    const corners = marker.map(([x, y]) => `${share(x, xs)} ${share(y, ys)}`).join(', ');
    return `
.${name} {
  --catalog: light-dark(${colour.light}, ${colour.dark});
}

.mark.${name} {
  clip-path: polygon(${corners});
}
`;
  });
  return rules.join('');
}

/** The position of a value between the smallest and the largest, in percent. */
function share(value: number, all: readonly number[]): string {
  const least = Math.min(...all);
  return `${(100 * (value - least)) / (Math.max(...all) - least)}%`;
}
