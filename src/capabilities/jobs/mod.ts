/** Long requests as jobs of the Universal Worker Service (UWS 1.1), for the capabilities that have such requests. */
import type { Capability } from '../../core/host.ts';

export const jobs: Capability = {
  name: 'jobs',
  needs: ['uploads'],
  main: () => import('./main.ts'),
};
