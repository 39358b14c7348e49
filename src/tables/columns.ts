/** Tables apart from the format in which they are written: their columns, and the values that a cell may hold. */

/**
 * The values of a column's cells that are not null:
 * `int64` a bigint, -2^63 to 2^63 - 1; `int32` an integer, -2^31 to 2^31 - 1; `float64` a number, NaN and the
 * infinities among them; `boolean` a boolean; `text` a string; `time` integer microseconds since 1970, UTC.
 */
export type ColumnType = 'int64' | 'int32' | 'float64' | 'boolean' | 'text' | 'time';

export interface Column {
  readonly name: string;
  readonly type: ColumnType;
  /** As VOUnits 1.0 spells it: `deg`, `arcsec`, `mas.yr**-1`; undefined where there is none. */
  readonly unit?: string;
  /** The meaning of the values as UCD1+ or, where a standard asks for UCD1, as UCD1. */
  readonly ucd?: string;
  readonly description: string;
  /** Whether every cell of a `text` column is ASCII. */
  readonly isAscii?: boolean;
}

export type Cell = bigint | number | string | boolean | null;

/** A row, parallel to the columns. */
export type Row = readonly Cell[];

export interface Table {
  readonly name: string;
  readonly description: string;
  readonly columns: readonly Column[];
}

/** A cell that is not of its column's type: a fault of the code that made the cell. */
export class CellError extends TypeError {
  override name = 'CellError';
}

/** @throws CellError */
export function refuseCell({ name, type }: Column, cell: Cell): never {
  throw new CellError(`Cannot write ${typeof cell} ${String(cell)} to the column ${name} because its type is ${type}`);
}

const INT64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n };
const INT32 = { min: -(2 ** 31), max: 2 ** 31 - 1 };

export function isInt64(cell: Cell): cell is bigint {
  return typeof cell === 'bigint' && cell >= INT64.min && cell <= INT64.max;
}

export function isInt32(cell: Cell): cell is number {
  return Number.isInteger(cell) && (cell as number) >= INT32.min && (cell as number) <= INT32.max;
}

export function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x7f) return false;
  return true;
}
