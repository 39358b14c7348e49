/** The objects by time. */
import type { Capability } from '../../core/host.ts';

export const listing: Capability = {
  name: 'listing',
  needs: ['objects', 'recent'],
  serve: () => import('./serve.ts'),
};
