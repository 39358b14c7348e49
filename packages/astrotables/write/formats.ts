/** The writers of table formats. Each is loaded on first use. */
import type { BeginTable } from './table_writer.ts';

/** The formats of which rows can be written before all of them are there. */
export type TableFormat = 'csv' | 'tsv' | 'json' | 'ndjson' | 'votable' | 'parquet' | 'arrow';

export async function tableFormat(format: TableFormat): Promise<BeginTable> {
  switch (format) {
    case 'csv':
      return (await import('./csv.ts')).beginCsv;
    case 'tsv':
      return (await import('./csv.ts')).beginTsv;
    case 'json':
      return (await import('./json.ts')).beginJson;
    case 'ndjson':
      return (await import('./json.ts')).beginNdjson;
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
    writer.begin([{ name: about.program, value: about.json }]);
    return { row: cells => writer.row(cells), block: cells => writer.block(cells), end: () => writer.end() };
  };
}
