import { jobResources } from '../../core/contract/job_resources.ts';
import type { Facts } from '../../core/facts.ts';

// The objects are at one position, so the nearest is the one with the lowest id.
const TABLE = 'ra,dec\n150,2\n10,20\n';

export const facts: Facts = {
  resources: jobResources('/vo/jobs'),
  emitted: 'nearest all matched fits RUN ABORT DELETE',
  limits: { tables: [1_000_000, 2000, 2 ** 20, 2 ** 28, 5_000_000, 60, 55] },
  configured: {
    settings: { API_MAX_TABLE_ROWS: '10', API_MAX_TABLE_MIB: '3' },
    limits: { tables: { max_rows: 10, max_bytes: 3 * 2 ** 20 } },
  },
  requests: [
    { path: '/vo/jobs' },
    { path: '/vo/jobs/nobody' },
    { path: '/api/crossmatch', body: 'ra,dec\n221.596,-40\n', headers: { 'Content-Type': 'text/csv' } },
    { path: '/api/crossmatch', body: {} },
  ],
  unfiltered: [['POST', '/api/crossmatch']],
  places: [
    { path: '/api/crossmatch?radius_arcsec=1&find=all', body: TABLE },
    { path: '/api/crossmatch?radius_arcsec=1', body: TABLE },
  ],
};
