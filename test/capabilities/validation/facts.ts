import type { Facts } from '../../core/facts.ts';

export const facts: Facts = {
  requests: [{ path: '/api/validation' }],
  withoutObjects: ['/api/validation'],
};
