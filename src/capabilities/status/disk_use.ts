/** The disk space that a data directory takes. */

import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { CACHE_DIRECTORY, FILE_NAME, INDEX_DIRECTORY } from '../../core/store/data_files.ts';

/** Bytes. */
export interface DiskUse {
  readonly database: number;
  /** The spatial index, a cache. */
  readonly index: number;
  /** Rejected messages. */
  readonly rejected: number;
  /** The cache of remote catalogs. */
  readonly cache: number;
  /** All files of the directory, including the ones above. */
  readonly total: number;
}

export function diskUse(dataDir: string): DiskUse {
  return {
    database: bytesOf(join(dataDir, FILE_NAME)),
    index: bytesOf(join(dataDir, INDEX_DIRECTORY)),
    rejected: bytesOf(join(dataDir, 'rejected')),
    cache: bytesOf(join(dataDir, CACHE_DIRECTORY)),
    total: bytesOf(dataDir),
  };
}

/** A file that is missing, or that disappears meanwhile, counts as 0. */
function bytesOf(path: string): number {
  try {
    const found = statSync(path);
    if (!found.isDirectory()) return found.size;
    return readdirSync(path).reduce((sum, name) => sum + bytesOf(join(path, name)), 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0;
    throw error;
  }
}
