import { jobResources } from '../../core/contract/job_resources.ts';
import type { Facts } from '../../core/facts.ts';
import { duckdbObstacle } from '../../needs.ts';

export const facts: Facts = {
  resources: [
    '/vo/tap',
    ...['sync', 'capabilities', 'availability', 'tables', 'tables/{name}', 'examples'].map(part => `/vo/tap/${part}`),
    ...jobResources('/vo/tap/async'),
  ],
  emitted: 'ADQL ADQL-2.0 ADQL-2.1 RUN ABORT DELETE',
  limits: { tap: [4, 1_000_000, 45, 16, 2 ** 26] },
  named: ['`/vo/tap`'],
  configured: {
    settings: { TAP_MAX_QUERIES: '0', TAP_MAX_RECORDS: '8', TAP_QUERY_SECONDS: '9', TAP_MAX_UPLOAD_MIB: '2' },
    limits: { tap: { max_queries: 0, max_rows: 8, max_query_seconds: 9, max_uploads: 16, max_upload_bytes: 2 ** 21 } },
  },
  vosi: duckdbObstacle() === undefined ? ['/vo/tap'] : [],
  requests: [
    ...['tables', 'capabilities', 'sync?LANG=none', 'examples', 'tables/nearsky.objects'].map(part => ({
      path: `/vo/tap/${part}`,
    })),
    { path: '/vo/tap/async' },
    { path: '/vo/tap/async/nobody/phase' },
    { path: '/vo/tap/async', body: 'PHASE=x', headers: { 'Content-Type': 'application/x-www-form-urlencoded' } },
    { path: '/vo/tap/sync', body: 'x', headers: { 'Content-Type': 'multipart/form-data; boundary=a' } },
  ],
};
