/** The removal of objects: `nearsky remove`, and of old ones while the service runs. */
import type { Capability } from '../../core/host.ts';

export const removal: Capability = {
  name: 'removal',
  needs: ['ingest'],
  commands: new Map([
    ['remove', { summary: 'remove objects', after: 'export', load: () => import('./remove_command.ts') }],
  ]),
  duties: [
    {
      name: 'remove old objects',
      module: 'src/capabilities/removal/retention',
      isWanted: ({ NEARSKY_RETENTION_DAYS }) => NEARSKY_RETENTION_DAYS !== null,
    },
  ],
};
