/** Copies of a data directory that is in use: `nearsky backup`. */
import type { Capability } from '../../core/host.ts';

export const backup: Capability = {
  name: 'backup',
  needs: ['status'],
  commands: new Map([
    [
      'backup',
      { summary: 'copy a data directory that is in use', after: 'remove', load: () => import('./backup_command.ts') },
    ],
  ]),
};
