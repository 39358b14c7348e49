/** Reads Parquet files: one column at a time, for any rows. */
export { type ColumnKind, openParquet, ParquetFile, type RowGroup } from './parquet/file.ts';
export { type ColumnChunk, type ColumnPage, columnPages } from './parquet/pages.ts';
