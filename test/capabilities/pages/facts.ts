import { configWith } from '../../capabilities.ts';
import type { Facts } from '../../core/facts.ts';

export const facts: Facts = {
  requests: [
    '/',
    '/search',
    '/objects/313637935709683761',
    '/recent',
    '/catalogs',
    '/help',
    '/brokers',
    '/consuming',
    '/status',
    '/area',
    '/crossmatch',
    '/sample',
    '/validation',
    '/query',
    '/api-docs',
    '/favicon.ico',
    '/assets/0/nothing.js',
    '/docs',
    '/docs/tutorial',
    '/clients/nearsky.js',
    '/clients/nearsky.d.ts',
    `/clients/nearsky-${configWith().APP_VERSION}-py3-none-any.whl`,
    '/clients/nothing',
  ].map(path => ({ path })),
  named: ['(http://nearsky.test/vo)', '## Optional'],
  addressed: ['/consuming', '/vo'],
  withoutObjects: ['/catalogs'],
};
