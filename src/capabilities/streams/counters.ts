import type { Counter } from '../../core/base/counts.ts';

export const REFUSED: Counter = {
  name: 'nearsky_streams_refused_total',
  help: 'Clients of the streams that were refused because there were too many.',
};

export const EVENTS: Counter = {
  name: 'nearsky_stream_events_total',
  help: 'Events sent to clients of the streams.',
};
