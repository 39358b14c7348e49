import type { Facts } from '../../core/facts.ts';

export const facts: Facts = {
  emitted: 'coverage',
  requests: [{ path: '/api/sky-map?resolution=2' }],
  ofObjects: ['/api/sky-map'],
  unfiltered: [['GET', '/api/sky-map?resolution=1&partial=true']],
};
