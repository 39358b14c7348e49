/** Puts rows of changed objects where the engine's statements read them: in memory, or in files. */
import type { DuckDBConnection, DuckDBValue } from '@duckdb/node-api';
import { ENGINE_TYPES, quoted, textLiteral } from '@nearsky/adql';
import { type HatsColumn, valueArray, writeRows } from '@nearsky/hats/write';
import type { MatchRows, ObjectRows } from '../hats_export/columns.ts';
import { PROGRAM } from '../hats_export/writer_thread.ts';
import { relationColumns, type Source } from './tables.ts';

/** The maximum number of rows in a chunk of the engine. */
const CHUNK_ROWS = 2048;

/** The view of the rows of a relation that are to be stored, with the names and types of the tables. It belongs to one connection. */
export const viewOf = (source: Source) => `temp.main.exported_${source}`;

/** Writes rows to a Parquet file, and makes the view of their relation. The engine keeps nothing of them in memory. */
export async function fileRows(
  connection: DuckDBConnection,
  source: Source,
  rows: ObjectRows | MatchRows,
  path: string,
): Promise<void> {
  const { columns, length } = rows;
  writeRows(path, { program: PROGRAM, columns, length, valuesOf: rows.sorted() });
  await viewFiles(connection, source, columns, [path]);
}

/** Makes the view of a relation whose rows are in Parquet files. */
export async function viewFiles(
  connection: DuckDBConnection,
  source: Source,
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
  await connection.run(`CREATE OR REPLACE TEMP VIEW ${viewOf(source)} AS SELECT ${list} FROM ${rows}`);
}

/**
 * Copies rows into a temporary table, and makes the view of their relation. Most columns have no values, so only the
 * view has them. The engine frees the memory of the rows after the transaction.
 */
export async function loadRows(
  connection: DuckDBConnection,
  source: Source,
  rows: ObjectRows | MatchRows,
): Promise<void> {
  const { DuckDBDataChunk, DuckDBTimestampValue, BIGINT, BOOLEAN, DOUBLE, FLOAT, INTEGER, TIMESTAMP, VARCHAR } =
    await import('@duckdb/node-api');
  const types = {
    int64: BIGINT,
    int32: INTEGER,
    float64: DOUBLE,
    float32: FLOAT,
    boolean: BOOLEAN,
    text: VARCHAR,
    time: TIMESTAMP,
  };
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
  const view = `CREATE OR REPLACE TEMP VIEW ${viewOf(source)} AS SELECT ${list.join(', ')}`;
  if (rows.length === 0) {
    await connection.run(`${view} WHERE false`);
    return;
  }
  const table = `loaded_${source}`;
  const stored = filled.map(({ name, type }) => `${name} ${ENGINE_TYPES[type]}`);
  await connection.run(`CREATE OR REPLACE TEMP TABLE ${table} (${stored.join(', ')})`);
  await connection.run(`${view} FROM temp.main.${table}`);
  const appender = await connection.createAppender(table, 'main', 'temp');
  for (let from = 0; from < rows.length; from += CHUNK_ROWS) {
    const to = Math.min(rows.length, from + CHUNK_ROWS);
    const chunk = DuckDBDataChunk.create(
      filled.map(({ type }) => types[type]),
      to - from,
    );
    for (const [i, { type, values }] of filled.entries()) {
      const cells = values.slice(from, to) as DuckDBValue[];
      const times = () => cells.map(cell => (cell === null ? null : new DuckDBTimestampValue(cell as bigint)));
      chunk.setColumnValues(i, type === 'time' ? times() : cells);
    }
    appender.appendDataChunk(chunk);
  }
  appender.closeSync();
}
