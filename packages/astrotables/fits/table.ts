/** Reads FITS binary tables (FITS standard 4.0, section 7.3): their columns, and the values in bytes of rows. */
import { FitsError, type FitsHeader, type Hdu, shown } from './header.ts';

/** The maximum number of columns of a table, by the standard. */
const MAX_COLUMNS = 999;

/**
 * The types of values. C and M are complex numbers; X are bits; A is characters. P and Q are descriptors of arrays in
 * the heap; the column's `letter` is then the type of the arrays.
 */
export type FitsLetter = 'L' | 'X' | 'B' | 'I' | 'J' | 'K' | 'A' | 'E' | 'D' | 'C' | 'M';

/**
 * A scaled value. Integers are numbers in columns of type B, I and J, and bigints in columns of type K, unless a scale
 * or a fraction turns them into doubles. A value equal to TNULL, and a logical that is neither true nor false, is null.
 */
export type FitsItem = number | bigint | boolean | null;

export interface FitsColumn {
  readonly name: string;
  readonly letter: FitsLetter;
  /** For an array in the heap, the type of its descriptor. */
  readonly heap?: 'P' | 'Q';
  /** The number of values per row, including characters and bits. For descriptors, 0 or 1. */
  readonly repeat: number;
  /** Bytes from the start of the row. */
  readonly offset: number;
  /** Bytes of a row. */
  readonly bytes: number;
  readonly scale: number;
  readonly zero: number | bigint;
  /** Whether the values are integers after scaling. */
  readonly isInteger: boolean;
  /** TNULL: the unscaled integer that stands for null. */
  readonly blank: number | bigint | undefined;
  /** From TDIM, or the length and number of strings in `rAw`. Empty without either. */
  readonly dims: readonly number[];
  readonly unit: string | undefined;
  readonly ucd: string | undefined;
  /** TCOMM. */
  readonly comment: string | undefined;
}

export interface FitsTable {
  readonly header: FitsHeader;
  readonly columns: readonly FitsColumn[];
  readonly rows: number;
  readonly width: number;
  /** The position of the heap in bytes from the first row: `start` inclusive, `end` exclusive. */
  readonly heap: { readonly start: number; readonly end: number };
}

/** The bytes of a value. For X, the bytes of 8 bits. */
const WIDTHS: Readonly<Record<FitsLetter | 'P' | 'Q', number>> = {
  L: 1,
  X: 1,
  B: 1,
  I: 2,
  J: 4,
  K: 8,
  A: 1,
  E: 4,
  D: 8,
  C: 8,
  M: 16,
  P: 8,
  Q: 16,
};

/** Whether a header belongs to a binary table that is not compressed. */
export function isTable(header: FitsHeader): boolean {
  return header.get('XTENSION') === 'BINTABLE' && header.get('ZIMAGE') !== true && header.get('ZTABLE') !== true;
}

/** Whether a column has real numbers, stored in the rows themselves. */
export function isNumeric({ letter, heap }: FitsColumn): boolean {
  return /^[BIJKED]$/.test(letter) && !heap;
}

/** @throws FitsError if the header contradicts itself */
export function tableOf({ header, dataBytes }: Hdu): FitsTable {
  const columns: FitsColumn[] = [];
  let offset = 0;
  for (let n = 1; n <= header.count('TFIELDS', MAX_COLUMNS); n++) {
    columns.push(columnOf(header, n, offset));
    offset += columns.at(-1)!.bytes;
  }
  const [width, rows] = [header.count('NAXIS1'), header.count('NAXIS2')];
  if (offset !== width) throw new FitsError(`its columns take ${offset} bytes of a row, and NAXIS1 is ${width}`);
  if (width === 0 && rows > 0) throw new FitsError(`its ${rows} rows have no bytes`);
  if (width * rows > dataBytes)
    throw new FitsError(`its ${rows} rows take ${width * rows} bytes, and its header gives them ${dataBytes}`);
  const start = header.get('THEAP') === undefined ? width * rows : header.count('THEAP');
  return { header, columns, rows, width, heap: { start, end: dataBytes } };
}

