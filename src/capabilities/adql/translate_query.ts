/** Translates queries to SQL, with hints that depend on this service's tables. */
import { type DescribedTable, type Translated, translate } from '@nearsky/adql';
import { withOwnNames } from '@nearsky/astrotables';

/** The frame of an upload can be converted only if the upload has these columns. */
const ICRS_HINT = 'use nearsky_ra and nearsky_dec, which exist if the frame of the upload can be converted';

/**
 * Translates a query to SQL. The column names of its result are unique, ignoring case.
 * @param maxRows the maximum number of rows
 * @throws AdqlError
 */
export function translateQuery(query: string, tables: readonly DescribedTable[], maxRows: number): Translated {
  const translated = translate(query, tables, maxRows, { icrsHint: ICRS_HINT });
  return { ...translated, columns: withOwnNames(translated.columns) };
}
