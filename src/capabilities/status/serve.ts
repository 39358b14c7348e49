/** What the service says about itself. */

import { staticResponses } from '../../core/documents/openapi/responses.ts';
import { ref } from '../../core/documents/openapi/schema.ts';
import type { Operations } from '../../core/host.ts';
import { describeService, metrics, serviceStatus } from './descriptions.ts';
import { health, readiness } from './health.ts';

export const operations: Operations = [
  {
    name: 'service_status',
    method: 'GET',
    path: '/api/status',
    isSpecified: true,
    document: () => ({
      summary: 'Whether the service can answer now.',
      description: 'Always 200. If the database cannot be read, the answer says so.',
      neverFails: true,
      responses: staticResponses('The state of the service.', ref('ServiceStatus')),
    }),
    isDiscovery: true,
    isWithoutObjects: true,
    handler: serviceStatus,
  },
  {
    name: 'describe_service',
    method: 'GET',
    path: '/api/describe',
    isSpecified: true,
    document: () => ({
      summary: 'The contents and the configuration of the service.',
      description:
        'Catalogs with the meaning of their source ids, their filterable fields and coverage maps; radii; limits; detail levels; filters; ' +
        'reliability cuts; the connector. Made from the live configuration; the database is not needed.',
      responses: staticResponses('The live configuration.', ref('ServiceDescription')),
    }),
    isDiscovery: true,
    isWithoutObjects: true,
    handler: describeService,
  },
  { name: 'healthz', method: 'ANY', path: '/healthz', isWithoutObjects: true, handler: () => health },
  { name: 'readyz', method: 'ANY', path: '/readyz', isWithoutObjects: true, handler: readiness },
  { name: 'metrics', method: 'GET', path: '/metrics', isWithoutObjects: true, handler: metrics },
];
