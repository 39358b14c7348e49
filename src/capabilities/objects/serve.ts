/** Lookups and cones. */

import { documentedParameters } from '../../core/documents/openapi/parameters.ts';
import { filteredResponses, json, stated, warning } from '../../core/documents/openapi/responses.ts';
import { ref } from '../../core/documents/openapi/schema.ts';
import { decimal } from '../../core/documents/prose.ts';
import type { Operations } from '../../core/host.ts';
import { coneSearch } from './cone_search.ts';
import { getObject, lookupObjects } from './lookups.ts';
import { coneParameters, LOOKUP_PARAMETERS, OBJECT_PARAMETERS } from './parameters.ts';

export const operations: Operations = [
  {
    name: 'get_object',
    method: 'GET',
    path: '/api/objects/:diaObjectId',
    isSpecified: true,
    document: (_config, catalogs) => ({
      summary: 'One object by its diaObjectId.',
      description:
        'The lookup response with exactly one result, or counts. An unknown id gives a result with the status ' +
        '`not_in_service`, not an error.',
      parameters: documentedParameters(OBJECT_PARAMETERS, catalogs),
      responses: stated(filteredResponses('One result, or counts.', 'LookupResponse', 'unsupported_parameter')),
    }),
    handler: getObject,
  },
  {
    name: 'lookup_objects',
    method: 'POST',
    path: '/api/lookup',
    isSpecified: true,
    document: (_config, catalogs) => ({
      summary: 'Many objects by identifiers, positions and registry names.',
      description:
        'Read-only and idempotent. Every input yields exactly one result, in the order of the inputs, with the input as sent and as ' +
        'understood. A malformed input yields `invalid_input` in its own result. An unknown field is an error. A result lists ' +
        'objects up to the limits; `truncated` and `total` show whether there are more.',
      parameters: documentedParameters(LOOKUP_PARAMETERS, catalogs),
      requestBody: { required: true, content: json(ref('LookupRequest')) },
      responses: warning(stated(filteredResponses('One result per input, or counts.', 'LookupResponse'))),
    }),
    handler: lookupObjects,
  },
  {
    name: 'cone_search',
    method: 'GET',
    path: '/api/cone',
    isSpecified: true,
    document: (config, catalogs) => ({
      summary: 'Every object within a radius of a position, page by page.',
      description:
        `Objects within a radius of at most ${decimal(config.API_MAX_CONE_RADIUS_ARCSEC)} arcsec, crossmatched or not, across the ` +
        'whole archive, in ascending order of ingest time and identifier. Follow `next_cursor` until it is null. A position near which there is no ' +
        'object has the status `no_rubin_object`.',
      parameters: documentedParameters(coneParameters(config), catalogs),
      responses: stated(filteredResponses('One page, or counts.', 'ConeSearchResponse', 'unsupported_parameter')),
    }),
    handler: coneSearch,
  },
];
