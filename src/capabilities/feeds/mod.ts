/** Atom feeds of matches, of objects and of kept samples, for feed readers. */
import type { Capability } from '../../core/host.ts';

export const feeds: Capability = {
  name: 'feeds',
  // A feed has events of the streams; an area and a kept sample select some of them.
  needs: ['streams', 'areas', 'catalogs', 'objects', 'sample'],
  serve: () => import('./serve.ts'),
};
