/** The tables that queries are asked of. */

/**
 * The types of columns: `int64` is -2^63 to 2^63 - 1, `int32` -2^31 to 2^31 - 1; `time` is microseconds since 1970, UTC, in results and a
 * TIMESTAMP in the engine.
 */
export type ColumnType = 'int64' | 'int32' | 'float64' | 'float32' | 'boolean' | 'text' | 'time';

/** A column of a table or of a result. A column that a query selects unchanged keeps all of this in the result. */
export interface Column {
  readonly name: string;
  readonly type: ColumnType;
  /** The unit in the spelling of VOUnits 1.0; undefined if there is none. */
  readonly unit?: string;
  readonly ucd?: string;
  readonly description: string;
  /** The frame of a coordinate that is not in ICRS: it cannot be a coordinate of a POINT. */
  readonly frame?: string;
  /** Whether every cell of a `text` column is ASCII. */
  readonly isAscii?: boolean;
  /** The type of the numbers, separated by blanks, of which every cell of a `text` column consists: VOTable writes an array. */
  readonly numbers?: 'int64' | 'float64';
  /** The shape that they are: degrees, as DALI 1.1 orders them. */
  readonly shape?: 'point' | 'circle' | 'polygon';
}

export interface DescribedTable {
  readonly schema: string;
  readonly name: string;
  readonly description: string;
  /** Their names differ whatever the case. */
  readonly columns: readonly Column[];
  /**
   * The columns of the position, ICRS degrees, and of its HEALPix pixel at order 29, NESTED, by which the rows are sorted;
   * without a pixel where the engine does not have it.
   */
  readonly position?: { readonly ra: string; readonly dec: string; readonly pixel?: string };
  /** The table in the engine, where it has another name there: a stored one, not a view. */
  readonly relation?: string;
  /** Set where the engine has only the rows and columns that a query needs: `TablePart` says which. */
  readonly partial?: {
    /** The column of identifiers. */
    readonly id: string;
    /** Where an identifier begins with the pixel of its position: the pixel's order, and the bits that follow it. */
    readonly idPixel?: { readonly order: number; readonly bits: number };
  };
  /** The columns that identify a row of a partial table, and repeat its position. */
  readonly linked?: { readonly id: string; readonly ra: string; readonly dec: string };
}

/** The name of a table with its schema's, as it is shown. */
export function tableName({ schema, name }: Pick<DescribedTable, 'schema' | 'name'>): string {
  return `${schema}.${name}`;
}
