/** The report of a night for whoever runs the service. */
import type { Capability } from '../../core/host.ts';

export const report: Capability = {
  name: 'report',
  needs: ['status'],
  commands: new Map([
    [
      'report',
      {
        summary: 'show what happened in a night, and whether a person is needed',
        after: 'completion',
        load: () => import('./report_command.ts'),
      },
    ],
  ]),
};
