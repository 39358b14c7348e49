/** The Parquet files of a catalog: ZSTD, one row group each, units and descriptions in the schema's metadata. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import type { Column } from '@nearsky/astrotables';
import { describedColumns, PARQUET_TYPES, parquetSchemaEntry, type Stored } from '@nearsky/astrotables/parquet_writer';
import type { SchemaElement } from 'hyparquet';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';

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
  readonly valuesOf: (column: number) => unknown[] | undefined;
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
const ZSTD = (bytes: Uint8Array) => new Uint8Array(zstdCompressSync(bytes));

function parquetFile({ program, columns, length, valuesOf }: FileRows): Uint8Array {
  const writer = new ByteWriter();
  const parquet = new ParquetWriter({
    writer,
    schema: [{ name: 'schema', num_children: columns.length }, ...columns.map(elementOf)],
    codec: 'ZSTD',
    compressors: { ZSTD },
    kvMetadata: metadataOf(columns),
    createdBy: program,
  });
  if (length > 0) {
    const nulls = new Array(length).fill(null);
    const columnData = columns.map(({ name, isVaried, hasBounds }, i) => {
      // A dictionary of mostly distinct values takes time and saves no bytes.
      const encoding = isVaried && { encoding: 'PLAIN' as const };
      return {
        name,
        statistics: hasBounds ?? false,
        ...encoding,
        get data() {
          return valuesOf(i) ?? nulls;
        },
      };
    });
    parquet.write({ columnData, rowGroupSize: length });
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
 * same metadata as JSON.
 */
function metadataOf(columns: readonly HatsColumn[]) {
  if (known?.columns === columns) return known.metadata;
  const metadata = [{ key: 'columns', value: describedColumns(columns) }, parquetSchemaEntry(columns)];
  known = { columns, metadata };
  return metadata;
}
