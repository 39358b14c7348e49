/** The registered catalogs as a thread last saw them. */
import type { CatalogRegistration } from './catalog_registration.ts';
import { catalogRegistrations } from './counters.ts';
import type { Store } from './store.ts';

/**
 * A value made of the registrations, and made anew only where a catalog has been registered since: decoding the
 * partitions of some catalogs takes milliseconds.
 */
export class RegisteredCatalogs<T> {
  readonly #make: (registrations: readonly CatalogRegistration[]) => T;
  #seen: { readonly registrations: number; readonly value: T } | undefined;

  /** @param make given every registration, by ascending name */
  constructor(make: (registrations: readonly CatalogRegistration[]) => T) {
    this.#make = make;
  }

  /** The value as of the store's present read. */
  of(store: Store): T {
    const registrations = store.counters()[catalogRegistrations()] ?? 0;
    if (this.#seen?.registrations !== registrations)
      this.#seen = { registrations, value: this.#make(store.catalogs()) };
    return this.#seen.value;
  }
}
