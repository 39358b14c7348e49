/** The writers of tables, each loaded when it is first needed. */
import type { ByteSink } from '../base/bytes.ts';
import type { TableFormat } from '../contract/formats.ts';
import type { Row, Table } from './columns.ts';

/** Writes one table to a sink: a `row` each, then `end`. */
export interface TableWriter {
  /** @throws CellError when a cell is not of its column's type */
  row(cells: Row): void;
  end(): void;
}

/** @param about what the answer says beside its rows, as JSON text; formats that can hold it do */
export type BeginTable = (out: ByteSink, table: Table, about: string) => TableWriter;

export async function tableFormat(format: TableFormat): Promise<BeginTable> {
  switch (format) {
    case 'csv':
      return (await import('./csv.ts')).beginCsv;
    case 'ndjson':
      return (await import('./ndjson.ts')).beginNdjson;
    case 'votable':
      return beginVotable((await import('./votable.ts')).VotableWriter);
    case 'parquet':
      return (await import('./parquet.ts')).beginParquet;
    case 'arrow':
      return (await import('./arrow.ts')).beginArrow;
  }
}

function beginVotable(Writer: typeof import('./votable.ts').VotableWriter): BeginTable {
  return (out, table, about) => {
    const writer = new Writer(out, table);
    writer.begin([{ name: 'nearsky', value: about }]);
    return writer;
  };
}
