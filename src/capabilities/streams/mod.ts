/** Streams of matches and of objects over HTTP. */
import type { Capability } from '../../core/host.ts';
import { EVENTS, REFUSED } from './counters.ts';
import { streamSettings } from './settings.ts';

export const streams: Capability = {
  name: 'streams',
  // A stream can follow an area.
  needs: ['areas', 'catalogs', 'objects'],
  settings: streamSettings,
  counters: [REFUSED, EVENTS],
  serve: () => import('./serve.ts'),
  main: () => import('./main.ts'),
};
