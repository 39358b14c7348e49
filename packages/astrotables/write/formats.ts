/** The writers of table formats. Each is loaded on first use. */
import type { BeginTable } from './table_writer.ts';

const LOADERS = {
  csv: async (): Promise<BeginTable> => (await import('./csv.ts')).beginCsv,
  tsv: async (): Promise<BeginTable> => (await import('./csv.ts')).beginTsv,
  json: async (): Promise<BeginTable> => (await import('./json.ts')).beginJson,
  ndjson: async (): Promise<BeginTable> => (await import('./json.ts')).beginNdjson,
  votable: async (): Promise<BeginTable> => beginVotable((await import('./votable.ts')).VotableWriter),
  parquet: async (): Promise<BeginTable> => (await import('./parquet.ts')).beginParquet,
  arrow: async (): Promise<BeginTable> => (await import('./arrow.ts')).beginArrow,
};

/** The formats in which rows can be written before all of them exist. */
export type TableFormat = keyof typeof LOADERS;

export function tableFormat(format: TableFormat): Promise<BeginTable> {
  return LOADERS[format]();
}

function beginVotable(Writer: typeof import('./votable.ts').VotableWriter): BeginTable {
  return (out, table, about) => {
    const writer = new Writer(out, table);
    writer.begin([{ name: about.program, value: about.json }]);
    return { row: cells => writer.row(cells), block: cells => writer.block(cells), end: () => writer.end() };
  };
}
