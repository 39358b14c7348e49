/** Names in the data directory. They are not in `environment.ts`, because importing it loads LMDB. */
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

/** The database. */
export const FILE_NAME = 'nearsky.mdb';
/** The directory for caches made from the database: the index, the counts of the sky map, and the validation. */
export const INDEX_DIRECTORY = 'index';
/** The directory for files of remote catalogs. */
export const CACHE_DIRECTORY = 'catalog-cache';
/** The directory for the positions of local catalogs. */
export const POSITIONS_DIRECTORY = 'catalog-positions';

/**
 * Returns the path of the directory for caches, and creates it if it is missing. Throws ENOENT if the data directory is
 * missing: it is not recreated, because the old one may come back.
 */
export function makeIndexDirectory(dataDir: string): string {
  const directory = join(dataDir, INDEX_DIRECTORY);
  if (!existsSync(directory)) mkdirSync(directory, { mode: 0o700 });
  return directory;
}
