/** How far a crossmatch of a table has come. */
export interface TableProgress {
  /** All rows; 0 until the table is read. */
  readonly of: number;
  /** The rows for which the search is done. */
  readonly searched: number;
  /** The rows that the answer has. */
  readonly done: number;
}
