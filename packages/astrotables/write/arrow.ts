/**
 * The Apache Arrow stream format (Arrow's file format is different). The schema's metadata has two keys: the program's
 * name, with the table's metadata, and `pandas`, with data frame types.
 */
import { Table as ArrowTable, type Data, makeData, RecordBatch, Struct, tableToIPC } from 'apache-arrow';
import type { ByteSink } from '../bytes.ts';
import type { Cell, Column, ColumnType, Table } from '../columns.ts';
import { ARROW_TYPES, arrowSchema, schemaMessage } from './arrow_schema.ts';
import { Chunks } from './chunks.ts';
import { pandasColumns } from './metadata.ts';
import type { About, TableWriter } from './table_writer.ts';

const utf8 = new TextEncoder();
/** The end of a stream: a marker, and the length 0. */
const END_OF_STREAM = 8;

export function beginArrow(out: ByteSink, { name, description, columns }: Table, about: About): TableWriter {
  const metadata = new Map([
    ['name', name],
    ['description', description],
    [about.program, about.json],
    ['pandas', pandasColumns(columns, about.program)],
  ]);
  const schema = arrowSchema(columns, metadata);
  const stream = (batches: RecordBatch[]) => tableToIPC(new ArrowTable(schema, batches), 'stream');
  const begin = schemaMessage(schema);
  out.fragment(begin);
  const chunks = new Chunks(columns, (values, length) => {
    const children = columns.map((column, i) => dataOf(column, values[i]!));
    const data = makeData({ type: new Struct(schema.fields), length, nullCount: 0, children });
    out.fragment(stream([new RecordBatch(schema, data)]).subarray(begin.length, -END_OF_STREAM));
  });
  return {
    row: cells => chunks.add(cells),
    block: cells => chunks.addBlock(cells),
    end() {
      chunks.flush();
      out.fragment(stream([]).subarray(-END_OF_STREAM));
    },
  };
}

/**
 * The buffers of a column (Arrow columnar format 1.5, "Physical Memory Layout"): one bit per cell, set if it is not
 * null, then the values.
 */
function dataOf(column: Column, cells: ArrayLike<Cell>): Data {
  const { length } = cells;
  const nullBitmap = bitmap(cells, cell => cell !== null);
  let nullCount = 0;
  for (let i = 0; i < length; i++) if (cells[i] === null) nullCount++;
  const common = { length, nullCount, nullBitmap };
  if (column.type === 'text')
    return makeData({ type: ARROW_TYPES.text, ...common, ...textOf(cells as ArrayLike<string | null>) });
  return makeData({ type: ARROW_TYPES[column.type], ...common, data: VALUES[column.type](cells) } as never);
}

/** The values of a column. A null may have any value, because a bitmap marks it. */
const VALUES: Readonly<Record<Exclude<ColumnType, 'text'>, (cells: ArrayLike<Cell>) => ArrayBufferView>> = {
  int64: cells => BigInt64Array.from(cells, cell => (cell as bigint) ?? 0n),
  time: cells => BigInt64Array.from(cells, cell => BigInt(cell ?? 0)),
  int32: cells => Int32Array.from(cells, Number),
  float64: cells => Float64Array.from(cells, Number),
  float32: cells => Float32Array.from(cells, Number),
  boolean: cells => bitmap(cells, cell => cell === true),
};

function bitmap(cells: ArrayLike<Cell>, isSet: (cell: Cell) => boolean): Uint8Array {
  const bits = new Uint8Array(Math.ceil(cells.length / 8));
  for (let i = 0; i < cells.length; i++) if (isSet(cells[i]!)) bits[i >> 3]! |= 1 << (i & 7);
  return bits;
}

/** The concatenated texts, and the offset at which each begins. */
function textOf(cells: ArrayLike<string | null>): { valueOffsets: Int32Array; data: Uint8Array } {
  const texts = Array.from(cells, cell => utf8.encode(cell ?? ''));
  const valueOffsets = new Int32Array(cells.length + 1);
  texts.forEach((text, i) => {
    valueOffsets[i + 1] = valueOffsets[i]! + text.length;
  });
  const data = new Uint8Array(valueOffsets.at(-1)!);
  for (const [i, text] of texts.entries()) data.set(text, valueOffsets[i]!);
  return { valueOffsets, data };
}
