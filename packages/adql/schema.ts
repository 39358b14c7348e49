/** The tables that queries can use. */
import type { Column } from '@nearsky/astrotables';

export interface DescribedTable {
  readonly schema: string;
  readonly name: string;
  readonly description: string;
  /** Their names are unique, ignoring case. */
  readonly columns: readonly Column[];
  /** Columns left out because queries do not support their type: the types by name. */
  readonly leftOut?: Readonly<Record<string, string>>;
  /**
   * The columns of the position (ICRS degrees) by which rows are sorted, and the column of its HEALPix pixel (order 29,
   * NESTED), if the engine has one.
   */
  readonly position?: { readonly ra: string; readonly dec: string; readonly pixel?: string };
  /** The name of the stored table in the engine, if it differs. */
  readonly relation?: string;
  /** Set where the engine has only the rows and columns that a query needs: `TablePart` says which. */
  readonly partial?: {
    /** The column of identifiers. */
    readonly id: string;
    /**
     * Set if an identifier begins with the pixel of its position: the pixel's order, and the number of bits after it.
     */
    readonly idPixel?: { readonly order: number; readonly bits: number };
    /** How far a position may lie outside the pixel under which its row is stored, at most 10 arcsec. */
    readonly outsideArcsec: number;
  };
  /** The columns that identify a row of the partial table of a schema, and repeat its position, perhaps that of an older release. */
  readonly linked?: { readonly schema: string; readonly id: string; readonly ra: string; readonly dec: string };
}

/** The qualified name of a table, for display. */
export function tableName({ schema, name }: Pick<DescribedTable, 'schema' | 'name'>): string {
  return `${schema}.${name}`;
}
