import { jobResources } from '../../core/contract/job_resources.ts';
import type { Facts } from '../../core/facts.ts';

export const facts: Facts = {
  resources: jobResources('/vo/samples'),
  emitted: 'fits RUN ABORT DELETE',
  limits: { samples: [1000, 200, 60] },
  requests: [
    { path: '/vo/samples' },
    { path: '/api/sample', body: { inputs: [{ kind: 'id', diaObjectId: '313637935709683761' }] } },
    { path: '/api/sample', body: {} },
    { path: '/api/sample', body: 'ra,dec\n221.596,-40\n', headers: { 'Content-Type': 'text/csv' } },
  ],
};
