/** The brokers' live messages: `nearsky consume`. */
import type { Capability } from '../../core/host.ts';

export const consume: Capability = {
  name: 'consume',
  needs: ['ingest'],
  commands: new Map([
    [
      'consume',
      { summary: "store the brokers' live messages", after: 'ingest', load: () => import('./consume_command.ts') },
    ],
  ]),
};
