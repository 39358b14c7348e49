import { MAX_COLUMNS, MAX_ROW_BYTES } from '@nearsky/astrotables';
import type { Config } from '../../core/config/config.ts';
import { MAX_TABLE_MATCHES, TABLE_BUDGET_SECONDS } from '../../core/contract/limits.ts';
import { MAX_MATCH_RADIUS_ARCSEC } from '../../core/contract/table_match.ts';
import type { DescribedLimits } from '../../core/documents/limits.ts';
import { bytes, closed, count, maxRadius, seconds } from '../../core/documents/openapi/schema.ts';

export const maxTableBytes = ({ API_MAX_TABLE_MIB }: Config) => API_MAX_TABLE_MIB * 2 ** 20;

export const limits: DescribedLimits = {
  rank: 40,
  schemas: {
    tables: closed('Limits of a table to crossmatch.', {
      max_rows: count('Rows of the table.'),
      max_columns: count('Columns of the table.'),
      max_row_bytes: bytes('Bytes of a row in a text format.'),
      max_bytes: bytes('Bytes of the table, without compression.'),
      max_matches: count('Matches of all rows.'),
      max_radius_arcsec: maxRadius,
      budget_seconds: seconds(
        'Maximum time for the table to arrive; its crossmatch may take as long again, unless it becomes a job.',
      ),
    }),
  },
  of: config => ({
    tables: {
      max_rows: config.API_MAX_TABLE_ROWS,
      max_columns: MAX_COLUMNS,
      max_row_bytes: MAX_ROW_BYTES,
      max_bytes: maxTableBytes(config),
      max_matches: MAX_TABLE_MATCHES,
      max_radius_arcsec: MAX_MATCH_RADIUS_ARCSEC,
      budget_seconds: TABLE_BUDGET_SECONDS,
    },
  }),
};
