/** The tables that queries are asked of. */
import type { Column } from '../tables/columns.ts';

export interface DescribedTable {
  readonly schema: string;
  readonly name: string;
  readonly description: string;
  /** Their names differ whatever the case. */
  readonly columns: readonly Column[];
  /** The columns of the position by which the rows are sorted, ICRS degrees, and of its HEALPix pixel at order 29, NESTED. */
  readonly position?: { readonly ra: string; readonly dec: string; readonly pixel: string };
  /** The table in the engine, where it has another name there: a stored one, not a view. */
  readonly relation?: string;
}

/** The name of a table with its schema's, as it is shown. */
export function tableName({ schema, name }: Pick<DescribedTable, 'schema' | 'name'>): string {
  return `${schema}.${name}`;
}
