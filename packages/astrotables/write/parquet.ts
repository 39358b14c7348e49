/**
 * Apache Parquet: every column optional, times in microseconds UTC. The file's metadata has two keys: the program's
 * name, with the table's metadata, and `pandas`, with data frame types.
 */
import type { ColumnChunk, ColumnMetaData, ConvertedType, DecodedArray, SchemaElement } from 'hyparquet';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import type { ByteSink } from '../bytes.ts';
import { type Cell, type Column, type ColumnType, checkBlock, type Table } from '../columns.ts';
import { type Numbers, type StoredColumn, storedNumbers } from '../parquet/stored_column.ts';
import { parquetSchemaEntry } from './arrow_schema.ts';
import { Chunks } from './chunks.ts';
import { describedColumns, pandasColumns } from './metadata.ts';
import type { About, TableWriter } from './table_writer.ts';

/** How each type of column is stored. */
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

/** Columns of another Parquet file, in their stored form. */
export interface StoredTable {
  readonly elements: readonly SchemaElement[];
  groups(): AsyncIterable<StoredGroup>;
}

export interface StoredGroup {
  readonly rows: number;
  readonly columns: readonly StoredColumn[];
}

/**
 * A column of a row group: copied from another file, 64-bit numbers, or cells. Values are requested when the column is
 * written.
 */
export type GroupColumn =
  | StoredColumn
  | { readonly numbers: () => Numbers }
  | { readonly cells: () => ArrayLike<Cell> };

export interface ParquetTableWriter extends TableWriter {
  /**
   * Writes a row group column by column; yields the share that is written.
   * @throws CellError if a cell does not fit its column's type
   */
  group(columns: readonly GroupColumn[]): Iterable<number>;
}

/** @param copied the schema elements of columns that are copied from another file, by the index of the column */
export function beginParquet(
  out: ByteSink,
  { name, description, columns }: Table,
  about: About,
  copied: readonly (SchemaElement | undefined)[] = [],
): ParquetTableWriter {
  const writer = new ByteWriter();
  // The metadata entries are written at the end.
  const metadata = [
    { key: 'name', value: name },
    { key: 'description', value: description },
    { key: 'columns', value: describedColumns(columns) },
    { key: about.program, value: about.json },
    { key: 'pandas', value: pandasColumns(columns, about.program) },
  ];
  const parquet = new ParquetWriter({
    writer,
    schema: [
      { name: 'root', num_children: columns.length },
      ...columns.map((column, i) => (copied[i] ? copiedElement(copied[i], column) : elementOf(column))),
    ],
    kvMetadata: metadata,
    createdBy: about.program,
  });
  const chunks = new Chunks(columns, (values, rows) => {
    const columnData = columns.map(({ name, type }, i) => ({
      name,
      ...encodingOf(type),
      data: valuesOf(type, values[i]!),
    }));
    parquet.write({ columnData, rowGroupSize: rows });
    drain();
  });
  /** Moves the written bytes to the sink. The writer keeps count of all bytes by `offset`. */
  const drain = () => {
    out.fragment(writer.getBytes());
    writer.index = 0;
  };
  return {
    row: cells => chunks.add(cells),
    block: cells => chunks.addBlock(cells),
    *group(all) {
      const stored = new Map<GroupColumn, ColumnChunk>();
      for (const [i, column] of all.entries()) {
        if ('cells' in column) continue;
        const { metadata, bytes } = 'numbers' in column ? storedNumbers(column.numbers()) : column;
        stored.set(column, chunkOf(metadata, columns[i]!.name, writer.offset));
        drain();
        // Past the writer's own buffer, which would be another copy.
        out.fragment(bytes);
        writer.offset += bytes.length;
        yield (i + 1) / all.length;
      }
      const columnData = all.flatMap((column, i) => {
        if (!('cells' in column)) return [];
        const { name, type } = columns[i]!;
        return {
          name,
          ...encodingOf(type),
          get data() {
            const cells = column.cells();
            checkBlock([columns[i]!], [cells]);
            return valuesOf(type, cells);
          },
        };
      });
      if (columnData.length > 0) parquet.write({ columnData, rowGroupSize: Number.MAX_SAFE_INTEGER });
      else {
        const num_rows = stored.values().next().value!.meta_data!.num_values;
        parquet.row_groups.push({ columns: [], total_byte_size: 0n, num_rows });
        parquet.num_rows += num_rows;
      }
      drain();
      const group = parquet.row_groups.at(-1)!;
      const written = group.columns.values();
      group.columns = all.map(column => stored.get(column) ?? written.next().value!);
      for (const { meta_data } of stored.values()) group.total_byte_size += meta_data!.total_uncompressed_size;
      yield 1;
    },
    end(isCut) {
      if (isCut) metadata.push({ key: 'overflow', value: 'true' });
      chunks.flush();
      metadata.push(parquetSchemaEntry(columns, metadata));
      parquet.finish();
      drain();
    },
  };
}

/** Makes the chunk of a copied column. Its statistics, and data that are elsewhere in its file, are not copied. */
function chunkOf(metadata: ColumnMetaData, name: string, offset: number): ColumnChunk {
  const { type, encodings, codec, num_values, total_compressed_size, total_uncompressed_size } = metadata;
  const { data_page_offset, dictionary_page_offset } = metadata;
  const moved = BigInt(offset) - (dictionary_page_offset || data_page_offset);
  return {
    file_offset: BigInt(offset),
    meta_data: {
      type,
      encodings,
      path_in_schema: [name],
      codec,
      num_values,
      total_uncompressed_size,
      total_compressed_size,
      data_page_offset: data_page_offset + moved,
      ...(dictionary_page_offset && { dictionary_page_offset: dictionary_page_offset + moved }),
    },
  };
}

/**
 * hyparquet-writer writes logical types of integers in a form that no reader understands; the converted types have the
 * same meaning.
 */
function copiedElement(copied: SchemaElement, { name }: Column): SchemaElement {
  const { logical_type, ...element } = copied;
  if (logical_type?.type !== 'INTEGER') return { ...copied, name };
  const { isSigned, bitWidth } = logical_type;
  return { ...element, name, converted_type: `${isSigned ? '' : 'U'}INT_${bitWidth}` as ConvertedType };
}

function elementOf({ name, type }: Column): SchemaElement {
  return { name, repetition_type: 'OPTIONAL', ...PARQUET_TYPES[type] };
}

/** The writer's dictionary treats 0 and -0 as the same number, so floats are written without one. */
function encodingOf(type: ColumnType): { readonly encoding?: 'PLAIN' } {
  return type === 'float64' || type === 'float32' ? { encoding: 'PLAIN' } : {};
}

function valuesOf(type: ColumnType, cells: ArrayLike<Cell>): DecodedArray {
  if (type !== 'time') return cells as DecodedArray;
  return Array.from(cells, cell => (cell === null ? null : BigInt(cell)));
}
