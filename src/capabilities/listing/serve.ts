/** The objects by time. */

import { documentedParameters } from '../../core/documents/openapi/parameters.ts';
import { stated, tableResponses } from '../../core/documents/openapi/responses.ts';
import type { Operations } from '../../core/host.ts';
import { listObjects, objectsParameters } from './list_objects.ts';
import { LEFT_OUT, objectsSchema } from './schemas.ts';

export const operations: Operations = [
  {
    name: 'list_objects',
    method: 'GET',
    path: '/api/objects',
    document: (config, catalogs) => ({
      summary: 'The objects by time, newest first, page by page, or their number.',
      description:
        'Every object, with a position or not, crossmatched or not, or those of one `status`. Objects as lookups show them, ' +
        `by ingest or event time, descending, then by identifier. ${LEFT_OUT}`,
      parameters: documentedParameters(objectsParameters(config), catalogs),
      responses: stated(tableResponses('One page, or a count.', objectsSchema, 'unsupported_parameter')),
    }),
    handler: listObjects,
  },
];
