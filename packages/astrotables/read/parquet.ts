/** Reads Parquet, one row group at a time. */

import { isAllocationFailure } from '../bytes.ts';
import type { Cell, Column, ColumnType } from '../columns.ts';
import { ReadFailure } from '../files.ts';
import { type ColumnKind, openParquet, type ParquetFile } from '../parquet/file.ts';
import type { ColumnPage } from '../parquet/pages.ts';
import type { StoredColumn } from '../parquet/stored_column.ts';
import type { StoredGroup } from '../write/parquet.ts';
import { declaredBy, type FieldMetadata } from './file_metadata.ts';
import {
  type Block,
  blockRows,
  checkRows,
  type DescribedTable,
  distinct,
  type InputTable,
  TableError,
  type TableLimits,
} from './input_table.ts';

const TYPES: Readonly<Record<ColumnKind, ColumnType | undefined>> = {
  boolean: 'boolean',
  integer32: 'int32',
  unsigned32: 'int64',
  integer64: 'int64',
  unsigned64: 'text',
  'integer decimal': 'text',
  decimal: 'float64',
  float16: 'float32',
  float: 'float32',
  double: 'float64',
  string: 'text',
  'time in ms': 'time',
  'time in us': 'time',
  'time in ns': 'time',
  'time in int96': 'time',
  date: 'time',
  null: 'text',
  other: undefined,
};

export async function openParquetTable(bytes: Uint8Array, limits: TableLimits): Promise<InputTable> {
  const file = await readable(() =>
    openParquet({
      name: 'the table',
      byteLength: bytes.length,
      read: async (start, end) => new Uint8Array(bytes.subarray(start, end)).buffer,
      close: () => {},
    }),
  );
  checkRows(file.rows, limits);
  const names = keptColumns(file);
  const dropped = [...file.nestedColumns, ...[...file.columns.keys()].filter(name => !names.includes(name))];
  const columns = distinct(plainColumns(file, names));
  const unread = file.rowGroups.findIndex(
    (_, group) => names.reduce((sum, name) => sum + file.bytesInRowGroup(name, group), 0) > limits.maxBytes,
  );
  if (unread >= 0)
    throw new TableError(`its row group ${unread} has more than ${limits.maxBytes} bytes: write smaller ones`);
  return {
    format: 'parquet',
    ...(await describedParquet(file, columns)),
    dropped,
    rows: file.rows,
    blocks: wanted =>
      blocksOfFile(
        file,
        wanted.map(place => ({ ...columns[place]!, name: names[place]! })),
      ),
    ...(dropped.length === 0 &&
      isCopied(file) && { stored: { elements: file.elements, groups: () => storedGroups(file, names) } }),
  };
}

const keptColumns = ({ columns }: ParquetFile) => [...columns.keys()].filter(name => TYPES[columns.get(name)!]);

function plainColumns({ columns }: ParquetFile, names: readonly string[]): Column[] {
  return names.map(name => ({ name, type: TYPES[columns.get(name)!]!, description: '' }));
}

/**
 * The columns of a file, with the declarations in its metadata.
 * @throws TableError if the metadata cannot be read
 */
export async function describedParquet(
  file: ParquetFile,
  columns: readonly Column[] = plainColumns(file, keptColumns(file)),
): Promise<DescribedTable> {
  return declaredBy(columns, key => file.metadataText(key), await fieldsOf(file));
}

const ARROW_KEY = 'ARROW:schema';
/** The schema of Arrow adds information only if its fields have one of these keys. */
const FIELD_KEYS = ['unit', 'ucd', 'description', 'frame'];

/** The metadata of the fields by name, if the file has an Arrow schema with such metadata. */
async function fieldsOf(file: ParquetFile): Promise<(name: string) => FieldMetadata | undefined> {
  const message = Buffer.from(file.metadataText(ARROW_KEY) ?? '', 'base64');
  if (!FIELD_KEYS.some(key => message.includes(key))) return () => undefined;
  const fields = (await import('./arrow_messages.ts')).fieldsOfSchema(message);
  return name => fields.get(name);
}

/** The kinds of columns that `beginParquet` stores in the same way. */
const COPIED: readonly ColumnKind[] = [
  'boolean',
  'integer32',
  'integer64',
  'float',
  'double',
  'string',
  'time in ms',
  'time in us',
  'time in ns',
  'date',
];
/** The maximum number of rows in a copied row group, because the row group that is written is made at once. */
const MAX_COPIED_ROWS = 1 << 20;

function isCopied({ columns, rowGroups }: ParquetFile): boolean {
  return (
    [...columns.values()].every(kind => COPIED.includes(kind)) &&
    rowGroups.every(({ rowStart, rowEnd }) => rowEnd - rowStart <= MAX_COPIED_ROWS)
  );
}

