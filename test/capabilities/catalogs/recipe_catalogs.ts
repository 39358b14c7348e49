/** A small HATS catalog for each recipe, with its columns and types. */
import { join } from 'node:path';
import { RECIPES, type Recipe } from '../../../src/capabilities/catalogs/recipes.ts';
import { type HatsColumn, writeHats } from '../../core/catalogs/write_hats.ts';

/** The recipes whose ids are texts. */
const TEXT_IDS = ['allwise', 'catwise2020', 'erosita_dr1', 'milliquas', 'ned_lvs', 'twomass', 'unwise'];

/** The position of the source at the object of the tests. */
export const SOURCE = { ra: 150.00005, dec: 2 } as const;
const OTHERS = [
  { ra: 150.2, dec: 2.1 },
  { ra: 150.4, dec: 1.9 },
];

export const hasTextIds = ({ name }: Pick<Recipe, 'name'>) => TEXT_IDS.includes(name);

export const idOf = (recipe: Pick<Recipe, 'name'>) => (hasTextIds(recipe) ? 'J100000.0+020000 a' : '9007199254740993');

/** The value of a payload column of the source at the object. */
export function recipeValue({ name, description }: Recipe, column: string): unknown {
  const at = description.columns!.findIndex(each => each.name === column);
  const { type } = description.columns![at]!;
  // Within each rule and radius that reads it.
  if (type === 'text') return `${name} ${column}`;
  if (type === 'int64') return BigInt(at % 7);
  return 0.5 + at / 8;
}

/** Writes the catalog of a recipe. @returns its location */
export function writeRecipe(directory: string, recipe: Recipe): string {
  const { description } = recipe;
  const { raColumn = 'ra', decColumn = 'dec', idColumn } = description;
  const location = join(directory, recipe.name);
  const isText = hasTextIds(recipe);
  const ids = isText ? [idOf(recipe), 'b', 'c'] : [BigInt(idOf(recipe)), 2n, 3n];
  const places = [SOURCE, ...OTHERS];
  const payload = description.columns!.map(({ name, type }): HatsColumn => {
    const value = recipeValue(recipe, name);
    const stored = type === 'text' ? 'STRING' : type === 'int64' ? 'INT64' : 'DOUBLE';
    return { name, type: stored, data: [value, value, null] };
  });
  writeHats(location, {
    name: recipe.name,
    columns: [
      { name: idColumn!, type: isText ? 'STRING' : 'INT64', data: ids },
      { name: raColumn, type: 'DOUBLE', data: places.map(({ ra }) => ra) },
      { name: decColumn, type: 'DOUBLE', data: places.map(({ dec }) => dec) },
      ...payload,
    ],
    ra: raColumn,
    dec: decColumn,
  });
  return location;
}

/** The recipes, each with the location of its catalog. */
export const writeRecipes = (directory: string) =>
  RECIPES.map(recipe => ({ recipe, location: writeRecipe(directory, recipe) }));
