/** Queries as SQL, with what only this service can say of its tables. */
import { type DescribedTable, type Translated, translate } from '@nearsky/adql';
import { withOwnNames } from '../tables/columns.ts';

/** Where the upload has no such columns, its frame is not converted. */
const ICRS_HINT = 'take nearsky_ra and nearsky_dec, which an upload with a frame that can be converted has';

/**
 * A query as SQL; the names of its result's columns differ whatever the case.
 * @param maxRows the most rows that are wanted
 * @throws AdqlError
 */
export function translateQuery(query: string, tables: readonly DescribedTable[], maxRows: number): Translated {
  const { sql, columns } = translate(query, tables, maxRows, { icrsHint: ICRS_HINT });
  return { sql, columns: withOwnNames(columns) };
}
