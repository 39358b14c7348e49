/** The report on a sample. */

import { FITS_FORMAT } from '@nearsky/astrotables/formats';
import type { Config } from '../../core/config/config.ts';
import type { Catalogs } from '../../core/contract/catalogs.ts';
import { MATCH_FORMATS } from '../../core/contract/formats.ts';
import { errors, header, ignoredHeader } from '../../core/documents/openapi/general.ts';
import { jobWriter } from '../../core/documents/openapi/jobs.ts';
import { documentedParameters } from '../../core/documents/openapi/parameters.ts';
import {
  ANY_BYTES,
  contentIn,
  jobHeaders,
  json,
  stated,
  tableResponses,
} from '../../core/documents/openapi/responses.ts';
import { count, type Schemas } from '../../core/documents/openapi/schema.ts';
import { dispositionHeader } from '../../core/documents/openapi/tables.ts';
import type { PlacedOperation } from '../../core/documents/operations.ts';
import type { BodyLimits, Operations, Resource } from '../../core/host.ts';
import { jobRoutes } from '../../core/http/job_routes.ts';
import { GATHERED_BYTES } from '../../core/http/sent_file.ts';
import type { Service } from '../../core/service/service.ts';
import { MAX_SAMPLE_ROWS } from './limits.ts';
import { type ListWritten, SAMPLE_JOB } from './lists.ts';
import { SAMPLE_JOBS_PATH, sampleParameters } from './parameters.ts';
import { listHeaders, maxListBytes } from './report_list.ts';
import { reportSample } from './report_sample.ts';
import { sampleRequest, sampleResponse } from './schema.ts';

export { limits } from './limits.ts';
export { tools } from './tool.ts';

export const operations: Operations = [
  {
    name: 'report_sample',
    method: 'POST',
    path: '/api/sample',
    document: (config, catalogs) => {
      const { 200: ok, ...others } = stated(tableResponses('The report.', sampleResponse, 'filters_span_catalogs'));
      return {
        summary: 'A report on a sample: which transients lie on a star, and how many by chance.',
        description:
          `Takes up to ${MAX_SAMPLE_ROWS} ids, positions and registry names. Says for each input, and for each catalog, whether it was searched, the nearest source ` +
          'with what the catalog says it is, and how deep the catalog is where it has none; bright stars nearby; further objects at the same place. ' +
          'The summary counts them, with the number of coincidences that chance explains. A table has the rows alone. ' +
          'Instead of JSON, the body may be a table with ids, positions or names, as for `/api/crossmatch`. With the header `Prefer: respond-async` it becomes a job (UWS 1.1).',
        parameters: documentedParameters(sampleParameters(config), catalogs),
        requestBody: {
          required: true,
          content: {
            // Generators of clients that know one type of a body take the first, and send all others as bytes.
            ...contentIn([ANY_BYTES, ...MATCH_FORMATS], 'A table.'),
            ...json(sampleRequest(config, catalogs)),
          },
        },
        responses: {
          ...others,
          200: { ...ok, content: { ...(ok!.content as Schemas), ...contentIn([FITS_FORMAT], 'The rows.') } },
          202: { description: 'The report will be made.', headers: { ...ignoredHeader, ...jobHeaders } },
        },
      };
    },
    handler: reportSample,
  },
];

/** The jobs that the operation makes from tables. */
export function resources(service: Service): readonly Resource[] {
  const headersOf = ({ about }: { readonly about: unknown }) =>
    listHeaders(about as ListWritten & { readonly outcome: 'written' });
  return jobRoutes(service, { base: SAMPLE_JOBS_PATH, kind: SAMPLE_JOB, headersOf });
}

export function documented(_config: Config, catalogs: Catalogs): PlacedOperation[] {
  return jobWriter(catalogs).jobs({
    base: SAMPLE_JOBS_PATH,
    noun: 'sample_job',
    words: 'the report on a list (`POST /api/sample` with `Prefer: respond-async`)',
    errors: (...statuses) => errors(statuses, 'filters_span_catalogs', 'unsupported_parameter'),
    result: {
      description: 'The report.',
      headers: {
        'Content-Disposition': dispositionHeader,
        'X-Row-Count': header(count('The rows of the report.'), true),
      },
      content: {
        ...json({ type: 'object', description: 'The report, as for inputs in JSON.', additionalProperties: true }),
        ...contentIn(MATCH_FORMATS, 'The rows.'),
      },
    },
  });
}

/** Tables are written to disk as they arrive. */
export const bodies = (config: Config): readonly BodyLimits[] => [
  { path: '/api/sample', maxBytes: maxListBytes(config), maxHeldBytes: GATHERED_BYTES },
];
