import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './directory.ts';

/** A document as readers see it: without the lines that name the tests of a paragraph. @param path from the root */
export const documentText = (path: string) =>
  readFileSync(join(root, path), 'utf8').replaceAll(/^ *<!-- .* -->\n/gm, '');
