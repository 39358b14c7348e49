/** What a thread knows of the registered catalogs whose sources it reads. */
import { createHash } from 'node:crypto';
import { type CatalogDefinition, Catalogs } from '../../core/contract/catalogs.ts';
import type { CatalogRegistration } from '../../core/store/catalog_registration.ts';
import { RegisteredCatalogs } from '../../core/store/registered_catalogs.ts';
import type { ListedTable } from './listed_table.ts';
import { sourceTables } from './source_tables.ts';

export interface KnownSources {
  readonly registration: CatalogRegistration;
  readonly table: ListedTable;
  /** See `digestOf`. */
  readonly digest: string;
}

/** By the name of the catalog. Decoding the registrations of a few catalogs takes longer than reading a small cone. */
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

const digests = new WeakMap<CatalogDefinition, string>();

/** A short string that differs if two definitions of a catalog differ. */
export function digestOf(definition: CatalogDefinition): string {
  let digest = digests.get(definition);
  if (digest === undefined) {
    digest = createHash('sha256').update(JSON.stringify(definition)).digest('hex').slice(0, 16);
    digests.set(definition, digest);
  }
  return digest;
}
