/** The pages for people, with the documents as a site. */
import type { Capability } from '../../core/host.ts';
import { pageSettings } from './settings.ts';

export const pages: Capability = {
  name: 'pages',
  // The page for queries lists their tables.
  needs: ['documents', 'objects', 'catalogs', 'adql', 'vo'],
  settings: pageSettings,
  serve: () => import('./serve.ts'),
};
