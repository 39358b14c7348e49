/** What a match is worth (docs/statistics.md), as it is recorded with the match. */
import type { Worth } from '../contract/object_fields.ts';

export interface MatchStatistics {
  /** The version of the method by which the values were found. */
  readonly version: number;
  /** Sources of the catalog per square arcmin around the match, three digits; null if its rows did not tell. */
  readonly sourceDensity: number | null;
  /** The matched source, and all others of its catalog within the radius. */
  readonly sourcesWithinRadius: number;
  /** The separation of the second nearest source within the radius, in whole mas. */
  readonly secondSeparationArcsec: number | null;
}

/** The version of the present method. */
const VERSION = 1;

/** Rounded statistics: NaN is an unknown density, or no second source. */
export function statisticsOf(density: number, sourcesWithinRadius: number, second: number): MatchStatistics {
  return {
    version: VERSION,
    sourceDensity: Number.isNaN(density) ? null : roundedDensity(density),
    sourcesWithinRadius,
    secondSeparationArcsec: Number.isNaN(second) ? null : roundedSeparation(second),
  };
}

/** The second smallest of some separations, in any order; NaN without one. Values that are NaN do not count. */
export function secondNearest(separations: readonly number[]): number {
  return separations.filter(each => !Number.isNaN(each)).sort((a, b) => a - b)[1] ?? Number.NaN;
}

/** To three digits. */
export const roundedDensity = (sourcesPerArcmin2: number) => rounded(sourcesPerArcmin2, 3);
/** To mas. */
export const roundedSeparation = (arcsec: number) => Math.round(arcsec * 1000) / 1000;
/** The chance probability, to four digits. */
export const roundedChance = (sourcesPerArcmin2: number, separationArcsec: number) =>
  rounded(chanceProbability(sourcesPerArcmin2, separationArcsec), 4);

/** The powers of ten that are exact as numbers. */
const POWERS = Float64Array.from({ length: 23 }, (_, power) => Number(`1e${power}`));

/** The number that `toPrecision` means, in a tenth of the time where both factors are exact. */
function rounded(value: number, digits: number): number {
  const power = digits - 1 - Math.floor(Math.log10(value));
  if (power >= 0 && power < POWERS.length) return Math.round(value * POWERS[power]!) / POWERS[power]!;
  return Number(value.toPrecision(digits));
}

/** The statistics of a match as text: the values in their order, with nothing for null, and without commas at the end. */
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

export const NO_WORTH: Worth = {
  chance_probability: null,
  source_density: null,
  sources_within_radius: null,
  second_separation_arcsec: null,
};

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
  // In this order no product of a density of 0 is NaN.
  return -Math.expm1(-Math.PI * ARCMIN2_PER_ARCSEC2 * sourcesPerArcmin2 * separationArcsec * separationArcsec);
}
