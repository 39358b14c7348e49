/** What the tests of catalogs share. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openLocalFile } from '../../src/catalogs/files.ts';
import { openParquet, type ParquetFile } from '../../src/catalogs/parquet.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
export const fixtures = join(root, 'test', 'fixtures', 'hats');
/** The field's own files: fixtures/published/README.md says from where. */
export const published = join(root, 'test', 'fixtures', 'published');
/** Files that may not be passed on, where there is a copy beside the checkout. */
const unpublished = join(root, '..', 'shared', 'data');
export const columnsOf = (catalog: string) => join(unpublished, 'catalog-columns', `${catalog}.json`);
export const noColumns = existsSync(unpublished)
  ? undefined
  : `there is no ${unpublished}: lists of columns that may not be passed on`;

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
