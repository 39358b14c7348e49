import type { Facts } from '../../core/facts.ts';

export const facts: Facts = {
  parameters: () => ({ 'get /api/sources': 'ra dec radius_arcsec error_arcsec catalog limit format'.split(' ') }),
  emitted: 'not_registered',
  limits: { sources: [60, 1000, 10_000] },
  requests: [
    { path: '/api/sources?ra=221.596&dec=-40.0&radius_arcsec=60' },
    { path: '/api/sources/gaia_dr3/1' },
    { path: '/api/sources/gaia_dr3/x' },
  ],
  unfiltered: [
    ['GET', '/api/sources?ra=1&dec=2&radius_arcsec=3'],
    ['GET', '/api/sources/gaia_dr3/1'],
  ],
  epochs: [
    { path: '/api/sources/gaia_dr3/5', epoch: arcsec => new RegExp(`"separation_at_epoch_arcsec": ${arcsec}\\b`) },
  ],
  places: [{ path: '/api/sources/gaia_dr3/2' }],
};
