import type { Config } from '../../core/config/config.ts';
import { MAX_TAP_UPLOADS } from '../../core/contract/limits.ts';
import type { DescribedLimits } from '../../core/documents/limits.ts';
import { bytes, closed, count, seconds } from '../../core/documents/openapi/schema.ts';
import { adqlSettings } from './settings.ts';

export const maxUploadBytes = (config: Config) => adqlSettings.of(config).TAP_MAX_UPLOAD_MIB * 2 ** 20;

export const limits: DescribedLimits = {
  rank: 90,
  schemas: {
    tap: closed('Limits of queries in ADQL.', {
      max_queries: count('Simultaneous queries; 0 if the service answers none.'),
      max_rows: count('Rows of an answer (`MAXREC`).'),
      max_query_seconds: seconds('Run time of a query that is not a job.'),
      max_uploads: count('Tables sent with a query.'),
      max_upload_bytes: bytes('Bytes of these tables together.'),
    }),
  },
  of: config => {
    const { TAP_MAX_QUERIES, TAP_MAX_RECORDS, TAP_QUERY_SECONDS } = adqlSettings.of(config);
    return {
      tap: {
        max_queries: TAP_MAX_QUERIES,
        max_rows: TAP_MAX_RECORDS,
        max_query_seconds: TAP_QUERY_SECONDS,
        max_uploads: MAX_TAP_UPLOADS,
        max_upload_bytes: maxUploadBytes(config),
      },
    };
  },
};
