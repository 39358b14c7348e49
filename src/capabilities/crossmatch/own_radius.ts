/** A catalog's own radius, and that of each of its sources. */
import { RADIUS_UNITS_ARCSEC } from '../../core/contract/position_errors.ts';
import type { CatalogRegistration } from '../../core/store/catalog_registration.ts';

/** The column of the radii of sources. */
export interface RadiusColumn {
  /** As the files of one copy of a catalog spell it; null if the copy, or a file, lacks it. */
  readonly column: string | null;
  /** The radius for a value of 1, arcsec. */
  readonly unitArcsec: number;
}

/** The radius of a catalog that has its own. */
export interface OwnRadius {
  /** The radius of all sources or, with a column, the largest. */
  readonly radiusArcsec: number;
  readonly radiusColumn?: RadiusColumn;
}

/** Undefined for a catalog that is searched within the radius of the service. */
export function ownRadiusOf({
  definition,
  columns: { payload },
}: Pick<CatalogRegistration, 'definition' | 'columns'>): OwnRadius | undefined {
  if (!definition?.radius) return undefined;
  const { arcsec: radiusArcsec, column: name, factor = 1 } = definition.radius;
  if (name === undefined) return { radiusArcsec };
  const key = name.toLowerCase();
  const unit = definition.columns.find(column => column.name.toLowerCase() === key)?.unit;
  const column = payload.find(each => each.key === key)?.column ?? null;
  return {
    radiusArcsec,
    radiusColumn: { column, unitArcsec: factor * (RADIUS_UNITS_ARCSEC[unit ?? ''] ?? Number.NaN) },
  };
}

/** The radius of one source, arcsec; NaN if its value is not a number above 0. Such a source is no match. */
export function sourceRadius({ unitArcsec }: RadiusColumn, value: unknown, largestArcsec: number): number {
  const radius = Number(value ?? Number.NaN) * unitArcsec;
  return radius > 0 ? Math.min(radius, largestArcsec) : Number.NaN;
}
