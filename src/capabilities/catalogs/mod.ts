/** The registration of catalogs: `nearsky catalog`. */
import type { Capability } from '../../core/host.ts';

export const catalogs: Capability = {
  name: 'catalogs',
  main: () => import('./main.ts'),
  commands: new Map([
    [
      'catalog',
      {
        summary: 'register, list and check the catalogs',
        after: 'consume',
        load: () => import('./catalog_command.ts'),
      },
    ],
  ]),
};
