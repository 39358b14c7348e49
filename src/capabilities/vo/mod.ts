/** The Virtual Observatory's cone searches and coverage maps. */
import type { Capability } from '../../core/host.ts';

export const vo: Capability = {
  name: 'vo',
  needs: ['catalogs', 'objects', 'crossmatch'],
  serve: () => import('./serve.ts'),
};
