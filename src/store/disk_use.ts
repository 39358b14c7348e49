/** What a data directory takes on disk. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { FILE_NAME } from './environment.ts';

/** Bytes. */
export interface DiskUse {
  readonly database: number;
  /** The spatial index, a cache. */
  readonly index: number;
  /** Rejected messages. */
  readonly rejected: number;
  /** All files of the directory, with these. */
  readonly total: number;
}

export function diskUse(dataDir: string): DiskUse {
  return {
    database: bytesOf(join(dataDir, FILE_NAME)),
    index: bytesOf(join(dataDir, 'index')),
    rejected: bytesOf(join(dataDir, 'rejected')),
    total: bytesOf(dataDir),
  };
}

/** A file that goes meanwhile, or is not there, takes nothing. */
function bytesOf(path: string): number {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found?.isDirectory()) return found?.size ?? 0;
  return readdirSync(path).reduce((sum, name) => sum + bytesOf(join(path, name)), 0);
}
