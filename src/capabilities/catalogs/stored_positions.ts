/** The stored positions of local catalogs, in the data directory. */
import { join } from 'node:path';
import type { ParquetFile } from '@nearsky/astrotables/parquet';
import { isRemote } from '@nearsky/hats';
import { type FilePositions, openPositions, type PositionFiles, positionFiles } from '@nearsky/hats/positions';
import { threadData } from '../../core/pool/thread_data.ts';
import type { CatalogColumns, CatalogRegistration } from '../../core/store/catalog_registration.ts';
import { POSITIONS_DIRECTORY } from '../../core/store/data_files.ts';
import type { StoreThreadData } from '../../core/store/thread_store.ts';

/** The position files of a catalog; undefined for a catalog on another host. */
export function positionFilesOf(
  dataDir: string,
  location: string,
  columns: Pick<CatalogColumns, 'ra' | 'dec'>,
): PositionFiles | undefined {
  return isRemote(location) ? undefined : positionFiles(join(dataDir, POSITIONS_DIRECTORY), location, columns);
}

/**
 * The stored positions of a file of a catalog; undefined if there are none that can be used. The file is then searched
 * without them.
 * @param columns as registered
 */
export function storedPositions(
  { location, columns, file }: Pick<CatalogRegistration, 'location' | 'columns'> & { readonly file: string },
  parquet: ParquetFile,
): FilePositions | undefined {
  const { dataDir } = threadData<StoreThreadData>();
  const files = dataDir === undefined ? undefined : positionFilesOf(dataDir, location, columns);
  const positions = files && openPositions(files.pathOf(file), parquet);
  return typeof positions === 'object' ? positions : undefined;
}
