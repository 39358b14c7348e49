/** Uploaded tables, independent of their format. */
import { type Cell, type Column, MAX_COLUMNS } from '../columns.ts';
import { timeCell } from '../timestamp.ts';
import type { StoredTable } from '../write/parquet.ts';

/** Some consecutive rows: the cells of each requested column. */
export interface Block {
  readonly rows: number;
  readonly cells: readonly ArrayLike<Cell>[];
}

/** A frame of positions, as the file declares it. */
export interface DeclaredFrame {
  /** The name of a system, such as `FK4` or `galactic`; a file may have any text here. */
  readonly name: string;
  /** For example `B1950` or `2000.0`. */
  readonly equinox?: string;
  /** A Julian year. */
  readonly obstime?: number;
  /** The declaration, for messages: `RADESYS=FK4`. */
  readonly by?: string;
}

export interface InputTable {
  readonly format: 'csv' | 'ndjson' | 'votable' | 'fits' | 'parquet' | 'arrow';
  /** The columns; their names are unique. */
  readonly columns: readonly Column[];
  /** The names of columns that cannot be stored in cells, such as complex numbers; `columns` does not include them. */
  readonly dropped?: readonly string[];
  readonly rows: number;
  /** The frames that the file declares for columns, by index in `columns`. */
  readonly frames?: ReadonlyMap<number, DeclaredFrame>;
  /** The frames that the file declares for its equatorial positions in general, not for particular columns. */
  readonly declared?: readonly DeclaredFrame[];
  /**
   * For masked columns, the boolean column that is true where a value is missing; indexes in `columns`. `openTable`
   * makes these cells null.
   */
  readonly masks?: ReadonlyMap<number, number>;
  /** The columns whose cells each hold both a longitude and a latitude, as indexes in `columns`. */
  readonly points?: ReadonlySet<number>;
  /** The text columns that hold times in the format of DALI, as indexes in `columns`. */
  readonly timestamps?: ReadonlySet<number>;
  /**
   * The rows in their order, with the cells of these columns (indexes in `columns`). May be called several times.
   * @throws TableError if the table turns out to be damaged
   */
  blocks(columns: readonly number[]): Iterable<Block> | AsyncIterable<Block>;
  /** The bytes of a row as CSV with commas, without the line end; only for tables that were sent in this form. */
  readonly csvRow?: (row: number) => Uint8Array;
  /** The columns in Parquet's stored form; only if all of them can be copied. */
  readonly stored?: StoredTable;
}

/** The columns of a table, and the declarations about them. */
export type DescribedTable = Pick<InputTable, 'columns' | 'frames' | 'declared' | 'points'>;

export interface TableLimits {
  readonly maxRows: number;
  /** The maximum size of the table in bytes; a compressed table counts decompressed. */
  readonly maxBytes: number;
}

/** The parameters that describe a table's positions. */
export type PositionParam = 'ra' | 'dec' | 'frame' | 'error_arcsec' | 'epoch' | 'columns' | 'at' | 'ra_unit';

/** A table that cannot be used. The message is for the sender of the table. */
export class TableError extends Error {
  override name = 'TableError';
  /** The parameter at fault, if it is not the table itself. */
  readonly param: PositionParam | undefined;

  constructor(message: string, param?: PositionParam) {
    super(message);
    this.param = param;
  }
}

/** The names in a request, separated by commas; quoted names may contain commas. */
export function namesIn(names: string): string[] {
  return [...names.matchAll(/\s*(?:"((?:[^"]|"")*)"|([^,]*))\s*(?:,|$)/g)]
    .map(([, quoted, plain = '']) => quoted?.replaceAll('""', '"') ?? plain.trim())
    .filter(name => name !== '');
}

/**
 * The index of a column; of several names that differ in case alone, the exact one.
 * @throws TableError naming the parameter and listing the columns
 */
export function columnNamed(columns: readonly Column[], name: string, param: PositionParam): number {
  const exact = columns.findIndex(column => column.name === name);
  const place = exact >= 0 ? exact : columns.findIndex(column => column.name.toLowerCase() === name.toLowerCase());
  if (place < 0)
    throw new TableError(`it has no column ${name.slice(0, 64)}, named in ${param}=: ${listOf(columns)}`, param);
  return place;
}

