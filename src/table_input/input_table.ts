/** Tables that people send, apart from the format in which they come. */
import type { Cell, Column } from '../tables/columns.ts';
import type { StoredTable } from '../tables/parquet.ts';
import { timeCell } from '../tables/timestamp.ts';

/** Some consecutive rows: the cells of each column that was asked for. */
export interface Block {
  readonly rows: number;
  readonly cells: readonly ArrayLike<Cell>[];
}

/** A frame of positions, in the words of the file. */
export interface DeclaredFrame {
  /** Of a system, such as `FK4` or `galactic`; the file may have any other text here. */
  readonly name: string;
  /** Such as `B1950` or `2000.0`. */
  readonly equinox?: string;
  /** A Julian year. */
  readonly obstime?: number;
}

/** The years from which an equinox is one of FK5, where the file names no system (FITS standard 4.0, section 8.3). */
const FIRST_FK5 = 1984;

/**
 * The frame that the keywords RADESYS and EQUINOX declare.
 * @param equinox a year, with or without `J` or `B`
 */
export function equatorialFrame(system: string | undefined, equinox: string | undefined): DeclaredFrame | undefined {
  if (equinox === undefined && !system) return undefined;
  const [, letter = '', year] = /^([bj]?)\s*(.*)$/i.exec(equinox ?? '')!;
  const isFk4 = letter === '' ? Number(year) < FIRST_FK5 : /b/i.test(letter);
  const name = system || (isFk4 ? 'FK4' : 'FK5');
  return { name, ...(equinox !== undefined && { equinox: `${letter}${Number(year)}` }) };
}

export interface InputTable {
  readonly format: 'csv' | 'ndjson' | 'votable' | 'fits' | 'parquet' | 'arrow';
  /** With names that differ from each other. */
  readonly columns: readonly Column[];
  /** The names of columns that no cell can hold, such as complex numbers: they are not in `columns`. */
  readonly dropped?: readonly string[];
  readonly rows: number;
  /** The frames that the file declares for columns (places in `columns`). */
  readonly frames?: ReadonlyMap<number, DeclaredFrame>;
  /** The frame that the file declares for its equatorial positions, without a word on columns. */
  readonly frame?: DeclaredFrame | undefined;
  /** The columns whose cells each hold a longitude and a latitude (places in `columns`). */
  readonly points?: ReadonlySet<number>;
  /** The columns of texts that are times as DALI writes them (places in `columns`). */
  readonly timestamps?: ReadonlySet<number>;
  /**
   * The rows in their order, with the cells of these columns (places in `columns`). May be called several times.
   * @throws TableError where the table turns out to be damaged
   */
  blocks(columns: readonly number[]): Iterable<Block> | AsyncIterable<Block>;
  /** The bytes of a row as CSV with commas, without the end of the line; only of a table that was sent so. */
  readonly csvRow?: (row: number) => Uint8Array;
  /** The columns as Parquet stores them; only where all of them can be copied. */
  readonly stored?: StoredTable;
}

/** The columns of a table and what is declared of them. */
export type DescribedTable = Pick<InputTable, 'columns' | 'frames' | 'frame' | 'points'>;

export interface TableLimits {
  readonly maxRows: number;
  /** The largest size of the table; a compressed table counts decompressed. */
  readonly maxBytes: number;
}

/** The parameters that name a table's positions. */
export type PositionParam = 'ra' | 'dec' | 'frame' | 'columns';

/** A table that cannot be used. The message is for whoever sent it. */
export class TableError extends Error {
  override name = 'TableError';
  /** The parameter at fault, where it is not the table. */
  readonly param: PositionParam | undefined;

  constructor(message: string, param?: PositionParam) {
    super(message);
    this.param = param;
  }
}

/**
 * The table with some of its columns, in their order in the table; all of them are still there to be read from the whole table.
 * @param names as a request gives them, with commas between; names in quotes may have commas
 * @throws TableError that names the one that the table has not, or cannot keep
 */
