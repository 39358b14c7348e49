/** The progress of a table's crossmatch. */
export interface TableProgress {
  /** The number of all rows; 0 until the table is read. */
  readonly of: number;
  /** The number of rows that were searched. */
  readonly searched: number;
  /** The number of rows that are in the answer. */
  readonly done: number;
}
