/** Recent crossmatches. */
import type { Capability } from '../../core/host.ts';

export const recent: Capability = {
  name: 'recent',
  needs: ['objects'],
  serve: () => import('./serve.ts'),
};
