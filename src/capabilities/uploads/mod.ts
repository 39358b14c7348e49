/** What clients send, received into files, and read in processes whose memory the kernel limits. */
import type { Capability } from '../../core/host.ts';

export const uploads: Capability = {
  name: 'uploads',
  needs: ['catalogs'],
  main: () => import('./main.ts'),
};
