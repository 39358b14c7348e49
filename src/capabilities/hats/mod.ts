/** All stored data as HATS catalogs: `nearsky export --format hats`. */
import type { Capability } from '../../core/host.ts';

export const hats: Capability = {
  name: 'hats',
  needs: ['catalogs'],
  commands: new Map([
    [
      'export',
      { summary: 'as HATS catalogs', after: 'match', format: 'hats', load: () => import('./export_command.ts') },
    ],
  ]),
};
