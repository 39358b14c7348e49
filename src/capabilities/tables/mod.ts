/** Answers as tables, and in MessagePack. */
import type { Capability } from '../../core/host.ts';

export const tables: Capability = {
  name: 'tables',
  needs: ['catalogs'],
  serve: () => import('./serve.ts'),
};
