import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Target } from './target.ts';

const here = fileURLToPath(new URL('.', import.meta.url));
const files = globSync(['targets/*.ts', '../capabilities/*/fuzzed.ts'], { cwd: here }).sort();

/** Those of the core and of all capabilities. */
export const TARGETS: readonly Target[] = (
  await Promise.all(files.map(file => import(new URL(file, import.meta.url).href)))
).flatMap(({ targets }) => targets);
