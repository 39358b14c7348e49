/** Writes HATS catalogs: divides rows by position, and writes partitions, margins and metadata. */
export {
  type ExportFacts,
  type WrittenCatalog,
  type WrittenPartition,
  writeCatalogFiles,
  writeCollectionFile,
} from './write/catalog.ts';
export { type ColumnValues, type NumberValues, type SharedValues, valueArray } from './write/column_chunk.ts';
export { type FileRows, type HatsColumn, writeRows } from './write/rows.ts';
export { type RowsOfPixel, type SkyPartitions, SkyRows } from './write/sky_rows.ts';
