/** The crossmatch of a table, at once or as a job. */
import type { Capability } from '../../core/host.ts';

export const tableMatch: Capability = {
  name: 'table_match',
  needs: ['catalogs', 'crossmatch', 'objects', 'uploads', 'jobs'],
  serve: () => import('./serve.ts'),
  main: () => import('./main.ts'),
  commands: new Map([
    [
      'match',
      {
        summary: 'match a table with the objects, or with a catalog',
        after: 'cone',
        load: () => import('./match_command.ts'),
      },
    ],
  ]),
};
