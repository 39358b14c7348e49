/** The Parquet files of an exported catalog: ZSTD, one row group each, units and descriptions in the schema's metadata. */
import { zstdCompressSync } from 'node:zlib';
import { describedColumns, PARQUET_TYPES, parquetSchemaEntry } from '@nearsky/astrotables/parquet_writer';
import type { SchemaElement } from 'hyparquet';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import type { CatalogColumn } from './columns.ts';

/**
 * ZSTD at its default level: files are much smaller than without, and hardly slower to write than in the fastest way.
 */
const ZSTD = (bytes: Uint8Array) => new Uint8Array(zstdCompressSync(bytes));

/**
 * The bytes of a file with these columns, each with `length` values; without values, the bytes of a schema.
 * @param valuesOf the values of a column, undefined where all are null. A column's values are wanted when it is written,
 * so that few are in memory at once
 */
export function parquetFile(
  columns: readonly CatalogColumn[],
  valuesOf: (column: number) => unknown[] | undefined,
  length: number,
): Uint8Array {
  const writer = new ByteWriter();
  const parquet = new ParquetWriter({
    writer,
    schema: [{ name: 'schema', num_children: columns.length }, ...columns.map(elementOf)],
    codec: 'ZSTD',
    compressors: { ZSTD },
    kvMetadata: metadataOf(columns),
    createdBy: 'nearsky',
  });
  if (length > 0) {
    const nulls = new Array(length).fill(null);
    const columnData = columns.map(({ name, isVaried, hasBounds }, i) => {
      // A dictionary of values that hardly repeat takes time and saves no bytes.
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

function elementOf({ name, type, isRequired }: CatalogColumn): SchemaElement {
  return { name, repetition_type: isRequired ? 'REQUIRED' : 'OPTIONAL', ...PARQUET_TYPES[type] };
}

let known:
  | { readonly columns: readonly CatalogColumn[]; readonly metadata: { key: string; value: string }[] }
  | undefined;

/**
 * For readers of Arrow, such as pyarrow and LSDB, a schema whose fields have metadata of their own; for all other
 * readers the same as JSON.
 */
function metadataOf(columns: readonly CatalogColumn[]) {
  if (known?.columns === columns) return known.metadata;
  const metadata = [{ key: 'columns', value: describedColumns(columns) }, parquetSchemaEntry(columns)];
  known = { columns, metadata };
  return metadata;
}
