/** The position errors of a catalog's sources, from the columns that its description names. */
import type { CatalogDefinition } from '../../core/contract/catalogs.ts';
import { ERROR_UNITS_MAS } from '../../core/contract/position_errors.ts';
import type { CatalogColumns } from '../../core/store/catalog_registration.ts';

/** The columns of the errors as the files of one copy of a catalog spell them, and how many mas their unit has. */
export interface CatalogErrors {
  readonly ra: string;
  readonly dec: string;
  readonly unitMas: number;
}

/** Undefined if the catalog's description names no errors, or the copy lacks their columns. */
export function errorsOf(definition: CatalogDefinition, { payload }: CatalogColumns): CatalogErrors | undefined {
  const { positionErrors, columns } = definition;
  if (!positionErrors) return undefined;
  const columnOf = (name: string) => payload.find(({ key }) => key === name.toLowerCase())?.column ?? null;
  const [ra, dec] = [columnOf(positionErrors.ra), columnOf(positionErrors.dec)];
  const unit = columns.find(({ name }) => name.toLowerCase() === positionErrors.ra.toLowerCase())?.unit;
  return ra === null || dec === null ? undefined : { ra, dec, unitMas: ERROR_UNITS_MAS[unit ?? ''] ?? Number.NaN };
}
