/** The sample that ships with nearsky, ingested, crossmatched and served: `nearsky demo`. */
import type { Capability } from '../../core/host.ts';

export const demo: Capability = {
  name: 'demo',
  needs: ['ingest', 'names', 'catalogs', 'crossmatch'],
  commands: new Map([
    [
      'demo',
      {
        summary: 'make a data directory from the sample that ships with nearsky, and serve it',
        after: 'serve',
        load: () => import('./demo_command.ts'),
      },
    ],
  ]),
};
