/**
 * The program's own files that are read, or started as threads, at run time. All are named from the root of the
 * checkout. The single executable unpacks its files in the same layout, with its modules as JavaScript (`src/binary/`):
 * `src/X.ts` here is `src/X.js` there. This file tells the two layouts apart by its own name.
 */
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = new URL('../../', import.meta.url);
const EXTENSION = extname(import.meta.url);

/** The path of a file or directory, for example `package.json` or `src/pages/browser`. */
export function programFile(path: string): string {
  return fileURLToPath(new URL(path, ROOT));
}

/** The address of a module that a thread is started with; its name has no extension: `workers/task`. */
export function programModule(path: string): URL {
  return new URL(`${path}${EXTENSION}`, ROOT);
}
