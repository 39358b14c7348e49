/** The tables that queries can use. */
import type { Column } from '@nearsky/astrotables';

export interface DescribedTable {
  readonly schema: string;
  readonly name: string;
  readonly description: string;
  /** Their names are unique, ignoring case. */
  readonly columns: readonly Column[];
  /** The columns with the position by which rows are sorted (ICRS degrees) and with its HEALPix pixel (order 29, NESTED). */
  readonly position?: { readonly ra: string; readonly dec: string; readonly pixel: string };
  /** The name of the stored table in the engine, if it differs. */
  readonly relation?: string;
}

/** The qualified name of a table, for display. */
export function tableName({ schema, name }: Pick<DescribedTable, 'schema' | 'name'>): string {
  return `${schema}.${name}`;
}
