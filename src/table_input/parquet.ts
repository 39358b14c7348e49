/** Parquet, a row group at a time, by the reader of the catalogs. */

import { ReadFailure } from '../catalogs/errors.ts';
import { type ColumnKind, openParquet, type ParquetFile } from '../catalogs/parquet.ts';
import type { Cell, Column, ColumnType } from '../tables/columns.ts';
import { type Block, checkRows, distinct, type InputTable, TableError, type TableLimits } from './input_table.ts';

const TYPES: Readonly<Record<ColumnKind, ColumnType | undefined>> = {
  boolean: 'boolean',
  integer32: 'int32',
  integer64: 'int64',
  unsigned64: 'text',
  'integer decimal': 'text',
  decimal: 'float64',
  float16: 'float32',
  float: 'float32',
  double: 'float64',
  string: 'text',
  null: 'text',
  other: undefined,
};

/** Rows of a group that are decoded at once. */
const SLICE_ROWS = 65_536;

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
  const [nested] = file.nestedColumns;
  if (nested !== undefined)
    throw new TableError(
      `its column ${nested} holds lists or structures, which cannot be kept: leave it out, or make it text`,
    );
  const names = [...file.columns.keys()];
  const columns = distinct(
    names.map((name): Column => {
      const type = TYPES[file.columns.get(name)!];
      if (type) return { name, type, description: '' };
      throw new TableError(
        `its column ${name} is of a type that cannot be kept, such as a time: leave it out, or make it text`,
      );
    }),
  );
  const unread = file.rowGroups.findIndex(
    (_, group) => names.reduce((sum, name) => sum + file.bytesInRowGroup(name, group), 0) > limits.maxBytes,
  );
  if (unread >= 0)
    throw new TableError(`its row group ${unread} has more than ${limits.maxBytes} bytes: write smaller ones`);
  return {
    format: 'parquet',
    columns,
    rows: file.rows,
    blocks: wanted =>
      blocksOfFile(
        file,
        wanted.map(place => columns[place]!),
        wanted.map(place => names[place]!),
      ),
  };
}

async function* blocksOfFile(
  file: ParquetFile,
  columns: readonly Column[],
  names: readonly string[],
): AsyncIterable<Block> {
  for (const { rowStart, rowEnd } of file.rowGroups) {
    for (let from = rowStart; from < rowEnd; from += SLICE_ROWS) {
      const to = Math.min(rowEnd, from + SLICE_ROWS);
      const rows = Uint32Array.from({ length: to - from }, (_, i) => from + i);
      const cells = await readable(() => Promise.all(names.map(name => file.readValues(name, rows))));
      yield { rows: to - from, cells: cells.map((values, i) => asCells(values, columns[i]!)) };
    }
  }
}

function asCells(values: unknown[], { type }: Column): Cell[] {
  if (type === 'text') return values.map(value => (value === null ? null : `${value}`));
  if (type === 'int64') return values.map(value => (typeof value === 'number' ? BigInt(value) : (value as Cell)));
  return values as Cell[];
}

async function readable<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ReadFailure) throw new TableError(`it is damaged: ${error.message}`);
    throw error;
  }
}
