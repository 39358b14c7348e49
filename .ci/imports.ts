/** The imports of our files and the size of what they reach, for the tests of the architecture and `.ci/house.ts`. */
import { globSync, readFileSync } from 'node:fs';
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

/** The maximum size of what a reader of the cone search, or of the core, has to read. */
export const LIMITS = {
  cone: { file: 'src/capabilities/objects/cone_search.ts', files: 180, lines: 20_000 },
  core: { lines: 30_000 },
} as const;

/** These files, and all that they reach by imports, types included. */
export function reachedBy(files: readonly string[]): readonly string[] {
  const reached = new Set(files);
  for (const file of reached) for (const imported of importsOf(file)) reached.add(imported);
  return [...reached];
}

/** The core, the spatial index, and what the core reaches of other libraries. */
export function coreFiles(): readonly string[] {
  const own = globSync(['src/core/**/*.{ts,js}', 'index/*.ts'], { cwd: root });
  return [...own, ...reachedBy(own).filter(file => file.startsWith('packages/'))];
}

export const linesOf = (files: readonly string[]) =>
  files.reduce((sum, file) => sum + textOf(file).split('\n').length - 1, 0);
