import type { ByteSink } from '../base/bytes.ts';
import type { Cell, Row, Table } from './columns.ts';

/** Writes one table to a sink: `row` for each row or `block` for some of them, then `end`. */
export interface TableWriter {
  /** @throws CellError when a cell is not of its column's type */
  row(cells: Row): void;
  /**
   * Writes some rows, given as the cells of each column. A format that stores columns keeps these rows together.
   * @throws CellError when a cell is not of its column's type; nothing is written then
   */
  block(cells: readonly ArrayLike<Cell>[]): void;
  /** @param isCut whether there are more rows than these; some formats can say that */
  end(isCut?: boolean): void;
}

/**
 * @param about the answer's information beside its rows, as JSON text, written by the formats that can hold it
 */
export type BeginTable = (out: ByteSink, table: Table, about: string) => TableWriter;

/** The `block` of a format that writes rows. */
export function rowByRow(row: (cells: Row) => void): TableWriter['block'] {
  return cells => {
    for (let at = 0; at < cells[0]!.length; at++) row(cells.map(ofColumn => ofColumn[at]!));
  };
}
