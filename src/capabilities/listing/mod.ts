/** The objects by time. */
import type { Capability } from '../../core/host.ts';

export const listing: Capability = {
  name: 'listing',
  serve: () => import('./serve.ts'),
};
