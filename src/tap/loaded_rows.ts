/** Rows of changed objects in memory tables of the engine, from which its statements read. */
import type { DuckDBConnection, DuckDBValue } from '@duckdb/node-api';
import { ENGINE_TYPES, quoted } from '@nearsky/adql';
import type { MatchRows, ObjectRows } from '../hats_export/columns.ts';
import { type Source, viewOf } from './tables.ts';

/** The maximum number of rows in a chunk of the engine. */
const CHUNK_ROWS = 2048;

/**
 * Copies rows into a temporary table, and makes the view of their relation. Most columns have no values, so only the
 * view has them.
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
  const columns = rows.columns.map(({ name, type }, i) => ({ name: quoted(name), type, values: valuesOf(i) }));
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
