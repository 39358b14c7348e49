/** Tables as they are, apart from the format that they are written in: their columns, and what a cell may hold. */

/**
 * What the cells of a column hold where they are not null:
 * `int64` a bigint, -2^63 to 2^63 - 1; `int32` an integer, -2^31 to 2^31 - 1; `float64` a number, NaN and the infinities among them;
 * `boolean` a boolean; `text` a string; `time` integer microseconds since 1970, UTC.
 */
export type ColumnType = 'int64' | 'int32' | 'float64' | 'boolean' | 'text' | 'time';

export interface Column {
  readonly name: string;
  readonly type: ColumnType;
  /** As VOUnits 1.0 spells it: `deg`, `arcsec`, `mas.yr**-1`; undefined where there is none. */
  readonly unit?: string;
  /** What it is, as UCD1+ or, where a standard asks for that, as UCD1. */
  readonly ucd?: string;
  readonly description: string;
  /** Of `text`: every cell is ASCII. */
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

/** A cell that is not of its column's type: a fault of whoever made it. */
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
