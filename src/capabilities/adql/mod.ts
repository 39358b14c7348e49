/** Queries in ADQL, over TAP. */
import type { Capability } from '../../core/host.ts';
import { adqlSettings } from './settings.ts';

export const adql: Capability = {
  name: 'adql',
  /** Its tables of the archive are made as those of the export. */
  needs: ['hats', 'catalogs', 'vo', 'uploads', 'jobs'],
  settings: adqlSettings,
  serve: () => import('./serve.ts'),
  main: () => import('./main.ts'),
};
