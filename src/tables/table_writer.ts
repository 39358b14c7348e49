import type { ByteSink } from '../base/bytes.ts';
import type { Row, Table } from './columns.ts';

/** Writes one table to a sink: a `row` each, then `end`. */
export interface TableWriter {
  /** @throws CellError when a cell is not of its column's type */
  row(cells: Row): void;
  end(): void;
}

/** @param about what the answer says beside its rows, as JSON text; formats that can hold it do */
export type BeginTable = (out: ByteSink, table: Table, about: string) => TableWriter;
