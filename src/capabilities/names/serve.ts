/** The resolution of TNS names. */

import { documentedParameters } from '../../core/documents/openapi/parameters.ts';
import { filteredResponses } from '../../core/documents/openapi/responses.ts';
import type { Operations } from '../../core/host.ts';
import { resolveTns, tnsParameters } from './resolve_tns.ts';

export const operations: Operations = [
  {
    name: 'resolve_tns',
    method: 'GET',
    path: '/api/tns/:name',
    isSpecified: true,
    document: (config, catalogs) => ({
      summary: 'Every object at the position of a TNS name.',
      description:
        'The name is resolved in the registry snapshot. The answer contains the registry record and the epoch of the snapshot. Not paged: ' +
        `at most ${config.API_MAX_OBJECTS_PER_POSITION} objects, with \`truncated\` and \`total\`. If the snapshot is stale or missing, the status is ` +
        '`resolver_unavailable`; for an unknown name it is `tns_name_not_found`. Both come with HTTP 200.',
      parameters: documentedParameters(tnsParameters(config), catalogs),
      responses: filteredResponses('One result, or counts.', 'LookupResponse', 'unsupported_parameter'),
    }),
    handler: resolveTns,
  },
];
