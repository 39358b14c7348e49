/**
 * The catalogs of the service. Some are described by the project, with one line here and a file in `catalogs/` each;
 * the others were described when they were registered.
 */
import type { CatalogDefinition, NarrowType } from './catalog.ts';
import DELVE_DR3_GOLD from './catalogs/delve_dr3_gold.json' with { type: 'json' };
import DES_Y6_GOLD from './catalogs/des_y6_gold.json' with { type: 'json' };
import GAIA_DR3 from './catalogs/gaia_dr3.json' with { type: 'json' };
import SKYMAPPER_DR4 from './catalogs/skymapper_dr4.json' with { type: 'json' };
import { type Filter, filtersOf } from './filters.ts';

export type { CatalogDefinition } from './catalog.ts';

/** Outcomes and provenance list the catalogs in this order. */
const ALL = [GAIA_DR3, DES_Y6_GOLD, DELVE_DR3_GOLD, SKYMAPPER_DR4] as const;

/** The catalogs that the project describes. `test/core/contract/catalogs.test.ts` checks their files against the type. */
export const CATALOGS = ALL as unknown as readonly CatalogDefinition[];

/** The project's own definition with that name, or undefined. */
export function catalogDefinition(name: string): CatalogDefinition | undefined {
  return CATALOGS.find(catalog => catalog.name === name);
}

/** The release of a registered catalog. */
export function registeredRelease({ name, release, definition }: DescribedRegistration): string {
  return release ?? (catalogDefinition(name) ?? definition)!.release;
}

/** The facts that determine the tables of a catalog. */
export interface DescribedRegistration {
  readonly name: string;
  /** Undefined for a catalog that the project describes. */
  readonly definition?: CatalogDefinition;
  /** Undefined if the release is that of the definition. */
  readonly release?: string;
  /**
   * The types of payload columns, by key, that are narrower in all files than in the definition; undefined if there are
   * none, or if the files were not read.
   */
  readonly narrowTypes?: Readonly<Record<string, NarrowType>>;
  /**
   * The columns of the files that are left out because no definition can have their types, with these types; undefined
   * if there are none.
   */
  readonly leftOut?: Readonly<Record<string, string>>;
  readonly coverage: { readonly order: number };
}

/** Whether two definitions of a catalog agree in everything. */
export function isSameDefinition(one: CatalogDefinition, other: CatalogDefinition): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** An immutable snapshot of the service's catalogs. */
export class Catalogs {
  /**
   * In the order of outcomes and provenance: first the project's catalogs, registered or not, then the others by name.
   */
  readonly all: readonly CatalogDefinition[];
  /**
   * The HEALPix order of each registered catalog's footprint, by name; undefined if the database has not been read.
   */
  readonly footprintOrders: ReadonlyMap<string, number> | undefined;
  /** The types of payload columns, by catalog and key, that its files have instead of the wider type of the definition. */
  readonly narrowTypes: ReadonlyMap<string, Readonly<Record<string, NarrowType>>>;
  /** The columns that are left out because of their types, by catalog, with these types. */
  readonly leftOut: ReadonlyMap<string, Readonly<Record<string, string>>>;
  readonly #byName: ReadonlyMap<string, CatalogDefinition>;
  #filters: ReadonlyMap<string, Filter> | undefined;

  /** @param registered in any order; undefined if unknown */
  constructor(registered?: readonly DescribedRegistration[]) {
    const others = (registered ?? []).flatMap(({ name, definition }) =>
      definition && !catalogDefinition(name) ? definition : [],
    );
    const releases = new Map(registered?.map(({ name, release }) => [name, release]));
    const ours = CATALOGS.map(catalog => {
      const release = releases.get(catalog.name);
      return release === undefined ? catalog : { ...catalog, release };
    });
    this.all = [...ours, ...others.sort((a, b) => (a.name < b.name ? -1 : 1))];
    this.footprintOrders = registered && new Map(registered.map(({ name, coverage }) => [name, coverage.order]));
    this.narrowTypes = new Map((registered ?? []).map(({ name, narrowTypes = {} }) => [name, narrowTypes]));
    this.leftOut = new Map((registered ?? []).map(({ name, leftOut = {} }) => [name, leftOut]));
    this.#byName = new Map(this.all.map(definition => [definition.name, definition]));
  }

  get(name: string): CatalogDefinition | undefined {
    return this.#byName.get(name);
  }

  /** Every filter by name, in documented order. */
  get filters(): ReadonlyMap<string, Filter> {
    return (this.#filters ??= new Map(filtersOf(this.all).map(filter => [filter.name, filter])));
  }
}

/** Only the project's catalogs, for a service that has not read its database. */
export const PROJECT_CATALOGS = new Catalogs();
