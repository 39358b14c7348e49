/** Tables that come with a query: TAP_UPLOAD (TAP 1.1, section 2.5). All tables of a request are one file. */
import { readFile } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import {
  BIGINT,
  BOOLEAN,
  DOUBLE,
  type DuckDBConnection,
  DuckDBDataChunk,
  DuckDBTimestampValue,
  type DuckDBType,
  type DuckDBValue,
  FLOAT,
  INTEGER,
  TIMESTAMP,
  VARCHAR,
} from '@duckdb/node-api';
import { type DescribedTable, quoted } from '@nearsky/adql';
import { isThere } from '../base/files.ts';
import { parseTime } from '../base/parse_time.ts';
import { type InputTable, outOfYears, TableError, type TableLimits } from '../table_input/input_table.ts';
import { openTable } from '../table_input/open.ts';
import { withIcrs } from '../table_input/positions.ts';
import { CellError, type Column, type ColumnType, checkBlock, withOwnNames } from '../tables/columns.ts';
import { timeCell } from '../tables/timestamp.ts';
import type { Upload } from './upload_file.ts';
import { readUploads } from './upload_file.ts';

const TYPES: Readonly<Record<ColumnType, DuckDBType>> = {
  int64: BIGINT,
  int32: INTEGER,
  float64: DOUBLE,
  float32: FLOAT,
  boolean: BOOLEAN,
  text: VARCHAR,
  time: TIMESTAMP,
};

/** The maximum number of rows in a chunk of the engine. */
const CHUNK_ROWS = 2048;
const MAX_NAME_CHARACTERS = 128;

/**
 * Creates the uploaded tables of a query. They belong to the connection, and disappear with it.
 * @param path the file of all tables; undefined if the request has none
 * @throws TableError
 */
export async function makeUploads(
  connection: DuckDBConnection,
  uploads: readonly Upload[],
  path: string | undefined,
  limits: TableLimits,
): Promise<DescribedTable[]> {
  const parts = path !== undefined && isThere(path) ? readUploads(await readFile(path)) : new Map<string, Uint8Array>();
  const tables: DescribedTable[] = [];
  const left = { bytes: limits.maxBytes };
  for (const [i, { name, key }] of uploads.entries()) {
    const bytes = parts.get(key);
    if (!bytes) throw new TableError(`UPLOAD names the part ${key.slice(0, 64)}, which the request does not have`);
    try {
      tables.push(
        await makeTable(connection, await withIcrs(await openTable(bytes, limits, true)), name, `upload_${i}`, left),
      );
    } catch (error) {
      if (!(error instanceof TableError || error instanceof CellError)) throw error;
      throw new TableError(`the table ${name} cannot be taken because ${error.message}`);
    }
  }
  return tables;
}

async function makeTable(
  connection: DuckDBConnection,
  input: InputTable,
  name: string,
  relation: string,
  left: { bytes: number },
): Promise<DescribedTable> {
  const columns = withOwnNames(input.columns.map((column, i) => described(column, input.timestamps?.has(i) === true)));
  const list = columns.map(column => `${quoted(column.name)} ${TYPES[column.type]}`);
  await connection.run(`CREATE TEMP TABLE ${relation} (${list.join(', ')})`);
  const appender = await connection.createAppender(relation, 'main', 'temp');
  const types = columns.map(({ type }) => TYPES[type]);
  for await (const { rows, cells } of input.blocks(columns.map((_, i) => i))) {
    checkBlock(input.columns, cells);
    for (let from = 0; from < rows; from += CHUNK_ROWS) {
      const to = Math.min(rows, from + CHUNK_ROWS);
      left.bytes -= textBytes(cells, from, to);
      if (left.bytes < 0) throw new TableError('its texts have more bytes than all tables of a query may have');
      const chunk = DuckDBDataChunk.create(types, to - from);
      cells.forEach((of, i) => {
        const values = Array.prototype.slice.call(of, from, to) as DuckDBValue[];
        const isTime = columns[i]!.type === 'time';
        chunk.setColumnValues(i, values.map(isTime ? cell => timeOf(cell, input.columns[i]!) : orNull));
      });
      appender.appendDataChunk(chunk);
      // The queries of others go on meanwhile.
      await setImmediate();
    }
  }
  appender.closeSync();
  return {
    schema: 'TAP_UPLOAD',
    name,
    description: 'The table that came with the query',
    columns,
    relation: `temp.main.${relation}`,
  };
}

/** A lower bound for the bytes of the texts of some rows. A format may store a text once for many rows. */
function textBytes(cells: readonly ArrayLike<unknown>[], from: number, to: number): number {
  let bytes = 0;
  for (const column of cells)
    for (let row = from; row < to; row++) {
      const cell = column[row];
      if (typeof cell === 'string') bytes += cell.length;
    }
  return bytes;
}

/**
 * Converts NaN to null. FITS, VOTable and pandas write NaN if there is no number, but the engine sorts it above all
 * numbers.
 */
const orNull = (cell: DuckDBValue) => (Number.isNaN(cell) ? null : cell);

/** @param cell microseconds since 1970, or the text of a VOTable's timestamp */
function timeOf(cell: DuckDBValue, { name }: Column): DuckDBTimestampValue | null {
  if (cell === null) return null;
  if (typeof cell === 'number' && timeCell(cell) === null) throw outOfYears(name);
  const timeUs = typeof cell === 'number' ? cell : parseTime(`${cell}`);
  if (timeUs === undefined) throw new TableError(`${`${cell}`.slice(0, 40)} in it is no time`);
  return new DuckDBTimestampValue(BigInt(timeUs));
}

/** Removes control characters, because they would end the SQL early, or the name in an answer. */
function described(column: Column, isTimestamp: boolean): Column {
  const name = column.name
    .replace(/\p{Cc}/gu, '_')
    .toWellFormed()
    .slice(0, MAX_NAME_CHARACTERS);
  return { ...column, name, type: isTimestamp ? 'time' : column.type };
}
