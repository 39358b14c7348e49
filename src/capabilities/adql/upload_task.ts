/**
 * Reads the tables that come with a query (TAP_UPLOAD; TAP 1.1, section 2.5), and writes them as Parquet, which the
 * engine reads: the task of a process whose memory the kernel limits.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Cell,
  CellError,
  type Column,
  checkBlock,
  type InputTable,
  openQuickTable,
  openTable,
  outOfYears,
  TableError,
  type TableLimits,
  withIcrs,
  withOwnNames,
} from '@nearsky/astrotables';
import { isOutOfMemory } from '@nearsky/astrotables/bytes';
import { timeCell } from '@nearsky/astrotables/timestamp';
import { isThere } from '../../core/base/files.ts';
import { parseTime } from '../../core/base/parse_time.ts';
import type { Task, TaskData, Tasks } from '../../core/pool/pool.ts';
import { PoolError } from '../../core/pool/pool_error.ts';
import { EngineFile } from './engine_file.ts';
import { readUploads, type Upload } from './upload_file.ts';
import { LIST_FILE, storedColumns, tableFile, type UploadedTable } from './uploaded_tables.ts';

export interface ReadUploadsTask extends Task<UploadsRead> {
  readonly module: 'src/capabilities/adql/upload_task';
  readonly kind: 'readUploads';
  readonly uploads: readonly Upload[];
  /** The file of all tables, see `UploadFile`; undefined if there are none. Deleting it stops the task. */
  readonly input: string | undefined;
  /** The output directory, which the task creates: see `uploaded_tables`. */
  readonly output: string;
  /** The limits of each table. All tables together may have at most `maxBytes` of text. */
  readonly limits: TableLimits;
  /** As in `MatchTableTask`. */
  readonly quick?: TableLimits;
}

export type UploadsRead =
  | { readonly outcome: 'read' }
  | { readonly outcome: 'refused'; readonly message: string }
  | { readonly outcome: 'tooLarge' };

const MAX_NAME_CHARACTERS = 128;
/**
 * The maximum number of characters of a column's description, unit and UCD, because an answer may repeat the same
 * column of an upload 500 times.
 */
const [MAX_DESCRIPTION_CHARACTERS, MAX_UNIT_CHARACTERS] = [2000, 200];
/** The columns added to an upload in another frame. */
const ICRS_NAMES = { ra: 'nearsky_ra', dec: 'nearsky_dec' };
/**
 * The maximum length of the names, units and descriptions of all columns as JSON, bytes. The engine holds them in
 * memory while the query runs.
 */
const MAX_LIST_BYTES = 4 << 20;
/**
 * The maximum size of all tables as Parquet, in units of `maxBytes`. It is larger than the upload, because some formats
 * store a repeated value once.
 */
const MAX_GROWTH = 4;

export const tasks: Tasks<ReadUploadsTask> = { readUploads: runReadUploads };

export async function runReadUploads({
  uploads,
  input,
  output,
  limits,
  quick,
}: TaskData<ReadUploadsTask>): Promise<UploadsRead> {
  const left = { textBytes: limits.maxBytes, bytes: MAX_GROWTH * limits.maxBytes };
  try {
    // A smaller process may have left an unfinished one.
    mkdirSync(output, { recursive: true, mode: 0o700 });
    const parts = input === undefined ? new Map<string, Uint8Array>() : readUploads(readFileSync(input));
    const tables: UploadedTable[] = [];
    for (const [i, { name, key }] of uploads.entries()) {
      const bytes = parts.get(key);
      if (!bytes) throw new TableError(`UPLOAD names the part ${key.slice(0, 64)}, which the request does not have`);
      try {
        const opened = await (quick ? openQuickTable(bytes, limits, true, quick) : openTable(bytes, limits, true));
        if (!opened) return { outcome: 'tooLarge' };
        const table = await withIcrs(opened, ICRS_NAMES);
        tables.push({ name, columns: await write(table, join(output, tableFile(i)), () => isThere(input!), left) });
      } catch (error) {
        if (!(error instanceof TableError || error instanceof CellError)) throw error;
        throw new TableError(`the table ${name} cannot be used because ${error.message}`);
      }
    }
    const list = JSON.stringify(tables);
    if (Buffer.byteLength(list) > MAX_LIST_BYTES)
      throw new TableError(`the descriptions of all columns have more than ${MAX_LIST_BYTES} bytes: shorten them`);
    writeFileSync(join(output, LIST_FILE), list, { mode: 0o600 });
    return { outcome: 'read' };
  } catch (error) {
    if (error instanceof TableError) return { outcome: 'refused', message: error.message };
    if (error instanceof PoolError || isOutOfMemory(error)) return { outcome: 'tooLarge' };
    throw error;
  }
}

