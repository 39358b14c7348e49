/** The sources of the catalogs near a position, and the objects of a source. */
import type { Capability } from '../../core/host.ts';

export const sources: Capability = {
  name: 'sources',
  needs: ['crossmatch', 'objects', 'tables'],
  serve: () => import('./serve.ts'),
  main: () => import('./main.ts'),
};
