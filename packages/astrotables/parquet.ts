/** Parquet files: their columns, one at a time, of any rows. */
export { type ColumnKind, openParquet, ParquetFile, type RowGroup } from './parquet/file.ts';
export { type ColumnChunk, type ColumnPage, columnPages } from './parquet/pages.ts';
