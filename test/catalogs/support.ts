/** What the tests of catalogs share. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openLocalFile } from '../../src/catalogs/files.ts';
import { openParquet, type ParquetFile } from '../../src/catalogs/parquet.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
export const fixtures = join(root, 'test', 'fixtures', 'hats');
/** The project's shared data, where there is a copy beside the checkout. */
export const shared = join(root, '..', 'shared', 'data');
/** Why the shared data cannot be read, if so. */
export const noShared = existsSync(shared) ? undefined : `there is no ${shared}`;

/** Opens a local Parquet file; rejects as `openParquet` does. */
export async function openLocalParquet(path: string): Promise<ParquetFile> {
  return openParquet(openLocalFile(path));
}

/** What a promise is rejected with; throws when it is not. */
export async function rejection(promise: Promise<unknown>): Promise<Error> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof Error) return error;
    throw error;
  }
  throw new Error('the promise was to reject, but did not');
}
