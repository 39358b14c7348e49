/** The chat connector with tools for the archive: areas, recent objects, and queries in ADQL. */
import type { Capability } from '../../core/host.ts';

export const archiveConnector: Capability = {
  name: 'archive_connector',
  // It adds tools to those of the connector. They answer with the other three.
  needs: ['connector', 'adql', 'areas', 'listing'],
  serve: () => import('./serve.ts'),
};
