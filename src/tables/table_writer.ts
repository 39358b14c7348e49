import type { ByteSink } from '../base/bytes.ts';
import type { Row, Table } from './columns.ts';

/** Writes one table to a sink: `row` for each row, then `end`. */
export interface TableWriter {
  /** @throws CellError when a cell is not of its column's type */
  row(cells: Row): void;
  end(): void;
}

/**
 * @param about the answer's information beside its rows, as JSON text, written by the formats that can hold it
 * @param chunkRows how many rows a format that stores columns keeps together
 */
export type BeginTable = (out: ByteSink, table: Table, about: string, chunkRows?: number) => TableWriter;
