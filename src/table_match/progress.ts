/** How far a crossmatch of a table has come: three counts of rows in shared memory. */
export interface TableProgress {
  /** All rows; 0 until the table is read. */
  readonly of: number;
  /** The rows for which the search is done. */
  readonly searched: number;
  /** The rows that the answer has. */
  readonly done: number;
}

export type SharedProgress = Uint32Array<SharedArrayBuffer>;
export const [OF, SEARCHED, DONE] = [0, 1, 2];

export function sharedProgress(): SharedProgress {
  return new Uint32Array(new SharedArrayBuffer(12));
}

export function progressOf(shared: SharedProgress): TableProgress {
  return { of: shared[OF]!, searched: shared[SEARCHED]!, done: shared[DONE]! };
}
