/** A request of every operation, page and document. Most find something in the shipped sample. */
import { API } from '../capabilities.ts';
import { type Asked, FACTS } from '../core/facts.ts';

const NAMED = { ids: ['313637935709683761'], positions: [{ ra: 61.622, dec: -49.295 }, { name: 'SN2099aaa' }] };
const rpc = (method: string, params: unknown) => ({ jsonrpc: '2.0', id: 1, method, params });
const HELLO = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } };

const PATHS = [
  ...API.operations.filter(({ isDiscovery }) => isDiscovery).map(({ path }) => path),
  ...['/llms.txt', '/api-docs.md', '/api/task', '/api/task/'],
  ...['/api/objects/313637935709683761', '/api/objects/1?detail=full', '/api/objects/not-an-id'],
  ...['/api/tns/SN2099aaa', '/api/tns/nobody'],
  ...['/api/cone?ra=221.596&dec=-40.0&radius_arcsec=60&detail=full', '/api/cone?ra=0'],
  '/api/recent-crossmatches?cursor=%7B',
  ...['/healthz', '/readyz', '/metrics', '/no-such-path'],
];

export const REQUESTS: readonly Asked[] = [
  ...PATHS.map(path => ({ path })),
  ...['ids', 'position', 'matches', 'full'].map(detail => ({ path: '/api/lookup', body: { ...NAMED, detail } })),
  { path: '/api/lookup', body: { ids: [] } },
  { path: '/mcp', body: rpc('initialize', HELLO) },
  ...FACTS.flatMap(({ requests = [] }) => requests),
];
