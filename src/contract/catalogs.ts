/** The catalogs of the service: one line for each, and a file in `catalogs/`. */

import type { CatalogDefinition as Definition } from './catalog.ts';
import { DELVE_DR3_GOLD } from './catalogs/delve_dr3_gold.ts';
import { DES_Y6_GOLD } from './catalogs/des_y6_gold.ts';
import { GAIA_DR3 } from './catalogs/gaia_dr3.ts';
import { SKYMAPPER_DR4 } from './catalogs/skymapper_dr4.ts';

/** The order matters: outcomes and provenance list the catalogs in it. */
const ALL = [GAIA_DR3, DES_Y6_GOLD, DELVE_DR3_GOLD, SKYMAPPER_DR4] as const;

export type CatalogName = (typeof ALL)[number]['name'];
export type CatalogDefinition = Definition<CatalogName>;
export const CATALOGS: readonly CatalogDefinition[] = ALL;

/**
 * The HEALPix order of the known footprint of each registered catalog, by name, for texts about the catalogs. Undefined
 * where the database has never been read.
 */
export type FootprintOrders = ReadonlyMap<CatalogName, number> | undefined;

/** The definition of that name, or undefined. */
export function catalogDefinition(name: string): CatalogDefinition | undefined {
  return CATALOGS.find(catalog => catalog.name === name);
}
