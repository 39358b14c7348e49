/** The use of proper motions in a crossmatch (docs/contract.md, Proper motion). */
import type { MovingStar } from '@nearsky/sky-index/motion';
import type { CatalogDefinition } from '../../core/contract/catalogs.ts';
import type { CatalogColumns } from '../../core/store/catalog_registration.ts';

/**
 * The motion of the sources of one copy of a catalog; columns are spelled as in its files; a missing column is null.
 */
export interface CatalogMotion {
  /** The Julian year of the positions. */
  readonly epoch: number;
  readonly pmra: string;
  readonly pmdec: string;
  readonly parallax: string | null;
  readonly radialVelocity: string | null;
}

/** Twice the motion of Barnard's star, the fastest known. No star can have a larger value. */
export const MAX_MOTION_MAS = 20_000;
/** No star is nearer than 1.3 pc. */
const MAX_PARALLAX_MAS = 1000;
const MAX_RADIAL_VELOCITY = 1000;
const MAX_YEARS = 100;
/** Within these limits, an approaching star moves less than 1.13 times as far as its motion at the epoch predicts. */
const APPROACH = 1.25;

/** Undefined if the catalog's description names no motion, or the copy lacks its columns. */
export function motionOf({ motion }: CatalogDefinition, { payload }: CatalogColumns): CatalogMotion | undefined {
  if (!motion) return undefined;
  const columnOf = (name: string | undefined) => payload.find(({ key }) => key === name?.toLowerCase())?.column ?? null;
  const [pmra, pmdec] = [columnOf(motion.pmra), columnOf(motion.pmdec)];
  if (pmra === null || pmdec === null) return undefined;
  const { epoch, parallax, radialVelocity } = motion;
  return { epoch, pmra, pmdec, parallax: columnOf(parallax), radialVelocity: columnOf(radialVelocity) };
}

/** 2000-01-01T12:00:00 in terrestrial time, which is 69.184 s ahead of UTC since 2017. */
const J2000_US = 946_728_000e6 - 69_184_000;
const YEAR_US = 365.25 * 86_400e6;

/** Julian years from an epoch to a time (UTC, microseconds since 1970); NaN beyond a century, where no motion is applied. */
export function yearsSince(epoch: number, timeUs: number): number {
  return yearsBetween(epoch, 2000 + (timeUs - J2000_US) / YEAR_US);
}

/** Julian years between two epochs; NaN beyond a century, where no motion is applied. */
export function yearsBetween(epoch: number, later: number): number {
  const years = later - epoch;
  return Math.abs(years) <= MAX_YEARS ? years : Number.NaN;
}

/** The proper motion of a source, mas per year; 0 if it has none, or one that no star can have. */
export function motionMas(pmra: number, pmdec: number): number {
  const motion = Math.hypot(pmra, pmdec);
  return motion <= MAX_MOTION_MAS ? motion : 0;
}

/** The maximum distance, arcsec, of a source with this motion from its catalog position after this many years. */
export function reachArcsec(mas: number, years: number): number {
  return (APPROACH * Math.abs(years) * mas) / 1000;
}

/** The maximum distance, arcsec, of any source from its catalog position after this many years. */
export function longestReachArcsec(years: number): number {
  return Number.isNaN(years) ? 0 : reachArcsec(MAX_MOTION_MAS, years);
}

/** The longest of these times, years; 0 if no motion is applied at any of them. */
export function longest(years: Float64Array): number {
  return years.reduce((most, each) => (Math.abs(each) > most ? Math.abs(each) : most), 0);
}

/** A source that moves. Unknown values, and values that no star can have, count as 0. */
export function starOf(place: Pick<MovingStar, 'ra' | 'dec' | 'pmra' | 'pmdec'>, parallax: unknown, velocity: unknown) {
  return {
    ...place,
    parallax: typeof parallax === 'number' && parallax > 0 && parallax <= MAX_PARALLAX_MAS ? parallax : 0,
    radialVelocity: typeof velocity === 'number' && Math.abs(velocity) <= MAX_RADIAL_VELOCITY ? velocity : 0,
  } satisfies MovingStar;
}
