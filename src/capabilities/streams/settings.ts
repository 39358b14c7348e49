import { about, ownSettings } from '../../core/config/config.ts';
import { integer } from '../../core/config/values.ts';

export const streamSettings = ownSettings({
  title: 'Service',
  settings: {
    NEARSKY_MAX_STREAMS: about(
      'Maximum number of streams (`/api/stream/matches`, `/api/stream/objects`) per thread, half of them for one client; further ones get 503.',
      integer(2000, 0, 1_000_000),
    ),
  },
});
