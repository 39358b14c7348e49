import type { Facts } from '../../core/facts.ts';

export const facts: Facts = {
  requests: [{ path: '/feeds/matches' }, { path: '/feeds/objects' }, { path: `/feeds/samples/${'0'.repeat(32)}` }],
  ofObjects: ['/feeds/matches', '/feeds/objects'],
  fromDatabase: ['/feeds/matches', '/feeds/objects'],
};
