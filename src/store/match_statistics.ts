/**
 * The statistics of a match, which say how likely it is by chance (docs/statistics.md). They are recorded with the
 * match.
 */
import { WORTH_KEYS, type Worth } from '../contract/object_fields.ts';

export interface MatchStatistics {
  /** The version of the method that computed the values. */
  readonly version: number;
  /** Sources of the catalog per square arcmin around the match, rounded to three digits; null if it is unknown. */
  readonly sourceDensity: number | null;
  /** The number of sources of the catalog within the radius, including the matched one. */
  readonly sourcesWithinRadius: number;
  /** The separation of the second nearest source within the radius, in whole mas. */
  readonly secondSeparationArcsec: number | null;
}

/** The version of the present method. */
const VERSION = 1;

/** Rounds statistics. NaN stands for an unknown density, or for no second source. */
export function statisticsOf(density: number, sourcesWithinRadius: number, second: number): MatchStatistics {
  return {
    version: VERSION,
    sourceDensity: Number.isNaN(density) ? null : roundedDensity(density),
    sourcesWithinRadius,
    secondSeparationArcsec: Number.isNaN(second) ? null : roundedSeparation(second),
  };
}

/** The second smallest of some separations, in any order; NaN if there is none. NaN separations do not count. */
export function secondNearest(separations: readonly number[]): number {
  return separations.filter(each => !Number.isNaN(each)).sort((a, b) => a - b)[1] ?? Number.NaN;
}

/** Rounds to three digits. */
export const roundedDensity = (sourcesPerArcmin2: number) => rounded(sourcesPerArcmin2, 3);
/** Rounds to mas. */
export const roundedSeparation = (arcsec: number) => Math.round(arcsec * 1000) / 1000;
/** Rounds the chance probability to four digits. */
export const roundedChance = (sourcesPerArcmin2: number, separationArcsec: number) =>
  rounded(chanceProbability(sourcesPerArcmin2, separationArcsec), 4);

/** The powers of ten that float64 represents exactly. */
const POWERS = Float64Array.from({ length: 23 }, (_, power) => Number(`1e${power}`));

/** Equals `Number(x.toPrecision(digits))`, but takes a tenth of the time if both factors are exact. */
function rounded(value: number, digits: number): number {
  const power = digits - 1 - Math.floor(Math.log10(value));
  if (power >= 0 && power < POWERS.length) return Math.round(value * POWERS[power]!) / POWERS[power]!;
  return Number(value.toPrecision(digits));
}

/**
 * The statistics of a match as a string: the values in their order, separated by commas. Null is empty, and trailing
 * commas are omitted.
 */
export function statisticsText(statistics: MatchStatistics): string {
  const { version, sourceDensity, sourcesWithinRadius, secondSeparationArcsec } = statistics;
  const text = `${version},${sourceDensity ?? ''},${sourcesWithinRadius}`;
  return secondSeparationArcsec === null ? text : `${text},${secondSeparationArcsec}`;
}

export function readStatistics(text: string): MatchStatistics {
  const [version, density, sources, second = ''] = text.split(',');
  return {
    version: Number(version),
    sourceDensity: density === '' ? null : Number(density),
    sourcesWithinRadius: Number(sources),
    secondSeparationArcsec: second === '' ? null : Number(second),
  };
}

/** The separations of a match, arcsec. */
interface Separations {
  readonly separationArcsec: number;
  readonly separationAtEpochArcsec?: number | undefined;
}

export const NO_WORTH = Object.fromEntries(WORTH_KEYS.map(key => [key, null])) as Worth;

export function worthOf(match: Separations, statistics: MatchStatistics | undefined): Worth {
  if (!statistics) return NO_WORTH;
  const { sourceDensity } = statistics;
  const separation = match.separationAtEpochArcsec ?? match.separationArcsec;
  return {
    chance_probability: sourceDensity === null ? null : roundedChance(sourceDensity, separation),
    source_density: sourceDensity,
    sources_within_radius: statistics.sourcesWithinRadius,
    second_separation_arcsec: statistics.secondSeparationArcsec,
  };
}

const ARCMIN2_PER_ARCSEC2 = 1 / 3600;

/** The probability that at least one unrelated source lies as close or closer. */
export function chanceProbability(sourcesPerArcmin2: number, separationArcsec: number): number {
  // In this order, a density of 0 never makes a product NaN.
  return -Math.expm1(-Math.PI * ARCMIN2_PER_ARCSEC2 * sourcesPerArcmin2 * separationArcsec * separationArcsec);
}
