/** Objects by id, lookups of many inputs, and cones. */
import type { Capability } from '../../core/host.ts';

export const objects: Capability = {
  name: 'objects',
  needs: ['ingest'],
  serve: () => import('./serve.ts'),
  commands: new Map([
    [
      'lookup',
      {
        summary: 'show what is known about objects, by id or name',
        after: 'tns',
        load: () => import('./lookup_command.ts'),
      },
    ],
    [
      'cone',
      {
        summary: 'list the objects within a radius of a position',
        after: 'lookup',
        load: () => import('./cone_command.ts'),
      },
    ],
  ]),
};
