/** Appends rows to a table of the engine, column by column. */
import type { DuckDBConnection, DuckDBValue } from '@duckdb/node-api';
import type { HatsColumn } from '@nearsky/hats/write';

/** The rows of a chunk, which the engine limits. */
const CHUNK_ROWS = 2048;

export interface AppendedColumn {
  readonly type: HatsColumn['type'];
  /** One value per row; times are microseconds since 1970, as bigint. */
  readonly values: { slice(from: number, to: number): unknown };
}

/**
 * @param table of the engine's temporary database
 * @param columns all columns of the table, in its order
 */
export async function appendRows(
  connection: DuckDBConnection,
  table: string,
  columns: readonly AppendedColumn[],
  rows: number,
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
  const appender = await connection.createAppender(table, 'main', 'temp');
  for (let from = 0; from < rows; from += CHUNK_ROWS) {
    const to = Math.min(rows, from + CHUNK_ROWS);
    const chunk = DuckDBDataChunk.create(
      columns.map(({ type }) => types[type]),
      to - from,
    );
    for (const [i, { type, values }] of columns.entries()) {
      const cells = values.slice(from, to) as DuckDBValue[];
      const times = () => cells.map(cell => (cell === null ? null : new DuckDBTimestampValue(cell as bigint)));
      chunk.setColumnValues(i, type === 'time' ? times() : cells);
    }
    appender.appendDataChunk(chunk);
  }
  appender.closeSync();
}
