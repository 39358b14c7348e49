/** Apache Arrow: the stream format, and files of the file format. */
import { type DataType, type Field, type Table, Type, tableFromIPC, type Vector } from 'apache-arrow';
import { messageOf } from '../base/error_text.ts';
import { toJson } from '../base/json_text.ts';
import type { Cell, Column, ColumnType } from '../tables/columns.ts';
import { blocksOf, checkRows, distinct, type InputTable, TableError, type TableLimits } from './input_table.ts';

export function openArrow(bytes: Uint8Array, limits: TableLimits): InputTable {
  let table: Table;
  try {
    table = tableFromIPC(bytes);
  } catch (error) {
    throw new TableError(`it cannot be read as Arrow: ${messageOf(error)}`);
  }
  checkRows(table.numRows, limits);
  const columns = distinct(table.schema.fields.map(columnOf));
  const vectors = columns.map((_, place) => table.getChildAt(place)!);
  return {
    format: 'arrow',
    columns,
    rows: table.numRows,
    blocks: wanted =>
      blocksOf(table.numRows, wanted.length, (from, to) =>
        wanted.map(place => cellsOf(vectors[place]!, columns[place]!.type, from, to)),
      ),
  };
}

function columnOf({ name, type, metadata }: Field): Column {
  const [unit, ucd] = [metadata.get('unit'), metadata.get('ucd')];
  return {
    name,
    type: typeOf(type),
    ...(unit && { unit }),
    ...(ucd && { ucd }),
    description: metadata.get('description') ?? '',
  };
}

function typeOf(type: DataType): ColumnType {
  const { typeId, bitWidth, isSigned, precision } = type as DataType & Record<string, unknown>;
  if (typeId === Type.Int) {
    if (bitWidth === 64) return isSigned ? 'int64' : 'text';
    return bitWidth === 32 && !isSigned ? 'int64' : 'int32';
  }
  if (typeId === Type.Float) return precision === 2 ? 'float64' : 'float32';
  if (typeId === Type.Bool) return 'boolean';
  return typeId === Type.Timestamp ? 'time' : 'text';
}

function cellsOf(vector: Vector, type: ColumnType, from: number, to: number): Cell[] {
  const cells: Cell[] = new Array(to - from);
  try {
    for (let row = from; row < to; row++) cells[row - from] = cellOf(vector.get(row), type);
  } catch (error) {
    throw new TableError(`it is damaged: ${messageOf(error)}`);
  }
  return cells;
}

function cellOf(value: unknown, type: ColumnType): Cell {
  if (value === null || value === undefined) return null;
  if (type === 'int64') return BigInt(value as number | bigint);
  // The library gives milliseconds, with a fraction.
  if (type === 'time') return Math.round(Number(value) * 1000);
  if (type !== 'text') return value as Cell;
  if (typeof value === 'object') return toJson(JSON.parse(JSON.stringify(value, textOfBigint)));
  return `${value}`;
}

function textOfBigint(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? `${value}` : value;
}
