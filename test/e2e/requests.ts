import { API, configWith } from '../capabilities.ts';

/** A request of every operation, page and document of the Virtual Observatory. Most find something in the shipped sample. */
export interface Asked {
  readonly path: string;
  /** Sent by POST: a text as it is, anything else as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

const NAMED = { ids: ['313637935709683761'], positions: [{ ra: 61.622, dec: -49.295 }, { name: 'SN2099aaa' }] };
const rpc = (method: string, params: unknown) => ({ jsonrpc: '2.0', id: 1, method, params });
const HELLO = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } };

const PATHS = [
  ...[
    '/',
    '/search',
    '/objects/313637935709683761',
    '/recent',
    '/catalogs',
    '/help',
    '/brokers',
    '/consuming',
    '/status',
  ],
  ...[
    '/area',
    '/crossmatch',
    '/sample',
    '/query',
    '/api-docs',
    '/favicon.ico',
    '/assets/0/nothing.js',
    '/docs',
    '/docs/tutorial',
  ],
  ...[
    '/clients/nearsky.js',
    '/clients/nearsky.d.ts',
    `/clients/nearsky-${configWith().APP_VERSION}-py3-none-any.whl`,
    '/clients/nothing',
  ],
  ...API.operations.filter(({ isDiscovery }) => isDiscovery).map(({ path }) => path),
  ...['/llms.txt', '/api-docs.md', '/api/task', '/api/task/'],
  ...['/api/objects/313637935709683761', '/api/objects/1?detail=full', '/api/objects/not-an-id'],
  ...['/api/tns/SN2099aaa', '/api/tns/nobody'],
  ...['/api/cone?ra=221.596&dec=-40.0&radius_arcsec=60&detail=full', '/api/cone?ra=0'],
  ...['/api/recent-crossmatches?cursor=%7B', '/api/objects?reliability_min=0.9', '/api/objects?cursor=%7B'],
  // Without a fault the stream would not end.
  '/api/stream/matches?from=nowhere',
  '/api/stream/objects?from=nowhere',
  ...['/api/sources?ra=221.596&dec=-40.0&radius_arcsec=60', '/api/sources/gaia_dr3/1', '/api/sources/gaia_dr3/x'],
  '/api/sky-map?resolution=2',
  ...[
    '/vo/scs?RA=221.596&DEC=-40&SR=0.01',
    '/vo/scs?RA=x',
    '/vo/links?ID=313637935709683761',
    '/vo/capabilities',
    '/vo/tables',
    '/vo/moc/objects.json',
  ],
  ...['/vo/jobs', '/vo/jobs/nobody', '/vo/samples', '/vo/tap/tables', '/vo/tap/capabilities', '/vo/tap/sync?LANG=none'],
  ...[
    '/vo/tap/examples',
    '/vo/tap/tables/nearsky.objects',
    '/vo/tap/async',
    '/vo/tap/async/nobody/phase',
    '/vo/record',
  ],
  ...['/healthz', '/readyz', '/metrics', '/no-such-path'],
];

export const REQUESTS: readonly Asked[] = [
  ...PATHS.map(path => ({ path })),
  ...['ids', 'position', 'matches', 'full'].map(detail => ({ path: '/api/lookup', body: { ...NAMED, detail } })),
  { path: '/api/lookup', body: { ids: [] } },
  { path: '/api/sample', body: { inputs: [{ kind: 'id', diaObjectId: '313637935709683761' }] } },
  { path: '/api/sample', body: {} },
  { path: '/api/sample', body: 'ra,dec\n221.596,-40\n', headers: { 'Content-Type': 'text/csv' } },
  { path: '/api/area?detail=matches', body: { 0: [0, 4, 8, 11] } },
  { path: '/api/area?response=count', body: { 0: [8] } },
  { path: '/api/crossmatch', body: 'ra,dec\n221.596,-40\n', headers: { 'Content-Type': 'text/csv' } },
  { path: '/api/crossmatch', body: {} },
  { path: '/vo/tap/async', body: 'PHASE=x', headers: { 'Content-Type': 'application/x-www-form-urlencoded' } },
  { path: '/vo/tap/sync', body: 'x', headers: { 'Content-Type': 'multipart/form-data; boundary=a' } },
  { path: '/mcp', body: rpc('initialize', HELLO) },
  { path: '/mcp/archive', body: rpc('initialize', HELLO) },
];
