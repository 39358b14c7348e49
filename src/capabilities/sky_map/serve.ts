/** The map of the sky. */

import { MAX_MAP_CELLS } from '../../core/contract/limits.ts';
import { ignoredHeader } from '../../core/documents/openapi/general.ts';
import { documentedParameters } from '../../core/documents/openapi/parameters.ts';
import { caching, queryResponses } from '../../core/documents/openapi/responses.ts';
import type { Operations } from '../../core/host.ts';
import { skyMap } from './get_sky_map.ts';
import { SKY_MAP_PARAMETERS } from './parameters.ts';
import { skyMapSchema } from './schema.ts';

export const operations: Operations = [
  {
    name: 'get_sky_map',
    method: 'GET',
    path: '/api/sky-map',
    metric: 'sky_map',
    document: (_config, catalogs) => {
      const { 400: badRequest, ...others } = queryResponses(
        'The cells.',
        skyMapSchema(catalogs),
        'filters_span_catalogs',
      );
      const { 200: ok } = others;
      const notModified = { description: 'The answer is the one with the ETag in `If-None-Match`.', headers: caching };
      return {
        summary: 'The number of objects in each cell of the sky, or the coverage by catalogs.',
        description:
          'Counts per H3 cell (h3geo.org) of the whole sky or of a disc, updated as objects arrive; or the coverage of the ' +
          `registered catalogs. An answer lists at most about ${MAX_MAP_CELLS} cells: for a finer resolution, request a smaller disc. ` +
          'Empty cells are not listed. After a start, requests may get 503 while the objects are being counted.',
        parameters: documentedParameters(SKY_MAP_PARAMETERS, catalogs),
        responses: {
          304: notModified,
          400: badRequest!,
          ...others,
          200: { ...ok, headers: { ...ignoredHeader, ...caching } },
        },
      };
    },
    handler: skyMap,
  },
];
