import type { Facts } from '../../core/facts.ts';

export const facts: Facts = {
  requests: [
    '/vo/scs?RA=221.596&DEC=-40&SR=0.01',
    '/vo/scs?RA=x',
    '/vo/links?ID=313637935709683761',
    '/vo/capabilities',
    '/vo/tables',
    '/vo/moc/objects.json',
    '/vo/record',
  ].map(path => ({ path })),
  addressed: ['/vo/scs/capabilities'],
  fromDatabase: ['/vo/moc/objects.json'],
  withoutObjects: ['/vo/capabilities', '/vo/availability'],
  epochs: [{ path: '/vo/scs/gaia_dr3?RA=150&DEC=2&SR=0.01&VERB=3', epoch: () => /object_separation_at_epoch/ }],
  places: [
    { path: '/vo/scs/objects?RA=150&DEC=2&SR=0.002&VERB=3' },
    { path: '/vo/scs/gaia_dr3?RA=150&DEC=2&SR=0.002' },
  ],
};
