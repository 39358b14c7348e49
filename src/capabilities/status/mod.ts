/** What the service says about itself: its state, its configuration and its metrics. */
import type { Capability } from '../../core/host.ts';

export const status: Capability = {
  name: 'status',
  serve: () => import('./serve.ts'),
};
