/** HATS catalogs: their properties, partitions and files, in a directory or at an address that answers range requests. */
export { isRemote } from './address.ts';
export {
  addReads,
  type CatalogFiles,
  type FilesOptions,
  hasOptional,
  noReads,
  type ReadCounts,
} from './catalog_files.ts';
export { CatalogError, FileChanged, MissingFile, WithheldFile, withStableFile } from './errors.ts';
export { columnTexts, type FieldText } from './field_texts.ts';
export { catalogFiles, openLocalFile, readText, withParquet } from './files.ts';
export type { Pixel } from './layout.ts';
export { parseProperties } from './properties.ts';
export { REMOTE_CONCURRENCY, REMOTE_DEFAULTS, type RemoteOptions } from './remote/options.ts';
export { type HatsTable, isHats, openHats, type Partition } from './table.ts';
