/** Puts rows of changed objects where the engine's statements read them: in memory, or in files. */
import type { DuckDBConnection } from '@duckdb/node-api';
import { ENGINE_TYPES, quoted, textLiteral } from '@nearsky/adql';
import { type HatsColumn, valueArray, writeRows } from '@nearsky/hats/write';
import type { MatchRows, ObjectRows } from '../hats/columns.ts';
import { PROGRAM } from '../hats/partition_writer.ts';
import { appendRows } from './append_rows.ts';
import { type Exported, relationColumns } from './tables.ts';

/** The view of the rows of a relation that are to be stored, with the names and types of the tables. It belongs to one connection. */
export const viewOf = (exported: Exported) => `temp.main.exported_${exported}`;

/** Writes rows to a Parquet file, and makes the view of their relation. The engine keeps nothing of them in memory. */
export async function fileRows(
  connection: DuckDBConnection,
  exported: Exported,
  rows: ObjectRows | MatchRows,
  path: string,
): Promise<void> {
  const { columns, length } = rows;
  writeRows(path, { program: PROGRAM, columns, length, valuesOf: rows.sorted() });
  await viewFiles(connection, exported, columns, [path]);
}

/** Makes the view of a relation whose rows are in Parquet files. */
export async function viewFiles(
  connection: DuckDBConnection,
  exported: Exported,
  columns: readonly HatsColumn[],
  files: readonly string[],
): Promise<void> {
  // In files, times have a time zone, for which the engine would need a time zone database.
  const cellOf = ({ name, type }: HatsColumn) =>
    type === 'time' ? `make_timestamp(epoch_us(${quoted(name)}))` : quoted(name);
  const list = relationColumns(columns)
    .map(({ name }, i) => `${cellOf(columns[i]!)} AS ${quoted(name)}`)
    .join(', ');
  // A directory like `ra=1` is not a column.
  const rows = `read_parquet([${files.map(textLiteral).join(', ')}], hive_partitioning = false)`;
  await connection.run(`CREATE OR REPLACE TEMP VIEW ${viewOf(exported)} AS SELECT ${list} FROM ${rows}`);
}

/**
 * Copies rows into a temporary table, and makes the view of their relation. Most columns have no values, so only the
 * view has them. The engine frees the memory of the rows after the transaction.
 */
export async function loadRows(
  connection: DuckDBConnection,
  exported: Exported,
  rows: ObjectRows | MatchRows,
): Promise<void> {
  const valuesOf = rows.sorted();
  const valueArrayOf = (column: number) => {
    const values = valuesOf(column);
    return values && valueArray(values);
  };
  const columns = relationColumns(rows.columns).map(({ name, type }, i) => ({
    name: quoted(name),
    type,
    values: valueArrayOf(i),
  }));
  const filled = columns.flatMap(({ name, type, values }) => (values ? { name, type, values } : []));
  const list = columns.map(({ name, type, values }) => (values ? name : `NULL::${ENGINE_TYPES[type]} AS ${name}`));
  const view = `CREATE OR REPLACE TEMP VIEW ${viewOf(exported)} AS SELECT ${list.join(', ')}`;
  if (rows.length === 0) {
    await connection.run(`${view} WHERE false`);
    return;
  }
  const table = `loaded_${exported}`;
  const stored = filled.map(({ name, type }) => `${name} ${ENGINE_TYPES[type]}`);
  await connection.run(`CREATE OR REPLACE TEMP TABLE ${table} (${stored.join(', ')})`);
  await connection.run(`${view} FROM temp.main.${table}`);
  await appendRows(connection, table, filled, rows.length);
}
