import type { ByteSink } from '../bytes.ts';
import type { Cell, Row, Table } from '../columns.ts';

/** Writes one table to a sink: call `row` for each row or `block` for several rows, then `end`. */
export interface TableWriter {
  /** @throws CellError if a cell does not fit its column's type */
  row(cells: Row): void;
  /**
   * Writes some rows, given as the cells of each column. A format that stores columns keeps these rows together.
   * @throws CellError if a cell does not fit its column's type; then nothing is written
   */
  block(cells: readonly ArrayLike<Cell>[]): void;
  /** @param isCut whether the table is truncated; some formats can state that */
  end(isCut?: boolean): void;
}

/** Metadata of the whole table, for formats that can contain it. */
export interface About {
  /** The name of the program that makes the table: the key of this metadata. */
  readonly program: string;
  /** A JSON object. */
  readonly json: string;
}

export type BeginTable = (out: ByteSink, table: Table, about: About) => TableWriter;

/** Makes the `block` method of a format that writes row by row. */
export function rowByRow(row: (cells: Row) => void): TableWriter['block'] {
  return cells => {
    for (let at = 0; at < cells[0]!.length; at++) row(cells.map(ofColumn => ofColumn[at]!));
  };
}
