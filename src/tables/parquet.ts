/**
 * Apache Parquet: every column optional, times in microseconds UTC. The file's metadata holds the answer's information
 * beside its rows under `nearsky`, and the types of a data frame under `pandas`.
 */
import type { SchemaElement } from 'hyparquet';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import type { ByteSink } from '../base/bytes.ts';
import { Chunks } from './chunks.ts';
import type { Cell, Column, ColumnType, Table } from './columns.ts';
import { describedColumns, pandasColumns } from './metadata.ts';
import type { TableWriter } from './table_writer.ts';

/** The storage of each type of column. */
export const PARQUET_TYPES: Readonly<Record<ColumnType, Omit<SchemaElement, 'name'>>> = {
  int64: { type: 'INT64' },
  int32: { type: 'INT32' },
  float64: { type: 'DOUBLE' },
  float32: { type: 'FLOAT' },
  boolean: { type: 'BOOLEAN' },
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
  time: {
    type: 'INT64',
    converted_type: 'TIMESTAMP_MICROS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' },
  },
};

export function beginParquet(
  out: ByteSink,
  { name, description, columns }: Table,
  about: string,
  chunkRows?: number,
): TableWriter {
  const writer = new ByteWriter();
  const parquet = new ParquetWriter({
    writer,
    schema: [{ name: 'root', num_children: columns.length }, ...columns.map(elementOf)],
    kvMetadata: [
      { key: 'name', value: name },
      { key: 'description', value: description },
      { key: 'columns', value: describedColumns(columns) },
      { key: 'nearsky', value: about },
      { key: 'pandas', value: pandasColumns(columns) },
    ],
    createdBy: 'nearsky',
  });
  const chunks = new Chunks(
    columns,
    (values, rows) => {
      const columnData = columns.map(({ name, type }, i) => ({ name, data: valuesOf(type, values[i]!) }));
      parquet.write({ columnData, rowGroupSize: rows });
      drain();
    },
    chunkRows,
  );
  /** Moves the written bytes to the sink. The writer keeps count of all bytes by `offset`. */
  const drain = () => {
    out.fragment(writer.getBytes());
    writer.index = 0;
  };
  return {
    row: cells => chunks.add(cells),
    end() {
      chunks.flush();
      parquet.finish();
      drain();
    },
  };
}

function elementOf({ name, type }: Column): SchemaElement {
  return { name, repetition_type: 'OPTIONAL', ...PARQUET_TYPES[type] };
}

function valuesOf(type: ColumnType, cells: readonly Cell[]): Cell[] {
  return cells.map(cell => (type === 'time' && cell !== null ? BigInt(cell) : cell));
}
