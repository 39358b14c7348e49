/** The crossmatch of pending objects: `nearsky crossmatch`, and while the service runs. */
import type { Capability } from '../../core/host.ts';

export const crossmatch: Capability = {
  name: 'crossmatch',
  needs: ['names', 'catalogs'],
  commands: new Map([
    [
      'crossmatch',
      {
        summary: 'crossmatch every pending object once',
        after: 'catalog',
        load: () => import('./crossmatch_command.ts'),
      },
    ],
  ]),
  duties: [
    {
      name: 'crossmatch',
      module: 'src/capabilities/crossmatch/background_crossmatch',
      option: { name: 'crossmatch', doing: 'crossmatching' },
      isWanted: () => true,
    },
  ],
};
