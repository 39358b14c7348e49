/** DATA/index: the caches that are made of the database, which are the index and the counts of the map of the sky. */
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

export const INDEX_DIRECTORY = 'index';

/**
 * The path of the directory, which is created if it is missing. A missing data directory is not created again, because
 * the old one may come back: then this throws ENOENT.
 */
export function makeIndexDirectory(dataDir: string): string {
  const directory = join(dataDir, INDEX_DIRECTORY);
  if (!existsSync(directory)) mkdirSync(directory, { mode: 0o700 });
  return directory;
}
