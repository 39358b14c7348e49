/** What the archive's matches are worth: those of transients with a known class, and those of random positions. */
import type { Capability } from '../../core/host.ts';
import { validationSettings } from './settings.ts';

export const validation: Capability = {
  name: 'validation',
  needs: ['sample', 'crossmatch'],
  settings: validationSettings,
  serve: () => import('./serve.ts'),
  main: () => import('./main.ts'),
  commands: new Map([
    [
      'validate',
      {
        summary: 'compare the matches with known classes and with random positions',
        after: 'sample',
        load: () => import('./validate_command.ts'),
      },
    ],
  ]),
};
