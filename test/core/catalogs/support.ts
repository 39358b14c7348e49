/** Shared by the tests of catalogs. */

import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openParquet, type ParquetFile } from '@nearsky/astrotables/parquet';
import { openLocalFile } from '@nearsky/hats';

const root = fileURLToPath(new URL('../../..', import.meta.url));
export const fixtures = join(root, 'test', 'fixtures', 'hats');
/** The field's own files: fixtures/published/README.md says from where. */
export const published = join(root, 'test', 'fixtures', 'published');

/** Opens a local Parquet file; rejects as `openParquet` does. */
export async function openLocalParquet(path: string): Promise<ParquetFile> {
  return openParquet(openLocalFile(path));
}

/** The reason of a promise's rejection; throws if the promise is not rejected. */
export async function rejection(promise: Promise<unknown>): Promise<Error> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof Error) return error;
    throw error;
  }
  throw new Error('the promise was to reject, but did not');
}
