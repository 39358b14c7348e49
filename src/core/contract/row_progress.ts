/** How far the answer to a table is. */
export interface RowProgress {
  /** The number of all rows; 0 until the table is read. */
  readonly of: number;
  /** The number of rows that were searched. */
  readonly searched: number;
  /** The number of rows in the answer. */
  readonly done: number;
}
