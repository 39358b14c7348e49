import { toJson } from '@nearsky/astrotables/json';
import { Unavailable } from '../../core/base/refusal.ts';
import { errors, ignoredHeader } from '../../core/documents/openapi/general.ts';
import { json } from '../../core/documents/openapi/responses.ts';
import { ref, type Schemas } from '../../core/documents/openapi/schema.ts';
import type { Operations } from '../../core/host.ts';
import { jsonResponse } from '../../core/http/respond.ts';
import { validationResponse } from './schema.ts';
import { validationSettings } from './settings.ts';
import { readValidation } from './validation_file.ts';

export const schemas: Schemas = { Validation: validationResponse };

export const operations: Operations = [
  {
    name: 'get_validation',
    method: 'GET',
    path: '/api/validation',
    document: () => ({
      summary: 'The matches of transients with a known class, and of random positions.',
      description:
        'Per class and catalog, the fraction of the stored transients with a source, with what the catalog says of it; and how many random positions have a source, ' +
        'compared with the number that `chance_probability` lets expect. No request makes it: the service makes it every `NEARSKY_VALIDATION_HOURS`, or `nearsky validate` does.',
      responses: {
        200: {
          description: 'The validation that was made last.',
          headers: ignoredHeader,
          content: json(ref('Validation')),
        },
        ...errors([405, 503]),
      },
    }),
    isWithoutObjects: true,
    handler: service => {
      const { config } = service;
      const { NEARSKY_VALIDATION_HOURS: refresh_hours } = validationSettings.of(config);
      return async () => {
        const found = service.read(store => ({ validation: readValidation(config.NEARSKY_DATA, store) ?? null }));
        if (!found) throw new Unavailable('the database cannot be read');
        const status = found.validation ? 'made' : 'not_made';
        return jsonResponse(200, toJson({ status, refresh_hours, ...found }));
      };
    },
  },
];
