import type { Facts } from '../../core/facts.ts';

export const facts: Facts = {
  limits: { streams: [100, 100_000, 3600] },
  requests: [
    // Without a fault the stream would not end.
    { path: '/api/stream/matches?from=nowhere' },
    { path: '/api/stream/objects?from=nowhere' },
  ],
};
