/** The sources of the catalogs near a position, and the objects of a source. */

import { header } from '../../core/documents/openapi/general.ts';
import { documentedParameters } from '../../core/documents/openapi/parameters.ts';
import { tableResponses, withHeaders } from '../../core/documents/openapi/responses.ts';
import { type Schema, text } from '../../core/documents/openapi/schema.ts';
import type { Operations } from '../../core/host.ts';
import { nearbySources } from './find_sources.ts';
import { sourceParameters, sourcesParameters } from './parameters.ts';
import { objectsOfSourceSchema, sourcesSchema } from './schema.ts';
import { sourceObjects } from './source_objects.ts';

export { limits } from './limits.ts';

export const operations: Operations = [
  {
    name: 'find_sources',
    method: 'GET',
    path: '/api/sources',
    document: (_config, catalogs) => ({
      summary: 'Every source of the catalogs near a position.',
      description:
        'Reads the registered catalogs themselves, whether or not the service has an object there. It finds all sources within the radius, not ' +
        'only the nearest one, which a crossmatch records. Positions are those in the catalogs; no proper motion is applied. The outcome ' +
        'of a catalog says whether it was searched. If it was not, the absence of its sources is not evidence.',
      parameters: documentedParameters(sourcesParameters(catalogs), catalogs),
      responses: withOutcomes(tableResponses('The sources.', sourcesSchema(catalogs), 'filters_span_catalogs')),
    }),
    handler: nearbySources,
  },
  {
    name: 'find_objects_of_source',
    method: 'GET',
    path: '/api/sources/:catalog/:catalog_source_id',
    document: (_config, catalogs) => ({
      summary: 'The objects for which a source of a catalog is recorded.',
      description:
        'The objects whose matches have this source, by id. A crossmatch records only the nearest source of a catalog, so ' +
        'another source may be recorded for an object near this one. If the source is recorded for no object, the list is empty, whether or not ' +
        'its catalog has it.',
      parameters: documentedParameters(sourceParameters(catalogs), catalogs),
      responses: tableResponses('The objects.', objectsOfSourceSchema(catalogs), 'filters_span_catalogs'),
    }),
    handler: sourceObjects,
  },
];

const OUTCOMES = header(
  text('The outcome of each catalog, as in JSON: `gaia_dr3=searched, des_y6_gold=outside_footprint`.'),
);

/** The responses of a search of catalogs, of which a table has the sources alone. */
export const withOutcomes = (responses: Record<string, Schema>) =>
  withHeaders(responses, { 'X-Catalog-Outcomes': OUTCOMES });