async function* storedGroups(file: ParquetFile, names: readonly string[]): AsyncIterable<StoredGroup> {
  for (const [group, { rowStart, rowEnd }] of file.rowGroups.entries()) {
    const columns = await readable(() => Promise.all(names.map(name => soundColumn(file, name, group))));
    yield { rows: rowEnd - rowStart, columns };
  }
}

/** A column in its stored form. It is decoded first as a check, so that damaged pages are not passed on. */
async function soundColumn(file: ParquetFile, name: string, group: number): Promise<StoredColumn> {
  for (const _ of await file.pages(name, group));
  return await file.storedColumn(name, group);
}

async function* blocksOfFile(file: ParquetFile, columns: readonly Column[]): AsyncIterable<Block> {
  const step = blockRows(columns.length);
  for (const [group, { rowStart, rowEnd }] of file.rowGroups.entries()) {
    const readers: ColumnReader[] = [];
    for (const column of columns)
      readers.push(
        new ColumnReader(
          await readable(() => file.pages(column.name, group)),
          column,
          MICROSECONDS[file.columns.get(column.name)!],
        ),
      );
    for (let from = rowStart; from < rowEnd; from += step) {
      const rows = Math.min(rowEnd - from, step);
      yield { rows, cells: await readable(async () => readers.map(reader => reader.take(rows))) };
    }
  }
}

const MICROSECONDS_PER_DAY = 86_400_000_000;
/**
 * Converts times in the unit of a file to microseconds, and dates to the beginning of the day. Fractions of a
 * microsecond are dropped.
 */
const MICROSECONDS: Partial<Record<ColumnKind, (time: unknown) => number>> = {
  'time in ms': time => Number((time as bigint) * 1000n),
  'time in us': time => Number(time as bigint),
  'time in ns': time => Number((time as bigint) / 1000n),
  'time in int96': time => Number((time as bigint) / 1000n),
  date: days => (days as number) * MICROSECONDS_PER_DAY,
};

/** Returns the cells of a column block by block. Each page is decoded once. */
class ColumnReader {
  readonly #pages: Iterator<ColumnPage>;
  readonly #column: Column;
  readonly #toMicroseconds: ((time: unknown) => number) | undefined;
  #page: ColumnPage = { firstRow: 0, endRow: 0, values: [], present: undefined };
  /** The first row of the current page, and the first of its values, that were not returned yet. */
  #row = 0;
  #value = 0;

  /** @param toMicroseconds converts times; undefined for other columns */
  constructor(pages: Iterable<ColumnPage>, column: Column, toMicroseconds?: (time: unknown) => number) {
    this.#toMicroseconds = toMicroseconds;
    this.#pages = pages[Symbol.iterator]();
    this.#column = column;
  }

  take(rows: number): ArrayLike<Cell> {
    const whole = this.#slice(rows);
    if (whole) return whole;
    const cells: Cell[] = new Array(rows);
    for (let row = 0; row < rows; row++) {
      const page = this.#current();
      const isPresent = !page.present || page.present[this.#row]! === 1;
      this.#row++;
      cells[row] = isPresent ? this.#cellOf(page.values[this.#value++]) : null;
    }
    return cells;
  }

  /** A part of one page without nulls, whose values can be used as cells directly. */
  #slice(rows: number): ArrayLike<Cell> | undefined {
    const { values, present, firstRow, endRow } = this.#current();
    const isTyped = values instanceof Float64Array || values instanceof Float32Array || values instanceof BigInt64Array;
    if (present || !isTyped || this.#toMicroseconds || this.#row + rows > endRow - firstRow) return undefined;
    const cells = values.subarray(this.#value, this.#value + rows);
    this.#row += rows;
    this.#value += rows;
    return cells;
  }

  #current(): ColumnPage {
    while (this.#row === this.#page.endRow - this.#page.firstRow) {
      const next = this.#pages.next();
      if (next.done) throw new ReadFailure(`column ${this.#column.name} ends early`);
      this.#page = next.value;
      this.#row = this.#value = 0;
    }
    return this.#page;
  }

  #cellOf(value: unknown): Cell {
    const { type, name } = this.#column;
    if (value === undefined) throw new ReadFailure(`a row of column ${name} has no value and is not null`);
    if (type === 'text') return `${value}`;
    if (this.#toMicroseconds) return this.#toMicroseconds(value);
    return type === 'int64' && typeof value === 'number' ? BigInt(value) : (value as Cell);
  }
}

/** @throws TableError if the file is damaged; the error of the file if memory is exhausted */
async function readable<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ReadFailure && !isAllocationFailure(error))
      throw new TableError(`it is damaged: ${error.message}`);
    throw error;
  }
}
