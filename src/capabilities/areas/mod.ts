/** The objects in an area of the sky. */
import type { Capability } from '../../core/host.ts';

export const areas: Capability = {
  name: 'areas',
  needs: ['catalogs', 'objects', 'listing', 'uploads'],
  serve: () => import('./serve.ts'),
  main: () => import('./main.ts'),
};
