/** Caches the registered catalogs per thread. */
import type { CatalogRegistration } from './catalog_registration.ts';
import { catalogRegistrations } from './counters.ts';
import type { Store } from './store.ts';

/**
 * A value made from the registrations. It is made again only after a catalog has been registered, because decoding the
 * partitions of some catalogs takes milliseconds.
 */
export class RegisteredCatalogs<T> {
  readonly #make: (registrations: readonly CatalogRegistration[]) => T;
  #seen: { readonly registrations: number; readonly value: T } | undefined;

  /** @param make called with all registrations, by ascending name */
  constructor(make: (registrations: readonly CatalogRegistration[]) => T) {
    this.#make = make;
  }

  /** The value for the state of the store, or of a snapshot. It is the same one until a catalog is registered. */
  of(store: Pick<Store, 'counters' | 'catalogs'>): T {
    const registrations = store.counters()[catalogRegistrations()] ?? 0;
    if (this.#seen?.registrations !== registrations)
      this.#seen = { registrations, value: this.#make(store.catalogs()) };
    return this.#seen.value;
  }
}
