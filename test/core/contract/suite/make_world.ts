/** Writes the committed world.ndjson again: `node test/core/contract/suite/make_world.ts`. */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { worldLines } from './world.ts';

export const WORLD_FILE = fileURLToPath(new URL('world.ndjson', import.meta.url));

export const worldText = () => `${worldLines().join('\n')}\n`;

if (import.meta.main) writeFileSync(WORLD_FILE, worldText());
