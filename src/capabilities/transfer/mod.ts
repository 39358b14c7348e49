/** All stored data as lines of JSON: `nearsky export` and `nearsky import`. */
import type { Capability } from '../../core/host.ts';

export const transfer: Capability = {
  name: 'transfer',
  needs: ['ingest', 'names'],
  commands: new Map([
    ['import', { summary: 'store the lines of an export', after: 'match', load: () => import('./import_command.ts') }],
    [
      'export',
      {
        summary: 'write all stored data as lines',
        after: 'import',
        format: 'lines',
        load: () => import('./export_command.ts'),
      },
    ],
  ]),
};
