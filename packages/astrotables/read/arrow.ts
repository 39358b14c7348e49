/** Apache Arrow: the stream format, and files of the file format; with LZ4, ZSTD or no compression. */
import { zstdDecompressSync } from 'node:zlib';
import {
  CompressionType,
  compressionRegistry,
  DataType,
  type Field,
  Int64,
  Precision,
  type Table,
  TimeUnit,
  Type,
  tableFromIPC,
  Vector,
} from 'apache-arrow';
import type { Cell, Column, ColumnType } from '../columns.ts';
import { checkedFile, checkedStream, damaged } from './arrow_messages.ts';
import { declaredBy } from './file_metadata.ts';
import { blocksOf, checkRows, distinct, type InputTable, TableError, type TableLimits } from './input_table.ts';
import { lz4Frame } from './lz4_frame.ts';

export function openArrow(bytes: Uint8Array, limits: TableLimits): InputTable {
  let table: Table;
  try {
    decompressedBytes = 0;
    maxDecompressedBytes = limits.maxBytes;
    table = tableFromIPC(isFile(bytes) ? checkedFile(bytes, limits) : checkedStream(bytes, limits));
  } catch (error) {
    throw damaged(error);
  }
  checkRows(table.numRows, limits);
  const places = [...table.schema.fields.keys()].filter(place => isKept(table.schema.fields[place]!));
  const columns = distinct(places.map(place => columnOf(table.schema.fields[place]!)));
  const units = places.map(place => unitOf(table.schema.fields[place]!));
  const vectors = places.map(place => asStored(childOf(table, place)));
  return {
    format: 'arrow',
    ...declaredBy(
      columns,
      key => table.schema.metadata.get(key),
      // By index, because two fields may have the same name.
      name => table.schema.fields[places[columns.findIndex(column => column.name === name)]!]!.metadata,
    ),
    dropped: table.schema.fields.filter(field => !isKept(field)).map(({ name }) => name),
    rows: table.numRows,
    blocks: wanted =>
      blocksOf(table.numRows, wanted.length, (from, to) =>
        wanted.map(place => cellsOf(vectors[place]!, columns[place]!.type, units[place], from, to)),
      ),
  };
}

function childOf(table: Table, place: number): Vector {
  try {
    return table.getChildAt(place)!;
  } catch (error) {
    throw damaged(error);
  }
}

function unitOf({ type }: Field): bigint | undefined {
  return DataType.isTimestamp(type) ? NANOSECONDS[type.unit as TimeUnit] : undefined;
}

/** Times as the stored integers: the library converts them to doubles, which round nanoseconds. */
function asStored(vector: Vector): Vector {
  if (!DataType.isTimestamp(vector.type)) return vector;
  return new Vector(vector.data.map(data => data.clone(new Int64())));
}

const NANOSECONDS: Readonly<Record<TimeUnit, bigint>> = {
  [TimeUnit.SECOND]: 1_000_000_000n,
  [TimeUnit.MILLISECOND]: 1_000_000n,
  [TimeUnit.MICROSECOND]: 1000n,
  [TimeUnit.NANOSECOND]: 1n,
};

/** The number of decompressed bytes of the table that is being read, and its limit. */
let decompressedBytes = 0;
let maxDecompressedBytes = 0;

const DECODERS = {
  [CompressionType.LZ4_FRAME]: lz4Frame,
  [CompressionType.ZSTD]: zstdFrame,
};
for (const [type, decoder] of Object.entries(DECODERS))
  compressionRegistry.set(Number(type), {
    decode(bytes) {
      const decoded = decoder(bytes, maxDecompressedBytes - decompressedBytes);
      decompressedBytes += decoded.length;
      return decoded;
    },
  });

function zstdFrame(bytes: Uint8Array, maxOutputLength: number): Uint8Array {
  try {
    return zstdDecompressSync(bytes, { maxOutputLength });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_BUFFER_TOO_LARGE') throw error;
    throw new TableError(`it has more than ${maxDecompressedBytes} bytes when it is decompressed`);
  }
}

function isFile(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.subarray(0, 6)).toString('latin1') === 'ARROW1';
}

function columnOf({ name, type }: Field): Column {
  return { name, type: typeOf(valueType(type)), description: '' };
}

/** The type of a column's values; for a dictionary column, the type of the dictionary's values. */
function valueType(type: DataType): DataType {
  return DataType.isDictionary(type) ? type.dictionary : type;
}

/** Types whose values a cell can hold. Other columns are dropped, as from Parquet: bytes, times of day, lists and so on. */
const KEPT: readonly Type[] = [
  Type.Null,
  Type.Int,
  Type.Float,
  Type.Utf8,
  Type.LargeUtf8,
  Type.Utf8View,
  Type.Bool,
  Type.Decimal,
  Type.Date,
  Type.Timestamp,
  Type.Duration,
];

function isKept({ type }: Field): boolean {
  return KEPT.includes(valueType(type).typeId);
}

function typeOf(type: DataType): ColumnType {
  const { typeId } = type;
  if (DataType.isInt(type)) {
    if (type.bitWidth === 64) return type.isSigned ? 'int64' : 'text';
    return type.bitWidth === 32 && !type.isSigned ? 'int64' : 'int32';
  }
  if (DataType.isFloat(type)) return type.precision === Precision.DOUBLE ? 'float64' : 'float32';
  if (DataType.isDecimal(type)) return type.scale === 0 ? 'text' : 'float64';
  if (typeId === Type.Bool) return 'boolean';
  if (typeId === Type.Duration) return 'int64';
  return typeId === Type.Timestamp || typeId === Type.Date ? 'time' : 'text';
}

function cellsOf(vector: Vector, type: ColumnType, unit: bigint | undefined, from: number, to: number): Cell[] {
  const cells: Cell[] = new Array(to - from);
  const stored = valueType(vector.type);
  const { scale } = DataType.isDecimal(stored) ? stored : { scale: undefined };
  try {
    for (let row = from; row < to; row++) {
      const value = vector.get(row);
      cells[row - from] =
        scale === undefined || value === null ? cellOf(value, type, unit) : decimalCell(value, type, scale);
    }
  } catch (error) {
    throw damaged(error);
  }
  return cells;
}

/**
 * The library returns the words of a decimal, the lowest first. Its own strings of them are wrong for 64 and 256 bits.
 * @param scale the number of decimals
 */
function decimalCell(words: Uint32Array, type: ColumnType, scale: number): Cell {
  const stored = words.reduceRight((digits, word) => (digits << 32n) | BigInt(word), 0n);
  const digits = BigInt.asIntN(32 * words.length, stored);
  return type === 'text' ? `${digits}` : Number(`${digits}e${-scale}`);
}

/** @param unit nanoseconds per unit of a time, if the value is the stored integer */
function cellOf(value: unknown, type: ColumnType, unit: bigint | undefined): Cell {
  if (value === null) return null;
  if (value === undefined) throw new TableError('it is damaged Arrow: a column has fewer values than rows');
  if (type === 'int64') return BigInt(value as number | bigint);
  // Digits below a microsecond are dropped, as for Parquet.
  if (unit !== undefined) return Number(((value as bigint) * unit) / 1000n);
  // The library returns milliseconds, with a fraction.
  if (type === 'time') return Math.round(Number(value) * 1000);
  return type === 'text' ? `${value}` : (value as Cell);
}
