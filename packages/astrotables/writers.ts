/** The writers of tables by format, each loaded when it is first needed. */
import type { TableFormat } from './formats.ts';
import type { BeginTable } from './write/table_writer.ts';

const WRITERS: Readonly<Record<TableFormat, () => Promise<BeginTable>>> = {
  csv: async () => (await import('./write/csv.ts')).beginCsv,
  tsv: async () => (await import('./write/csv.ts')).beginTsv,
  ecsv: async () => (await import('./write/ecsv.ts')).beginEcsv,
  json: async () => (await import('./write/json.ts')).beginJson,
  ndjson: async () => (await import('./write/json.ts')).beginNdjson,
  votable: async () => (await import('./write/votable.ts')).beginVotable,
  parquet: async () => (await import('./write/parquet.ts')).beginParquet,
  arrow: async () => (await import('./write/arrow.ts')).beginArrow,
};

export function tableFormat(format: TableFormat): Promise<BeginTable> {
  return WRITERS[format]();
}
