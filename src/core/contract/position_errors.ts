/** 1σ errors of positions, of alerts and of catalogs. */

/** The units of errors, in the spelling of VOUnits, and how many mas each has. */
export const ERROR_UNITS_MAS: Readonly<Record<string, number>> = { mas: 1, arcsec: 1000, deg: 3_600_000 };

/** The units of a source's own radius, and how many arcsec each has. */
export const RADIUS_UNITS_ARCSEC: Readonly<Record<string, number>> = { mas: 1e-3, arcsec: 1, arcmin: 60, deg: 3600 };

/** The least and the largest error of a position, mas; the largest is 180 degrees. Others are unknown. */
export const POSITION_ERROR_MAS = { min: 1e-6, max: 648_000_000 } as const;

/** MATCH_PRIOR_COMPLETENESS. */
export const PRIOR_COMPLETENESS = { min: 1e-6, max: 1, default: 1 } as const;

/**
 * The error of a position, mas, as that of a circle with the same mean variance per axis: sqrt((ra² + dec²) / 2). NWAY
 * makes a circle of an ellipse in the same way. NaN unless both errors are numbers above 0, and it is within
 * `POSITION_ERROR_MAS`.
 * @param ra times cos(dec)
 */
export function circularErrorMas(ra: unknown, dec: unknown, unitMas: number): number {
  // Equal errors stay exactly the same in this form, so that both bounds are inclusive.
  const error = Math.sqrt((errorOf(ra) ** 2 + errorOf(dec) ** 2) / 2) * unitMas;
  return error >= POSITION_ERROR_MAS.min && error <= POSITION_ERROR_MAS.max ? error : Number.NaN;
}

function errorOf(value: unknown): number {
  const error = typeof value === 'bigint' ? Number(value) : value;
  return typeof error === 'number' && error > 0 ? error : Number.NaN;
}
