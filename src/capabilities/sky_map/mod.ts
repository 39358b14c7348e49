/** The number of objects in each cell of the sky. */
import type { Capability } from '../../core/host.ts';

export const skyMap: Capability = {
  name: 'sky_map',
  needs: ['catalogs'],
  serve: () => import('./serve.ts'),
  main: () => import('./main.ts'),
};
