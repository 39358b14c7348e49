/** A report on a sample of transients: which lie on a source of a catalog, what it is, and how many do so by chance. */
import type { Capability } from '../../core/host.ts';
import { sampleSettings } from './settings.ts';

export const sample: Capability = {
  name: 'sample',
  // Its tool answers in the connector's form.
  needs: ['connector', 'crossmatch', 'catalogs', 'objects', 'tables', 'uploads', 'jobs'],
  settings: sampleSettings,
  serve: () => import('./serve.ts'),
  main: () => import('./main.ts'),
  commands: new Map([
    [
      'sample',
      {
        summary: 'report on a list of transients: which lie on a star, and how many by chance',
        after: 'match',
        load: () => import('./sample_command.ts'),
      },
    ],
  ]),
};