function columnOf(header: FitsHeader, n: number, offset: number): FitsColumn {
  const text = (keyword: string) => header.text(`${keyword}${n}`) || undefined;
  const form = text('TFORM') ?? '';
  const name = text('TTYPE') ?? '';
  const [, digits, heap, letter, width] = /^\s*(\d*)([PQ]?)([LXBIJKAEDCM])(\d*)/.exec(form) ?? [];
  const repeat = digits === '' ? 1 : Number(digits);
  if (letter === undefined || (heap !== '' && repeat > 1) || !Number.isSafeInteger(repeat))
    throw new FitsError(
      `its column ${shown(name || n)} has the TFORM ${shown(form || '(none)')}, which is not a FITS format`,
    );
  // The older form of an array of strings, `rAw`: 12A4 is three strings of 4 characters.
  const ofText = letter === 'A' && heap === '' ? Number(width) : 0;
  const scale = Number(header.number(`TSCAL${n}`, 1));
  const zero = header.number(`TZERO${n}`, 0);
  const isWhole = /[BIJK]/.test(letter);
  const isInteger = isWhole && scale === 1 && (typeof zero === 'bigint' || Number.isInteger(zero));
  const blank = isWhole && header.get(`TNULL${n}`) !== undefined ? header.number(`TNULL${n}`, 0) : undefined;
  return {
    name,
    letter: letter as FitsLetter,
    ...(heap && { heap: heap as 'P' | 'Q' }),
    repeat,
    offset,
    bytes: heap ? repeat * WIDTHS[heap as 'P' | 'Q'] : itemBytes(letter as FitsLetter, repeat),
    scale,
    zero,
    isInteger,
    blank,
    dims: ofText > 0 ? [ofText, Math.floor(repeat / ofText)] : (text('TDIM')?.match(/\d+/g) ?? []).map(Number),
    unit: text('TUNIT'),
    ucd: text('TUCD'),
    comment: text('TCOMM'),
  };
}

function itemBytes(letter: FitsLetter, count: number): number {
  return letter === 'X' ? Math.ceil(count / 8) : count * WIDTHS[letter];
}

/** Reads the value with index `item` among the values that begin at an offset. */
export type ItemReader = (view: DataView, at: number, item: number) => FitsItem;

/** Reads unscaled values. A complex number counts as two values. */
const RAW: Readonly<Record<Exclude<FitsLetter, 'A'>, ItemReader>> = {
  L: (view, at, item) => logicalOf(view.getUint8(at + item)),
  X: (view, at, item) => (view.getUint8(at + (item >> 3)) & (128 >> (item & 7))) !== 0,
  B: (view, at, item) => view.getUint8(at + item),
  I: (view, at, item) => view.getInt16(at + 2 * item),
  J: (view, at, item) => view.getInt32(at + 4 * item),
  K: (view, at, item) => view.getBigInt64(at + 8 * item),
  E: (view, at, item) => view.getFloat32(at + 4 * item),
  D: (view, at, item) => view.getFloat64(at + 8 * item),
  C: (view, at, item) => view.getFloat32(at + 4 * item),
  M: (view, at, item) => view.getFloat64(at + 8 * item),
};

function logicalOf(byte: number): boolean | null {
  return byte === 84 ? true : byte === 70 ? false : null;
}

/**
 * The reader of a column's values, which must not be characters. It is chosen once, because all values are scaled and
 * compared in the same way.
 */
export function itemReader({ letter, scale, zero, blank, isInteger }: FitsColumn): ItemReader {
  if (letter === 'A') throw new TypeError('characters are read as texts');
  const raw = RAW[letter];
  const scaled = letter === 'L' || letter === 'X' ? raw : scaledReader(raw, letter, scale, zero, isInteger);
  if (blank === undefined) return scaled;
  const unscaledNull = letter === 'K' ? wholeOf(blank) : Number(blank);
  return (view, at, item) => (raw(view, at, item) === unscaledNull ? null : scaled(view, at, item));
}

