/** Caches, per thread, the registered catalogs whose sources it reads. */
import { createHash } from 'node:crypto';
import type { PixelBounds } from '@nearsky/adql';
import type { ParquetFile } from '@nearsky/astrotables/parquet';
import { MAX_AREA_ORDER } from '@nearsky/sky-index';
import { memoized } from '../../core/base/memoized.ts';
import { type CatalogDefinition, Catalogs } from '../../core/contract/catalogs.ts';
import type { CatalogRegistration } from '../../core/store/catalog_registration.ts';
import { RegisteredCatalogs } from '../../core/store/registered_catalogs.ts';
import { columnsIn } from '../catalogs/columns.ts';
import type { WantedColumn } from './engine_columns.ts';
import type { ListedTable } from './listed_table.ts';
import { hasAny } from './near_rows.ts';
import type { PartWanted } from './query_sources.ts';
import { fileColumn, sourceTables } from './source_tables.ts';

export interface KnownSources {
  readonly registration: CatalogRegistration;
  readonly table: ListedTable;
  /** See `digestOf`. */
  readonly digest: string;
}

/** The catalogs by name. Decoding the registrations of a few catalogs takes longer than reading a small cone. */
export const knownSources = () =>
  new RegisteredCatalogs((registrations): ReadonlyMap<string, KnownSources> => {
    const catalogs = new Catalogs(registrations);
    const tables = new Map(sourceTables(catalogs).map(table => [table.schema, table]));
    return new Map(
      registrations.map(registration => {
        const { name } = registration;
        return [name, { registration, table: tables.get(name)!, digest: digestOf(catalogs.get(name)!) }];
      }),
    );
  });

/** Returns a short string that differs if two definitions of a catalog differ. */
export const digestOf = memoized((definition: CatalogDefinition) =>
  createHash('sha256').update(JSON.stringify(definition)).digest('hex').slice(0, 16),
);

/** The files of the partitions that touch an area; all files without an area. */
export function filesWithin({ partitions }: CatalogRegistration, bounds: PixelBounds | undefined): string[] {
  return partitions.flatMap(({ order, ipix, files }) => {
    const size = 4 ** (MAX_AREA_ORDER - order);
    return !bounds || hasAny(bounds, ipix * size, (ipix + 1) * size) ? files : [];
  });
}

/**
 * The wanted columns as a file spells them.
 * @throws CatalogError if the file does not have the columns as registered
 */
export function wantedIn(
  file: ParquetFile,
  { columns: wanted }: Pick<PartWanted, 'columns'>,
  { registration, table }: KnownSources,
): WantedColumn[] {
  const columns = columnsIn(file, registration.columns);
  return wanted.map(({ name, type }) => ({ name, type, stored: fileColumn({ columns }, table, name) }));
}
