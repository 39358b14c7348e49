/**
 * Finds the program's own files that are read, or started as threads, at run time. All paths are relative to the root
 * of the checkout. The single executable and the npm package have the same layout, but their modules are JavaScript
 * (`src/binary/`): `src/X.ts` here is `src/X.js` there. This file recognises the layout by its own file name.
 */
import { existsSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = new URL('../../../', import.meta.url);
const EXTENSION = extname(import.meta.url);

/** The path of a file or directory, for example `package.json` or `src/capabilities/pages/browser`. */
export function programFile(path: string): string {
  return fileURLToPath(new URL(path, ROOT));
}

/** The address of a module that starts a thread, from its path without an extension: `workers/task`. */
export function programModule(path: string): URL {
  return new URL(`${path}${EXTENSION}`, ROOT);
}

/**
 * The path of a file or directory of a library, for example `h3-js/dist/h3-js.umd.js`. npm installs libraries inside a
 * checkout, but next to or above an installed package.
 */
export function libraryFile(path: string): string {
  for (let directory = programFile('.'); ; directory = dirname(directory)) {
    const file = join(directory, 'node_modules', path);
    if (existsSync(file)) return file;
    if (directory === dirname(directory)) throw new Error(`Cannot find ${path}: install nearsky again`);
  }
}
