/** Brokers' messages in files: `nearsky ingest`. */
import type { Capability } from '../../core/host.ts';

export const ingest: Capability = {
  name: 'ingest',
  needs: ['catalogs'],
  commands: new Map([
    ['ingest', { summary: "store a broker's messages", after: 'serve', load: () => import('./ingest_command.ts') }],
  ]),
};
