/** What the service says about itself: its state, its configuration and its metrics. */
import type { Capability } from '../../core/host.ts';

export const status: Capability = {
  name: 'status',
  needs: ['crossmatch'],
  serve: () => import('./serve.ts'),
  commands: new Map([
    ['stats', { summary: 'show what is stored', after: 'completion', load: () => import('./stats_command.ts') }],
  ]),
};
