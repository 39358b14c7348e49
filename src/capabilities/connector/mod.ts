/** The chat connector. */
import type { Capability } from '../../core/host.ts';
import { connectorSettings } from './settings.ts';

export const connector: Capability = {
  name: 'connector',
  needs: ['objects'],
  settings: connectorSettings,
  serve: () => import('./serve.ts'),
  main: () => import('./main.ts'),
};
