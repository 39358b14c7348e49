/** Caches the registered catalogs per thread. */
import { type CatalogRegistration, readCatalogs } from './catalog_registration.ts';
import { catalogRegistrations, readCounters } from './counters.ts';
import type { Databases } from './databases.ts';
import type { ReadOptions } from './registry.ts';
import type { Range } from './table.ts';

/**
 * A value made from the registrations. It is made again only after a catalog has been registered, because decoding the
 * partitions of some catalogs takes milliseconds.
 */
export class RegisteredCatalogs<T> {
  readonly #make: (registrations: readonly CatalogRegistration[]) => T;
  #seen: { readonly databases: Databases; readonly registrations: number; readonly value: T } | undefined;

  /** @param make called with all registrations, by ascending name */
  constructor(make: (registrations: readonly CatalogRegistration[]) => T) {
    this.#make = make;
  }

  /** The value for the state of the store, or of a snapshot. It is the same one until a catalog is registered. */
  of({ databases, options }: { readonly databases: Databases; readonly options?: ReadOptions }): T {
    const registrations = readCounters(databases, options)[catalogRegistrations()] ?? 0;
    if (this.#seen?.registrations !== registrations || this.#seen.databases !== databases)
      this.#seen = { databases, registrations, value: this.#make(readCatalogs(databases, options as Range)) };
    return this.#seen.value;
  }
}