/**
 * The table with only some of its columns, in their original order. The original table keeps all of them.
 * @param names see `namesIn`
 * @throws TableError naming a column that is missing, or that was dropped
 */
export function withColumns(table: InputTable, names: string): InputTable {
  const places = namesIn(names).map(name => {
    if (table.dropped?.includes(name))
      throw new TableError(
        `its column ${name.slice(0, 64)}, named in columns=, has a type that the answer cannot hold, such as lists, bytes or complex numbers`,
        'columns',
      );
    return columnNamed(table.columns, name, 'columns');
  });
  const kept = [...new Set(places)].sort((a, b) => a - b);
  const { csvRow: _, stored: __, ...plain } = table;
  const sorted = new Map(kept.map((place, i) => [place, i]));
  return {
    ...plain,
    columns: kept.map(place => table.columns[place]!),
    timestamps: new Set([...(table.timestamps ?? [])].flatMap(place => sorted.get(place) ?? [])),
    blocks: wanted => table.blocks(wanted.map(place => kept[place]!)),
  };
}

export function listOf(columns: readonly Column[]): string {
  const names = columns.slice(0, 50).map(({ name }) => name.slice(0, 64));
  return `its columns are ${names.join(', ')}${columns.length > names.length ? ', ...' : ''}`;
}

/** The maximum number of rows, and the approximate maximum number of cells, of a block. */
const MAX_BLOCK_ROWS = 65_536;
const MAX_BLOCK_CELLS = 1 << 19;

/** The number of rows per block for this many columns. */
export function blockRows(columns: number): number {
  return Math.max(256, Math.min(MAX_BLOCK_ROWS, Math.floor(MAX_BLOCK_CELLS / columns)));
}

/** @throws TableError */
export function checkRows(rows: number, { maxRows }: TableLimits): void {
  if (rows > maxRows) throw new TableError(`it has more than ${maxRows} rows: send it in parts`);
}

/** @throws TableError */
export function checkColumns(columns: number): void {
  if (columns > MAX_COLUMNS) throw new TableError(`it has more than ${MAX_COLUMNS} columns: leave some out`);
}

/**
 * Makes the names of columns unique: of two columns with the same name, the second gets a number.
 * @throws TableError if there are no columns, or too many
 */
export function distinct(columns: readonly Column[]): Column[] {
  if (columns.length === 0) throw new TableError('it has no columns');
  checkColumns(columns.length);
  const names = new Set<string>();
  return columns.map(column => {
    const name = distinctName(column.name || 'column', names);
    names.add(name);
    return { ...column, name };
  });
}

/** The name if it is free, else the first free one of NAME_2, NAME_3 and so on. */
export function distinctName(name: string, taken: ReadonlySet<string>): string {
  let free = name;
  for (let n = 2; taken.has(free); n++) free = `${name}_${n}`;
  return free;
}

/** The table with null in each cell that a mask declares missing. */
export function withoutMasked({ masks, ...table }: InputTable): InputTable {
  if (!masks || masks.size === 0) return table;
  const { csvRow: _, stored: __, ...plain } = table;
  return {
    ...plain,
    async *blocks(wanted) {
      const read = [...new Set([...wanted, ...wanted.flatMap(place => masks.get(place) ?? [])])];
      for await (const { rows, cells } of table.blocks(read)) {
        const cellsOf = (place: number) => cells[read.indexOf(place)]!;
        const masked = (place: number, mask: ArrayLike<Cell>) =>
          // In a text format every cell may be text.
          Array.from(cellsOf(place), (cell, row) => (/^true$/i.test(`${mask[row]}`) ? null : cell));
        const known = (place: number) => {
          const mask = masks.get(place);
          return mask === undefined ? cellsOf(place) : masked(place, cellsOf(mask));
        };
        yield { rows, cells: wanted.map(known) };
      }
    },
  };
}

/** Blocks of rows for a source that can read any row. */
export function* blocksOf(
  rows: number,
  columns: number,
  read: (from: number, to: number) => ArrayLike<Cell>[],
): Iterable<Block> {
  const step = blockRows(columns);
  for (let from = 0; from < rows; from += step) {
    const to = Math.min(rows, from + step);
    yield { rows: to - from, cells: read(from, to) };
  }
}

