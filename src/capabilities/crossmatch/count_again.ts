import type { Config } from '../../core/config/config.ts';
import { readCatalogs } from '../../core/store/catalog_registration.ts';
import { provenanceSetOf } from '../../core/store/provenance.ts';
import type { Store } from '../../core/store/store.ts';
import { type AgainSelection, differsFrom } from './again.ts';
import { catalogsInService } from './crossmatcher.ts';

/**
 * The number of objects that would be crossmatched again; reads every object.
 * @throws Error if the selection names a catalog that is not registered
 */
export function countAgain(store: Store, config: Config, selection: AgainSelection = {}): number {
  const registrations = readCatalogs(store.databases);
  const names = registrations.map(({ name }) => name);
  const { catalog } = selection;
  if (catalog !== undefined && !names.includes(catalog))
    throw new Error(
      `Cannot crossmatch with ${catalog} because it is not registered: the catalogs are ${names.join(', ') || 'none'}`,
    );
  const catalogs = catalogsInService(registrations, config.CROSSMATCH_PROPER_MOTION).map(({ release }) => release);
  return store.countWhere(differsFrom(store, { ...provenanceSetOf(config), catalogs }, selection));
}
