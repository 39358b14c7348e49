/** DATA/index contains caches made from the database: the index, the counts of the sky map, and the validation. */
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

export const INDEX_DIRECTORY = 'index';

/**
 * The path of the directory, which is created if it is missing. A missing data directory is not recreated, because the
 * old one may come back; this throws ENOENT then.
 */
export function makeIndexDirectory(dataDir: string): string {
  const directory = join(dataDir, INDEX_DIRECTORY);
  if (!existsSync(directory)) mkdirSync(directory, { mode: 0o700 });
  return directory;
}
