/** The Parquet files of a catalog: ZSTD, one row group each, units and descriptions in the schema's metadata. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import type { Column } from '@nearsky/astrotables';
import {
  describedColumns,
  PARQUET_TYPES,
  pandasColumns,
  parquetSchemaEntry,
  type Stored,
} from '@nearsky/astrotables/parquet_writer';
import type { SchemaElement } from 'hyparquet';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { ChunkWriter, type ColumnValues } from './column_chunk.ts';

/** A column of a catalog. Statistics of positions and of their pixels let searches skip row groups. */
export interface HatsColumn extends Column, Stored {}

/** The rows of a file, column by column. */
export interface FileRows {
  /** The name of the program that writes. */
  readonly program: string;
  readonly columns: readonly HatsColumn[];
  /** The number of rows; without rows, the file contains only the schema. */
  readonly length: number;
  /**
   * Returns the values of the column with this index; undefined if all are null. Times are bigints. A column's values
   * are requested when it is written, so that few are in memory at once.
   */
  readonly valuesOf: (column: number) => ColumnValues | undefined;
}

/** Writes a file, and creates its directories. Returns the file's length in bytes. */
export function writeRows(path: string, rows: FileRows): number {
  const bytes = parquetFile(rows);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, bytes, { flush: true });
  return bytes.length;
}

/**
 * ZSTD at its default level: files are much smaller than uncompressed ones, and are written nearly as fast as at the
 * fastest level.
 */
function parquetFile({ program, columns, length, valuesOf }: FileRows): Uint8Array {
  const writer = new ByteWriter();
  const elements = columns.map(elementOf);
  const parquet = new ParquetWriter({
    writer,
    schema: [{ name: 'schema', num_children: columns.length }, ...elements],
    codec: 'ZSTD',
    kvMetadata: metadataOf(columns, program),
    createdBy: program,
  });
  if (length > 0) {
    const chunks = new ChunkWriter(writer, length, zstdCompressSync);
    const start = writer.offset;
    const written = columns.map((column, i) =>
      chunks.write(
        {
          element: elements[i]!,
          // A dictionary of mostly distinct values takes time and saves no bytes.
          isPlain: column.isVaried ?? false,
          hasBounds: column.hasBounds ?? false,
        },
        valuesOf(i),
      ),
    );
    parquet.pendingIndexes.push(...written);
    const all = written.map(({ chunk }) => chunk);
    const total_byte_size = all.reduce((sum, { meta_data }) => sum + meta_data!.total_uncompressed_size, 0n);
    const total_compressed_size = BigInt(writer.offset - start);
    parquet.row_groups.push({ columns: all, total_byte_size, num_rows: BigInt(length), total_compressed_size });
    parquet.num_rows = BigInt(length);
  }
  parquet.finish();
  return writer.getBytes();
}

function elementOf({ name, type, isRequired }: HatsColumn): SchemaElement {
  return { name, repetition_type: isRequired ? 'REQUIRED' : 'OPTIONAL', ...PARQUET_TYPES[type] };
}

let known: { readonly columns: readonly HatsColumn[]; readonly metadata: { key: string; value: string }[] } | undefined;

/**
 * For readers of Arrow, such as pyarrow and LSDB: a schema with metadata for each field. For all other readers: the
 * same metadata as JSON, and for pandas the types of a data frame, because a column of integers with nulls would
 * become one of floats, which rounds them.
 */
function metadataOf(columns: readonly HatsColumn[], program: string) {
  if (known?.columns === columns) return known.metadata;
  const metadata = [
    { key: 'columns', value: describedColumns(columns) },
    { key: 'pandas', value: pandasColumns(columns, program) },
  ];
  metadata.push(parquetSchemaEntry(columns, metadata));
  known = { columns, metadata };
  return metadata;
}
