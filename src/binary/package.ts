/**
 * Writes the part of the npm package that is not in the checkout: the program as JavaScript, because Node does not
 * strip types below `node_modules`. `npm pack` and `npm publish` run this script.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { programFile } from '../core/base/program_files.ts';
import { writePackage } from './bundle.ts';

const DIRECTORY = join(programFile('.'), 'dist');

rmSync(DIRECTORY, { recursive: true, force: true });
await writePackage(DIRECTORY);
