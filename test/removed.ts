/** The capabilities that ARCHITECTURE.md lists and that have been removed here: documents still describe them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CAPABILITIES } from '../src/capabilities.ts';
import { root } from './directory.ts';

const chapter = /^## Capabilities$([\s\S]*?)^## /m.exec(readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8'))![1]!;

/** Each row of the chapter's table: a name, and what it needs. */
export const LISTED: readonly (readonly [name: string, needs: readonly string[]])[] = [
  ...chapter.matchAll(/^\| `(\w+)` \|.*\|(.*)\|$/gm),
].map(([, name, needs]) => [name!, [...needs!.matchAll(/\w+/g)].map(String)]);

export const REMOVED = LISTED.map(([name]) => name).filter(listed => !CAPABILITIES.some(({ name }) => name === listed));

/** Why a document that describes removed capabilities cannot be compared with the program, if so. */
export const describesMore = REMOVED.length > 0 ? `the document describes ${REMOVED.join(', ')}, too` : undefined;
