/** Writes HATS catalogs: divides rows by their place, and writes partitions, margins and what is said of them. */
export {
  type ExportFacts,
  type WrittenCatalog,
  type WrittenPartition,
  writeCatalogFiles,
  writeCollectionFile,
} from './write/catalog.ts';
export { type FileRows, type HatsColumn, writeRows } from './write/rows.ts';
export { type RowsOfPixel, type SkyPartitions, SkyRows } from './write/sky_rows.ts';