function scaledReader(
  raw: ItemReader,
  letter: FitsLetter,
  scale: number,
  zero: number | bigint,
  isInteger: boolean,
): ItemReader {
  if (scale === 1 && Number(zero) === 0) return raw;
  if (letter === 'K' && isInteger) {
    const whole = BigInt(zero);
    return (view, at, item) => (raw(view, at, item) as bigint) + whole;
  }
  const double = Number(zero);
  // Only the real part of a complex number has an offset.
  if (letter === 'C' || letter === 'M')
    return (view, at, item) => Number(raw(view, at, item)) * scale + (item % 2 === 0 ? double : 0);
  return (view, at, item) => Number(raw(view, at, item)) * scale + double;
}

/** The value as a bigint, if it is an integer. A fraction stays a number, and so equals no bigint. */
function wholeOf(value: number | bigint): number | bigint {
  return Number.isInteger(value) ? BigInt(value) : value;
}

/** The reader of a column's values as doubles: null becomes NaN, true 1 and false 0. */
export function numberReader(column: FitsColumn): (view: DataView, at: number, item: number) => number {
  const { letter, scale, zero, blank } = column;
  // Rounded once, like the bigint, which takes ten times as long to make.
  if (letter === 'K' && scale === 1 && Number(zero) === 0 && blank === undefined)
    return (view, at, item) => 2 ** 32 * view.getInt32(at + 8 * item) + view.getUint32(at + 8 * item + 4);
  const read = itemReader(column);
  return (view, at, item) => {
    const value = read(view, at, item);
    return typeof value === 'number' ? value : value === null ? Number.NaN : Number(value);
  };
}

/** Contiguous values: `count` of them, the first at an offset. */
export interface Values {
  readonly at: number;
  readonly count: number;
}

/**
 * Locates a row's values of a column, in the row itself or in the heap.
 * @param rows from the first row to the end of the heap
 * @throws FitsError where an array is not within the heap
 */
export function valuesAt(rows: DataView, { width, heap }: FitsTable, column: FitsColumn, row: number): Values {
  const at = row * width + column.offset;
  if (column.heap === undefined || column.repeat === 0) return { at, count: column.repeat };
  const [count, place] =
    column.heap === 'P'
      ? [rows.getInt32(at), rows.getInt32(at + 4)]
      : [Number(rows.getBigInt64(at)), Number(rows.getBigInt64(at + 8))];
  if (count === 0) return { at, count };
  const isWithin = count > 0 && place >= 0 && heap.start + place + itemBytes(column.letter, count) <= heap.end;
  if (isWithin) return { at: heap.start + place, count };
  throw new FitsError(
    `row ${row + 1} of its column ${shown(column.name)} has ${count} values at byte ${place} of a heap of ${Math.max(0, heap.end - heap.start)} bytes`,
  );
}

/** Yields each value; a complex number counts as two. */
export function itemsOf(rows: DataView, { letter }: FitsColumn, { at, count }: Values, read: ItemReader): FitsItem[] {
  return Array.from({ length: letter === 'C' || letter === 'M' ? 2 * count : count }, (_, i) => read(rows, at, i));
}

/**
 * The texts of a column of characters: one, or as many as TDIM states. A text ends at a NUL, and trailing blanks do not
 * count.
 */
export function textsOf(rows: DataView, { dims }: FitsColumn, { at, count }: Values): string[] {
  const [length = count] = dims.length > 1 ? dims : [count];
  const bytes = Buffer.from(rows.buffer, rows.byteOffset + at, count).toString('latin1');
  return Array.from({ length: length > 0 ? Math.floor(count / length) : 0 }, (_, i) =>
    bytes
      .slice(i * length, (i + 1) * length)
      .split('\0', 1)[0]!
      .trimEnd(),
  );
}
