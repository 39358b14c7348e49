/** Parquet files that are written by row groups, whose columns may be copied from other files. */
export type { Numbers, StoredColumn } from './parquet/stored_column.ts';
export { parquetSchemaEntry, type Stored } from './write/arrow_schema.ts';
export { describedColumns, pandasColumns } from './write/metadata.ts';
export {
  beginParquet,
  type GroupColumn,
  PARQUET_TYPES,
  type ParquetTableWriter,
  type StoredGroup,
  type StoredTable,
} from './write/parquet.ts';
