import type { Config } from '../../core/config/config.ts';
import type { Catalogs } from '../../core/contract/catalogs.ts';
import { MATCH_FORMATS } from '../../core/contract/formats.ts';
import { JOBS_PATH } from '../../core/contract/table_match.ts';
import { errors } from '../../core/documents/openapi/general.ts';
import { contentIn } from '../../core/documents/openapi/responses.ts';
import type { PlacedOperation } from '../../core/documents/operations.ts';
import { jobWriter } from '../jobs/job_documents.ts';
import { resultHeaders } from './result_headers.ts';

/** The operations of the jobs that crossmatch tables. */
export function tableJobOperations(_config: Config, catalogs: Catalogs): PlacedOperation[] {
  return jobWriter(catalogs).jobs({
    base: JOBS_PATH,
    noun: 'table_job',
    words: 'the crossmatch of a table (`POST /api/crossmatch` with `Prefer: respond-async`)',
    errors: (...statuses) => errors(statuses, 'filters_span_catalogs', 'unsupported_parameter'),
    result: {
      description: 'The table.',
      headers: resultHeaders,
      content: contentIn(MATCH_FORMATS.toReversed(), 'A table.'),
    },
  });
}
