/** The format-independent description of tables: their columns, and the values that a cell may hold. */

/**
 * The type of a column, which determines its values that are not null: `int64` a bigint, -2^63 to 2^63 - 1; `int32` an
 * integer, -2^31 to 2^31 - 1; `float64` and `float32` a number, NaN and the infinities among them; `boolean` a boolean;
 * `text` a string; `time` integer microseconds since 1970, UTC.
 */
export type ColumnType = 'int64' | 'int32' | 'float64' | 'float32' | 'boolean' | 'text' | 'time';

export interface Column {
  readonly name: string;
  readonly type: ColumnType;
  /** The unit in the spelling of VOUnits 1.0: `deg`, `arcsec`, `mas.yr**-1`; undefined if there is none. */
  readonly unit?: string;
  /** The meaning of the values as UCD1+, or as UCD1 if a standard requires that. */
  readonly ucd?: string;
  readonly description: string;
  /** The frame of a coordinate, if it is not ICRS. */
  readonly frame?: string;
  /** The epoch of a coordinate in ICRS, such as `J2016.0`. */
  readonly epoch?: string;
  readonly isAscii?: boolean;
  /** The XML ID of the column's FIELD in a VOTable, to which a service of the table refers. */
  readonly xmlId?: string;
  /**
   * If each cell of a `text` column is a list of numbers separated by blanks: the type of the numbers. VOTable writes
   * an array.
   */
  readonly numbers?: 'int64' | 'float64';
  /** The shape that these numbers describe: degrees, in the order of DALI 1.1. */
  readonly shape?: 'point' | 'circle' | 'polygon';
}

/** The number of values per shape in a column; undefined if shapes differ in it. */
export function lengthOf(shape: Column['shape']): number | undefined {
  return shape === 'point' ? 2 : shape === 'circle' ? 3 : undefined;
}

/**
 * Makes the names of columns unique, ignoring case. A column whose name is taken gets the suffix `_2`, or the next free
 * number.
 */
export function withOwnNames<C extends Pick<Column, 'name'>>(columns: readonly C[]): C[] {
  /** The last number used for each name. */
  const taken = new Map<string, number>();
  return columns.map(column => {
    let { name } = column;
    const own = name.toLowerCase();
    let number = taken.get(own) ?? 1;
    while (taken.has(name.toLowerCase())) name = `${column.name}_${++number}`;
    taken.set(own, number);
    if (name !== column.name) taken.set(name.toLowerCase(), 1);
    return name === column.name ? column : { ...column, name };
  });
}

export type Cell = bigint | number | string | boolean | null;

/** A row, parallel to the columns. */
export type Row = readonly Cell[];

export interface Table {
  readonly name: string;
  readonly description: string;
  readonly columns: readonly Column[];
  /** Only VOTables mention them. */
  readonly services?: readonly ColumnService[];
}

/** A service that takes a value of a column as its parameter (DataLink 1.1, section 4). */
export interface ColumnService {
  readonly name: string;
  readonly description: string;
  readonly accessUrl: string;
  /** The IVOA identifier of the standard that the service follows. */
  readonly standardId: string;
  readonly contentType: string;
  /** The name of the parameter. */
  readonly parameter: string;
  /** The `xmlId` of the column. A table without the column does not mention the service. */
  readonly of: string;
}

/** A cell whose value does not fit its column's type: a bug in the code that made the cell. */
export class CellError extends TypeError {
  override name = 'CellError';
}

/**
 * Checks a row before any of it is written.
 * @throws CellError if a cell does not fit its column's type
 */
export function checkRow(columns: readonly Column[], cells: Row): void {
  for (let i = 0; i < columns.length; i++) checkCell(columns[i]!, cells[i]!);
}

/**
 * Checks rows that arrive column by column before any of them is written.
 * @throws CellError if a cell does not fit its column's type
 */
export function checkBlock(columns: readonly Column[], cells: readonly ArrayLike<Cell>[]): void {
  columns.forEach((column, i) => {
    const ofColumn = cells[i]!;
    if (ofColumn.constructor === TYPED_ARRAYS[column.type]) return;
    for (let row = 0; row < ofColumn.length; row++) checkCell(column, ofColumn[row]!);
  });
}

/** The typed arrays whose values always fit the type. */
const TYPED_ARRAYS: Partial<Record<ColumnType, { readonly name: string }>> = {
  int64: BigInt64Array,
  int32: Int32Array,
  float64: Float64Array,
  float32: Float32Array,
};

function checkCell(column: Column, cell: Cell): void {
  if (cell === null || isOfType(column, cell)) return;
  const { name, type } = column;
  throw new CellError(`Cannot write ${typeof cell} ${String(cell)} to the column ${name} because its type is ${type}`);
}

function isOfType({ type, isAscii }: Column, cell: Exclude<Cell, null>): boolean {
  switch (type) {
    case 'int64':
      return typeof cell === 'bigint' && cell >= INT64.min && cell <= INT64.max;
    case 'int32':
      return Number.isInteger(cell) && (cell as number) >= INT32.min && (cell as number) <= INT32.max;
    case 'float64':
    case 'float32':
      return typeof cell === 'number';
    case 'time':
      return Number.isInteger(cell);
    case 'boolean':
      return typeof cell === 'boolean';
    case 'text':
      return typeof cell === 'string' && !(isAscii && hasOtherThanAscii(cell));
  }
}

function hasOtherThanAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x7f) return true;
  return false;
}

/**
 * The shortest text that reads back as the same number, with the precision of the column. Readers take `-0` for an
 * integer, and lose its sign.
 */
export function numberText(value: number, type: ColumnType): string {
  if (Object.is(value, -0)) return '-0.0';
  if (type !== 'float32' || !Number.isFinite(value)) return `${value}`;
  let digits = 6;
  while (digits < 9 && Math.fround(Number(value.toPrecision(digits))) !== value) digits++;
  return `${Number(value.toPrecision(digits))}`;
}

const INT64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n };
const INT32 = { min: -(2 ** 31), max: 2 ** 31 - 1 };

/** A limit above the number of columns of any survey's table. */
export const MAX_COLUMNS = 2000;
/** The maximum length of a row in a text format, in bytes. */
export const MAX_ROW_BYTES = 1 << 20;

/**
 * The kind of a column's values. 64-bit integers and decimals without a fraction are bigints, other numbers are
 * numbers; times are bigints in their unit since 1970, and dates are numbers of days since 1970. `null` columns hold
 * only nulls; `other` columns hold values that the store does not accept.
 */
export type ColumnKind =
  | 'boolean'
  | 'integer32'
  | 'unsigned32'
  | 'integer64'
  | 'unsigned64'
  | 'integer decimal'
  | 'decimal'
  | 'float16'
  | 'float'
  | 'double'
  | 'string'
  | 'time in ms'
  | 'time in us'
  | 'time in ns'
  | 'time in int96'
  | 'date'
  | 'null'
  | 'other';

/** How a column is stored in Parquet. */
export interface Stored {
  /** Whether every row has a value. */
  readonly isRequired?: boolean;
  /** Whether most values are distinct. */
  readonly isVaried?: boolean;
  /** Whether the file gives the column's smallest and largest values. */
  readonly hasBounds?: boolean;
}
