/** The crossmatch of a table. */

import type { Config } from '../../core/config/config.ts';
import { MATCH_FORMATS } from '../../core/contract/formats.ts';
import { JOBS_PATH, TABLE_PATH } from '../../core/contract/table_match.ts';
import { ignoredHeader } from '../../core/documents/openapi/general.ts';
import { documentedParameters } from '../../core/documents/openapi/parameters.ts';
import { ANY_BYTES, contentIn, jobHeaders, queryResponses } from '../../core/documents/openapi/responses.ts';
import type { BodyLimits, Operations, Resource } from '../../core/host.ts';
import type { Service } from '../../core/service/service.ts';
import type { JobResult } from '../jobs/job.ts';
import { jobRoutes } from '../jobs/job_routes.ts';
import { GATHERED_BYTES } from '../uploads/sent_file.ts';
import { crossmatchTable } from './crossmatch_table.ts';
import { maxTableBytes } from './limits.ts';
import { type MatchedTable, matchedHeaders } from './matched_headers.ts';
import { tableParameters } from './parameters.ts';
import { resultHeaders } from './result_headers.ts';
import { TABLE_JOB } from './table_jobs.ts';

export { limits } from './limits.ts';

export const operations: Operations = [
  {
    name: 'crossmatch_table',
    method: 'POST',
    path: TABLE_PATH,
    document: ({ API_MAX_TABLE_ROWS, API_MAX_TABLE_MIB }, catalogs) => {
      const { 200: _, ...others } = queryResponses('', {}, 'filters_span_catalogs');
      return {
        summary: 'Crossmatches a table with the objects, or with a catalog.',
        description:
          `The table is the body: CSV, ECSV, an IPAC table, words separated by blanks, NDJSON, VOTable, FITS, Parquet or Arrow. The format is recognised from the bytes; gzip is allowed. At most ${API_MAX_TABLE_ROWS} rows and ` +
          `${API_MAX_TABLE_MIB} MiB. The answer has the rows of the table in their order, with all their columns. Then come \`nearsky_status\`, and the id, position and separation ` +
          'of the object or source found; for a catalog, also the columns that the service stores. It is sent when it is complete: if the connection ends early, the ' +
          'answer is incomplete. Positions in FK5, FK4 and galactic coordinates are converted to ICRS; no proper motion is applied. With the header `Prefer: respond-async` the request becomes a job of the ' +
          "Virtual Observatory's protocol (UWS 1.1).",
        parameters: documentedParameters(tableParameters(catalogs), catalogs),
        requestBody: { required: true, content: contentIn([ANY_BYTES, ...MATCH_FORMATS], 'A table.') },
        responses: {
          200: {
            description: 'The table.',
            headers: { ...ignoredHeader, ...resultHeaders },
            // Generators expect every answer to have the first type, so it must be a type that they return as bytes.
            content: contentIn(MATCH_FORMATS.toReversed(), 'A table.'),
          },
          202: { description: 'The table will be crossmatched.', headers: { ...ignoredHeader, ...jobHeaders } },
          ...others,
        },
      };
    },
    handler: crossmatchTable,
  },
];

/** The jobs that the operation makes. */
export function resources(service: Service): readonly Resource[] {
  const headersOf = ({ about }: JobResult) => matchedHeaders(about as MatchedTable);
  return jobRoutes(service, { base: JOBS_PATH, kind: TABLE_JOB, headersOf });
}

export { tableJobOperations as documented } from './job_operations.ts';

/** Tables are written to disk as they arrive. */
export const bodies = (config: Config): readonly BodyLimits[] => [
  { path: TABLE_PATH, maxBytes: maxTableBytes(config), maxHeldBytes: GATHERED_BYTES },
];
