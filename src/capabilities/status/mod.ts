/** What the service says about itself: its state, its configuration, its metrics, and whether the database is whole. */
import type { Capability } from '../../core/host.ts';

export const status: Capability = {
  name: 'status',
  needs: ['crossmatch'],
  serve: () => import('./serve.ts'),
  main: () => import('./main.ts'),
  commands: new Map([
    ['check', { summary: 'check the database for damage', after: 'serve', load: () => import('./check_command.ts') }],
    ['stats', { summary: 'show what is stored', after: 'completion', load: () => import('./stats_command.ts') }],
  ]),
};
