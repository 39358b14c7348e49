/** The report on a sample. */

import { FITS_FORMAT } from '@nearsky/astrotables/formats';
import type { Config } from '../../core/config/config.ts';
import type { Catalogs } from '../../core/contract/catalogs.ts';
import { MATCH_FORMATS } from '../../core/contract/formats.ts';
import { errors, header, ignoredHeader } from '../../core/documents/openapi/general.ts';
import { documentedParameters } from '../../core/documents/openapi/parameters.ts';
import {
  ANY_BYTES,
  contentIn,
  jobHeaders,
  json,
  positionWarningHeader,
  stated,
  tableResponses,
} from '../../core/documents/openapi/responses.ts';
import { count, ref, type Schema, type Schemas, text } from '../../core/documents/openapi/schema.ts';
import { dispositionHeader } from '../../core/documents/openapi/tables.ts';
import type { PlacedOperation } from '../../core/documents/operations.ts';
import type { BodyLimits, Operations, Resource } from '../../core/host.ts';
import type { Service } from '../../core/service/service.ts';
import { jobWriter } from '../jobs/job_documents.ts';
import { jobRoutes } from '../jobs/job_routes.ts';
import { GATHERED_BYTES } from '../uploads/sent_file.ts';
import { deleteSample, keepSample, keptInput, keptSample } from './kept.ts';
import { MAX_SAMPLE_ROWS } from './limits.ts';
import { type ListWritten, SAMPLE_JOB } from './lists.ts';
import { KEPT_PATH, keepParameters, keptId, keptParameters, SAMPLE_JOBS_PATH, sampleParameters } from './parameters.ts';
import { REPORT_FORMATS } from './report_formats.ts';
import { listHeaders, maxListBytes } from './report_list.ts';
import { reportSample } from './report_sample.ts';
import { keepRequest, keptResponse, sampleRequest, sampleResponse } from './schema.ts';

export { limits } from './limits.ts';
export { tools } from './tool.ts';

const policyHeader: Schemas = {
  'Content-Security-Policy': header(text('Of a page: it may not run scripts or load anything.')),
};

const REPORT = ref('SampleReport');

export const schemas: Schemas = { SampleReport: sampleResponse, KeptSample: keptResponse };

/** @param further headers of all answers */
function reportResponses(further: Schemas = {}): Record<string, Schema> {
  const { 200: ok, ...others } = stated(tableResponses('The report.', REPORT, 'filters_span_catalogs'));
  return {
    ...others,
    200: {
      ...ok,
      headers: { ...(ok!.headers as Schemas), ...positionWarningHeader, ...policyHeader, ...further },
      content: { ...(ok!.content as Schemas), ...contentIn([FITS_FORMAT, ...REPORT_FORMATS], 'The rows.') },
    },
    202: { description: 'The report will be made.', headers: { ...ignoredHeader, ...jobHeaders, ...further } },
  };
}

const sunset: Schemas = {
  Sunset: header(text('When the sample is removed (RFC 8594).'), true),
  'X-Sample-Title': header(text('Its title, percent-encoded.'), true),
};

const parametersHeader: Schemas = {
  'X-Sample-Parameters': header(text('Of a table: the parameters of its request, as a query string.')),
};

export const operations: Operations = [
  {
    name: 'report_sample',
    method: 'POST',
    path: '/api/sample',
    document: (config, catalogs) => {
      return {
        summary: 'A report on a sample: which transients lie on a star, and how many by chance.',
        description:
          `Takes up to ${MAX_SAMPLE_ROWS} ids, positions and registry names. Says for each input, and for each catalog, whether it was searched, the nearest source ` +
          'with what the catalog says it is, and how deep the catalog is where it has none; bright stars nearby; further objects at the same place. ' +
          'The summary counts them, with the number of coincidences that chance explains. A table has the rows alone, also as LaTeX for a paper; `html` is a page. ' +
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
        responses: reportResponses(),
      };
    },
    handler: reportSample,
  },
  {
    name: 'keep_sample',
    method: 'POST',
    path: KEPT_PATH,
    document: (config, catalogs) => ({
      summary: 'Keeps a sample under a link.',
      description:
        'Takes what `/api/sample` takes, with a title. Whoever has the link reads the report as it is then, and may delete the sample. ' +
        'It is removed when its time is over. A sample is kept on the node that took it; a node that does not have it asks the others.',
      parameters: documentedParameters(keepParameters(config), catalogs),
      requestBody: {
        required: true,
        content: { ...contentIn([ANY_BYTES, ...MATCH_FORMATS], 'A table.'), ...json(keepRequest(config, catalogs)) },
      },
      responses: {
        201: {
          description: 'The sample is kept.',
          headers: { ...ignoredHeader, Location: header(text('Its address.', { format: 'uri' }), true) },
          content: json(ref('KeptSample')),
        },
        ...errors([400, 405, 503], 'filters_span_catalogs'),
      },
    }),
    handler: keepSample,
    isWithoutObjects: true,
  },
  {
    name: 'report_kept_sample',
    method: 'GET',
    path: `${KEPT_PATH}/:id`,
    document: (config, catalogs) => ({
      summary: 'The report on a kept sample, as it is now.',
      description: 'The answer is that of `/api/sample`, in any format.',
      parameters: documentedParameters(keptParameters(config), catalogs),
      responses: { ...reportResponses(sunset), ...errors([404]) },
    }),
    handler: keptSample,
  },
  {
    name: 'delete_kept_sample',
    method: 'DELETE',
    path: `${KEPT_PATH}/:id`,
    document: (_config, catalogs) => ({
      summary: 'Deletes a kept sample.',
      description: 'Whoever has the link may do so.',
      parameters: documentedParameters(keptId, catalogs),
      responses: {
        204: { description: 'The sample is deleted.' },
        ...errors([404, 405, 503]),
      },
    }),
    handler: deleteSample,
    isWithoutObjects: true,
  },
  {
    name: 'get_kept_sample_input',
    method: 'GET',
    path: `${KEPT_PATH}/:id/input`,
    document: (_config, catalogs) => ({
      summary: 'The list of a kept sample.',
      description: 'The body of the request that kept it: JSON with its title, or the bytes of a table.',
      parameters: documentedParameters(keptId, catalogs),
      responses: {
        200: {
          description: 'The list.',
          headers: { ...ignoredHeader, ...sunset, ...parametersHeader },
          content: {
            // Generated clients read the first: bytes, whichever it is.
            ...contentIn([ANY_BYTES], 'The table.'),
            ...json({ type: 'object', description: 'The request in JSON.', additionalProperties: true }),
          },
        },
        ...errors([404, 405, 503]),
      },
    }),
    handler: keptInput,
    isWithoutObjects: true,
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
        ...policyHeader,
        ...positionWarningHeader,
        'X-Row-Count': header(count('The rows of the report.'), true),
      },
      content: {
        ...json(REPORT),
        ...contentIn([...MATCH_FORMATS, ...REPORT_FORMATS], 'The rows.'),
      },
    },
  });
}

/** Tables are written to disk as they arrive. */
export const bodies = (config: Config): readonly BodyLimits[] => [
  { path: '/api/sample', maxBytes: maxListBytes(config), maxHeldBytes: GATHERED_BYTES },
];
