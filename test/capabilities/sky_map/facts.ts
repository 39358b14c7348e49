import type { Facts } from '../../core/facts.ts';

export const facts: Facts = {
  emitted: 'coverage',
  requests: [{ path: '/api/sky-map?resolution=2' }],
  ofObjects: ['/api/sky-map'],
  fromDatabase: ['/api/sky-map', '/api/sky-map?partial=true'],
  unfiltered: [['GET', '/api/sky-map?resolution=1&partial=true']],
};
