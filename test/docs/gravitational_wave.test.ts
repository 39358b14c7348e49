/** docs/gravitational_wave.md: every block runs as printed, in order, and prints what the page says. */
import { suite } from 'uvu';
import { needs } from '../needs.ts';
import { pythonWith, whyNoPython } from '../python.ts';
import { rehearse } from './rehearsal.ts';

const test = suite('docs/gravitational_wave');
const MODULES = 'astropy';

needs(test, whyNoPython(MODULES))('every block runs as printed', () =>
  rehearse('docs/gravitational_wave.md', {
    blocks: 10,
    limitMs: 600_000,
    commands: { python3: `'${pythonWith(MODULES)}'` },
  }),
);

test.run();