/** Blocks of rows for a source that reads records one after another. */
export function* blocksOfRecords(
  records: Iterable<readonly Cell[]>,
  columns: readonly number[],
  cellOf: (cell: Cell, column: number) => Cell,
): Iterable<Block> {
  let cells: Cell[][] = columns.map(() => []);
  const most = blockRows(columns.length);
  let rows = 0;
  for (const record of records) {
    for (let i = 0; i < columns.length; i++) cells[i]!.push(cellOf(record[columns[i]!]!, columns[i]!));
    if (++rows < most) continue;
    yield { rows, cells };
    cells = columns.map(() => []);
    rows = 0;
  }
  if (rows > 0) yield { rows, cells };
}

/** The error for a column with a time that cannot be written. */
export function outOfYears(name: string): TableError {
  return new TableError(
    `a time in its column ${name} lies outside of the years 0 to 9999: leave the column out, or make it text`,
  );
}

/**
 * Checks that all times can be written: their years must have four digits.
 * @throws TableError for any other time, because a writer would break off there
 */
export async function checkTimes({ columns, blocks }: InputTable): Promise<void> {
  const places = columns.flatMap(({ type }, place) => (type === 'time' ? place : []));
  if (places.length === 0) return;
  for await (const { rows, cells } of blocks(places))
    for (const [i, times] of cells.entries())
      for (let row = 0; row < rows; row++)
        if (times[row] !== null && timeCell(times[row] as number) === null) throw outOfYears(columns[places[i]!]!.name);
}

/**
 * A text longer than this is neither a number nor a position. The limit matters because the patterns below take
 * quadratic time.
 */
export const MAX_NUMBER_CHARACTERS = 128;
const INTEGER = /^-?(?:0|[1-9]\d{0,18})$/;
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$|^[+-]?(?:nan|inf|infinity)$/i;

/** Whole numbers that might change if converted to doubles. */
const LONG_OR_PADDED = /^[+-]?(?:0\d+|\d{16,})$/;

/** Whether a double would lose a part of the text: it has too many digits, or is a name like 007. */
function isMoreThanDouble(text: string): boolean {
  if (text.length < 16 && !text.startsWith('0')) return false;
  return LONG_OR_PADDED.test(text) && (/^[+-]?0/.test(text) || !Number.isSafeInteger(Number(text)));
}

/** Determines the common type of all texts of a column. */
export class TypeOfTexts {
  #isInteger = true;
  #isNumber = true;
  #isEmpty = true;
  /** Whether the texts fit into doubles, if they are not all integers. */
  #fitsDoubles = true;

  /** Blanks around a number do not matter. */
  add(cell: string): void {
    const text = cell.trim();
    this.#isEmpty = false;
    if (this.#fitsDoubles && isMoreThanDouble(text)) this.#fitsDoubles = false;
    if (text.length > MAX_NUMBER_CHARACTERS) this.#isInteger = this.#isNumber = false;
    if (this.#isInteger && !isInt64(text)) this.#isInteger = false;
    if (!this.#isInteger && this.#isNumber && !NUMBER.test(text)) this.#isNumber = false;
  }

  get isEmpty(): boolean {
    return this.#isEmpty;
  }

  get type(): 'int64' | 'float64' | 'text' {
    if (this.#isEmpty || !this.#isNumber) return 'text';
    if (this.#isInteger) return 'int64';
    return this.#fitsDoubles ? 'float64' : 'text';
  }
}

/** Whether a text is a 64-bit integer. A text with a leading zero is a name instead. */
function isInt64(text: string): boolean {
  if (!INTEGER.test(text)) return false;
  return text.length < 19 || BigInt.asIntN(64, BigInt(text)) === BigInt(text);
}

/**
 * The beginning of a number in another base, such as 0x10. JavaScript would accept it, but tables do not contain such
 * numbers.
 */
export const OTHER_BASE = /^\s*0[xbo]/i;

/** Reads a number as CSV and VOTable write it; NaN for any other text. */
export function numberOf(text: string): number {
  const infinity = /^\s*([+-]?)inf(?:inity)?\s*$/i.exec(text);
  if (infinity) return infinity[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  return text.trim() === '' || OTHER_BASE.test(text) ? Number.NaN : Number(text);
}