export function withColumns(table: InputTable, names: string): InputTable {
  const wanted = [...names.matchAll(/\s*(?:"((?:[^"]|"")*)"|([^,]*))\s*(?:,|$)/g)]
    .map(([, quoted, plain = '']) => quoted?.replaceAll('""', '"') ?? plain.trim())
    .filter(name => name !== '');
  const places = wanted.map(name => {
    const exact = table.columns.findIndex(column => column.name === name);
    const place =
      exact >= 0 ? exact : table.columns.findIndex(column => column.name.toLowerCase() === name.toLowerCase());
    if (place >= 0) return place;
    const shown = name.slice(0, 64);
    throw new TableError(
      table.dropped?.includes(name)
        ? `its column ${shown}, which columns= names, is of a type that cannot be kept, such as lists, bytes or complex numbers`
        : `it has no column ${shown}, which columns= names: ${listOf(table.columns)}`,
      'columns',
    );
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

/** More columns than any survey's table has. */
const MAX_COLUMNS = 2000;
/** The longest row of a format that is text, in bytes. */
export const MAX_ROW_BYTES = 1 << 20;
/** The most rows, and about the most cells, of a block. */
const MAX_BLOCK_ROWS = 65_536;
const MAX_BLOCK_CELLS = 1 << 19;

/** The number of rows of a block of so many columns. */
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
 * The columns with names that differ: of two with one name, the second gets a number.
 * @throws TableError where there are none, or too many
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

/** The name, or the first of NAME_2, NAME_3 and so on that is not taken. */
export function distinctName(name: string, taken: ReadonlySet<string>): string {
  let free = name;
  for (let n = 2; taken.has(free); n++) free = `${name}_${n}`;
  return free;
}

/** Blocks of rows that can be read at any place. */
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

/** Records that are read one after another, as blocks. */
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

/** For a column with a time that no answer can write. */
export function outOfYears(name: string): TableError {
  return new TableError(
    `a time in its column ${name} lies outside of the years 0 to 9999: leave the column out, or make it text`,
  );
}

/**
 * A time that the answer can write is in a year of four digits.
 * @throws TableError where another is in the table: the answer would end there
 */
export async function checkTimes({ columns, blocks }: InputTable): Promise<void> {
  const places = columns.flatMap(({ type }, place) => (type === 'time' ? place : []));
  if (places.length === 0) return;
  for await (const { rows, cells } of blocks(places))
    for (const [i, times] of cells.entries())
      for (let row = 0; row < rows; row++)
        if (times[row] !== null && timeCell(times[row] as number) === null) throw outOfYears(columns[places[i]!]!.name);
}

/** A longer text is neither a number nor a position. The patterns below would take quadratic time to find that out. */
export const MAX_NUMBER_CHARACTERS = 128;
const INTEGER = /^-?(?:0|[1-9]\d{0,18})$/;
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$|^[+-]?(?:nan|inf|infinity)$/i;

/** The whole numbers that could be changed by becoming doubles. */
const LONG_OR_PADDED = /^[+-]?(?:0\d+|\d{16,})$/;

/** Whether a double says less than the text: it has too many digits, or it is a name like 007. */
function isMoreThanDouble(text: string): boolean {
  if (text.length < 16 && !text.startsWith('0')) return false;
  return LONG_OR_PADDED.test(text) && (/^[+-]?0/.test(text) || !Number.isSafeInteger(Number(text)));
}

/** The type that all texts of a column have. */
export class TypeOfTexts {
  #isInteger = true;
  #isNumber = true;
  #isEmpty = true;
  /** Whether the texts fit into doubles, where they are not all integers. */
  #fitsDoubles = true;

  add(text: string): void {
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

/** Whether a text is a 64-bit integer. A text with a leading zero is not: it is a name. */
function isInt64(text: string): boolean {
  if (!INTEGER.test(text)) return false;
  return text.length < 19 || BigInt.asIntN(64, BigInt(text)) === BigInt(text);
}

/** The begin of a number in another base, such as 0x10: JavaScript reads it, and no table has one. */
export const OTHER_BASE = /^\s*0[xbo]/i;

/** A number as CSV and VOTable write it; NaN for what is none. */
export function numberOf(text: string): number {
  const infinity = /^\s*([+-]?)inf(?:inity)?\s*$/i.exec(text);
  if (infinity) return infinity[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  return text.trim() === '' || OTHER_BASE.test(text) ? Number.NaN : Number(text);
}
