import { jobResources } from '../../core/contract/job_resources.ts';
import type { Facts } from '../../core/facts.ts';

export const facts: Facts = {
  resources: jobResources('/vo/samples'),
  emitted: 'fits html latex RUN ABORT DELETE',
  limits: { samples: [1000, 200, 1000, 100, 2 ** 30, 90, 60] },
  requests: [
    { path: '/vo/samples' },
    { path: '/api/sample', body: { inputs: [{ kind: 'id', diaObjectId: '313637935709683761' }] } },
    { path: '/api/sample', body: {} },
    { path: '/api/samples', body: {} },
    { path: `/api/samples/${'0'.repeat(40)}` },
    { path: `/api/samples/${'0'.repeat(40)}/input` },
    { path: '/api/sample', body: 'ra,dec\n221.596,-40\n', headers: { 'Content-Type': 'text/csv' } },
  ],
  deletable: [`/api/samples/${'0'.repeat(40)}`],
};
