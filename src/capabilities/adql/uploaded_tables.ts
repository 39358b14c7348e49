/** The tables that came with a query, in a directory: a list of them, and a Parquet file for each, in the same order. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { type DescribedTable, quoted, textLiteral } from '@nearsky/adql';
import type { Column } from '@nearsky/astrotables';

export interface UploadedTable {
  readonly name: string;
  /** Their names are unique, ignoring case. */
  readonly columns: readonly Column[];
}

export const LIST_FILE = 'tables.json';

export const tableFile = (place: number) => `${place}.parquet`;

/** The columns of a table's file: in it, times are microseconds since 1970. */
export function storedColumns(columns: readonly Column[]): Column[] {
  return columns.map(({ type }, i) => ({ name: `c${i}`, type: type === 'time' ? 'int64' : type, description: '' }));
}

/** Makes views of the tables. They belong to the connection, and disappear with it. */
export async function viewUploads(connection: DuckDBConnection, directory: string): Promise<DescribedTable[]> {
  const tables = JSON.parse(readFileSync(join(directory, LIST_FILE), 'utf8')) as UploadedTable[];
  return await Promise.all(
    tables.map(async ({ name, columns }, i) => {
      const view = `upload_${i}`;
      const stored = storedColumns(columns);
      const list = columns.map((column, place) => {
        const from = stored[place]!.name;
        return `${column.type === 'time' ? `make_timestamp(${from})` : from} AS ${quoted(column.name)}`;
      });
      // Translated queries number the rows of a table by `rowid`.
      if (columns.every(column => column.name.toLowerCase() !== 'rowid')) list.push('file_row_number AS rowid');
      const file = textLiteral(join(directory, tableFile(i)));
      await connection.run(
        `CREATE TEMP VIEW ${view} AS SELECT ${list.join(', ')} FROM read_parquet(${file}, file_row_number = true)`,
      );
      const description = 'The table that came with the query';
      return { schema: 'TAP_UPLOAD', name, description, columns, relation: `temp.main.${view}` };
    }),
  );
}
