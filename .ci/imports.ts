/** The imports of our files, for the tests of the architecture and the count of what a file reaches. */
import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** @param file like all paths here, from the root */
export const textOf = (file: string) => readFileSync(join(root, file), 'utf8');

/** The files of ours that a file imports, types included. A library is imported by its name. */
export function importsOf(file: string): string[] {
  const found = textOf(file).matchAll(/(?:\bfrom|(?<!")\bimport\(|^import)\s*'((?:\.{1,2}|@nearsky)\/[^']+)'/gm);
  return [...found].map(([, path]) =>
    path!.startsWith('.')
      ? normalize(join(dirname(file), path!))
      : fileURLToPath(import.meta.resolve(path!)).slice(root.length),
  );
}