/** Writes a table in parts. Returns its columns. */
async function write(
  table: InputTable,
  path: string,
  isWanted: () => boolean,
  left: { textBytes: number; bytes: number },
): Promise<Column[]> {
  const columns = withOwnNames(
    table.columns.map((column, i) => {
      const { shape, ...others } = described(column, table.timestamps?.has(i) === true);
      // Shapes in queries are in ICRS.
      const isIcrs = /^(?:icrs|undefined)$/i.test(`${table.frames?.get(i)?.name}`);
      return shape && isIcrs ? { ...others, shape } : others;
    }),
  );
  using file = new EngineFile(path, storedColumns(columns));
  const drain = () => {
    left.bytes -= file.pendingBytes;
    if (left.bytes < 0) throw new TableError('it has too many cells with values: send fewer rows or columns');
    file.drain();
  };
  for await (const { rows, cells } of table.blocks(columns.map((_, i) => i))) {
    if (!isWanted()) throw new TableError('the query was ended');
    checkBlock(table.columns, cells);
    left.textBytes -= textBytes(cells, rows);
    if (left.textBytes < 0) throw new TableError('its strings have more bytes than all tables of a query may have');
    file.writer.block(columns.map((column, i) => storedCells(column, cells[i]!)));
    drain();
  }
  file.writer.end();
  drain();
  return columns;
}

/** A lower bound for the bytes of the strings in some rows. */
function textBytes(cells: readonly ArrayLike<Cell>[], rows: number): number {
  let bytes = 0;
  for (const column of cells) {
    if (typeof column[0] === 'number' || typeof column[0] === 'bigint') continue;
    for (let row = 0; row < rows; row++) {
      const cell = column[row];
      if (typeof cell === 'string') bytes += cell.length;
    }
  }
  return bytes;
}

/**
 * NaN becomes null: FITS, VOTable and pandas write NaN for a missing number, but the engine sorts NaN above all
 * numbers.
 */
function storedCells({ type, name, shape }: Column, cells: ArrayLike<Cell>): ArrayLike<Cell> {
  if (shape) return Array.from(cells, cell => (/NaN/.test(`${cell}`) ? null : cell));
  if (type === 'time') return Array.from(cells, cell => timeOf(cell, name));
  if (type !== 'float64' && type !== 'float32') return cells;
  return Array.from(cells, cell => (Number.isNaN(cell) ? null : cell));
}

/** @param cell microseconds since 1970, or a VOTable's timestamp as a string */
function timeOf(cell: Cell, name: string): bigint | null {
  if (cell === null) return null;
  if (typeof cell === 'number' && timeCell(cell) === null) throw outOfYears(name);
  const timeUs = typeof cell === 'number' ? cell : parseTime(`${cell}`);
  if (timeUs === undefined) throw new TableError(`${`${cell}`.slice(0, 40)} in it is not a time`);
  return BigInt(timeUs);
}

/**
 * Removes control characters, which could end the SQL or a name in an answer early. Shortens strings that are too long.
 */
function described(column: Column, isTimestamp: boolean): Column {
  const name = column.name
    .replace(/\p{Cc}/gu, '_')
    .toWellFormed()
    .slice(0, MAX_NAME_CHARACTERS);
  const description = column.description.slice(0, MAX_DESCRIPTION_CHARACTERS).toWellFormed();
  const { unit, ucd, ...rest } = column;
  const type = isTimestamp ? 'time' : column.type;
  return { ...rest, ...(isShort(unit) && { unit }), ...(isShort(ucd) && { ucd }), name, type, description };
}

function isShort(text: string | undefined): text is string {
  return text !== undefined && text.length <= MAX_UNIT_CHARACTERS;
}
