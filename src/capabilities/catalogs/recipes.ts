/**
 * Recipes: descriptions of well-known catalogs, one file each in `recipes/`. They are checked like a description that an
 * operator writes.
 */

import { CatalogError } from '@nearsky/hats';
import type { CatalogDescription } from './definition.ts';
import { checkedDescription } from './description_file.ts';
import ALLWISE from './recipes/allwise.json' with { type: 'json' };
import CATWISE2020 from './recipes/catwise2020.json' with { type: 'json' };
import DELVE_DR2 from './recipes/delve_dr2.json' with { type: 'json' };
import DESI_DR1 from './recipes/desi_dr1.json' with { type: 'json' };
import EROSITA_DR1 from './recipes/erosita_dr1.json' with { type: 'json' };
import GAIA_DR3_VARIABLES from './recipes/gaia_dr3_variables.json' with { type: 'json' };
import GLADE_PLUS from './recipes/glade_plus.json' with { type: 'json' };
import LEGACY_DR10 from './recipes/legacy_dr10.json' with { type: 'json' };
import MILLIQUAS from './recipes/milliquas.json' with { type: 'json' };
import NED_LVS from './recipes/ned_lvs.json' with { type: 'json' };
import PANSTARRS_DR2 from './recipes/panstarrs_dr2.json' with { type: 'json' };
import SDSS_DR16 from './recipes/sdss_dr16.json' with { type: 'json' };
import TWOMASS from './recipes/twomass.json' with { type: 'json' };
import UNWISE from './recipes/unwise.json' with { type: 'json' };
import VSX from './recipes/vsx.json' with { type: 'json' };

export interface Recipe {
  /** The name that `catalog add` takes. */
  readonly name: string;
  readonly title: string;
  /** The address of a public copy in HATS; null if there is none, or none that can be used. */
  readonly location: string | null;
  /** Where the catalog's table is published, if `location` is null. */
  readonly table?: string;
  /** The catalog's own pages. Not all of the recipe was compared with them: see `unverified` and docs/catalogs.md, Recipes. */
  readonly sources: readonly string[];
  /** Null if no licence was found. */
  readonly licence: string | null;
  readonly bibcode: string;
  readonly doi: string | null;
  /** What was not compared with the catalog's own files. */
  readonly unverified?: readonly string[];
  readonly description: CatalogDescription;
}

/** By name. */
export const RECIPES = [
  ALLWISE,
  CATWISE2020,
  DELVE_DR2,
  DESI_DR1,
  EROSITA_DR1,
  GAIA_DR3_VARIABLES,
  GLADE_PLUS,
  LEGACY_DR10,
  MILLIQUAS,
  NED_LVS,
  PANSTARRS_DR2,
  SDSS_DR16,
  TWOMASS,
  UNWISE,
  VSX,
] as unknown as readonly Recipe[];

/** The recipe with that name; undefined if there is none. @throws CatalogError if it is not a valid description */
export function recipeOf(name: string): Recipe | undefined {
  const recipe = RECIPES.find(each => each.name === name);
  if (recipe) checkedDescription(recipe.description, `the recipe ${name}`);
  return recipe;
}

/** The location of the recipe's public copy. @throws CatalogError if there is none */
export function publicLocation({ name, title, location, table }: Recipe): string {
  if (location !== null) return location;
  throw new CatalogError(
    `Cannot add ${name} without a LOCATION because no public copy of ${title} in HATS is known: make one from ${table} (docs/catalogs.md, Recipes), and name its directory`,
  );
}
