/**
 * The statistics of a match, which say how likely it is by chance (docs/statistics.md). They are recorded with the
 * match.
 */
import { readDecimal } from '@nearsky/astrotables/bytes';
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
  /** Absent if the error of one of the two positions is not known. */
  readonly likelihood?: Likelihood;
}

/** The part of the statistics that needs the errors of positions. */
export interface Likelihood {
  /** See `combinedError`. */
  readonly combinedErrorMas: number;
  /**
   * The natural logarithm of the sum of the weights of all sources within the radius over the weight of this one, at
   * least 0; null if the error of one of them is not known. It has four decimals.
   */
  readonly lnWeightRatio: number | null;
  /** MATCH_PRIOR_COMPLETENESS of the crossmatch. */
  readonly priorCompleteness: number;
}

/** The version of the present method. */
export const STATISTICS_VERSION = 2;

/** Rounds statistics. NaN stands for an unknown density, or for no second source. */
export function statisticsOf(
  density: number,
  sourcesWithinRadius: number,
  second: number,
  likelihood?: Likelihood,
): MatchStatistics {
  return {
    version: STATISTICS_VERSION,
    sourceDensity: Number.isNaN(density) ? null : roundedDensity(density),
    sourcesWithinRadius,
    secondSeparationArcsec: Number.isNaN(second) ? null : roundedSeparation(second),
    ...(likelihood && { likelihood }),
  };
}

/**
 * The rounded likelihood of a match; undefined if the combined error is NaN.
 * @param arcsec the separation by which the source was chosen
 * @param combinedErrorMas see `combinedError`
 * @param lnWeights of all sources within the radius: see `lnWeight` and `lnSum`
 */
export function likelihoodOf(
  arcsec: number,
  combinedErrorMas: number,
  lnWeights: number,
  priorCompleteness: number,
): Likelihood | undefined {
  if (Number.isNaN(combinedErrorMas)) return undefined;
  const ratio = Math.max(0, lnWeights - lnWeight(arcsec, combinedErrorMas));
  return {
    combinedErrorMas,
    lnWeightRatio: Number.isNaN(ratio) ? null : roundedRatio(ratio),
    priorCompleteness,
  };
}

/** A smaller difference changes neither probability in the digits that they have. */
const roundedRatio = (ratio: number) => Math.round(ratio * 1e4) / 1e4;

/**
 * The root of the sum of the squared 1σ errors of both positions, to five digits; NaN if one is NaN. Weights are
 * computed from rounded errors, because the probabilities of a match follow from the recorded error and the sum of
 * weights.
 */
export const combinedError = (objectMas: number, sourceMas: number) => rounded(Math.hypot(objectMas, sourceMas), 5);

/**
 * The logarithm of the density, per square arcsec, of a counterpart's position at the source, without the factor 1/2π:
 * exp(-s² / 2σ²) / σ².
 */
export function lnWeight(arcsec: number, combinedErrorMas: number): number {
  const sigma = combinedErrorMas / 1000;
  return -0.5 * (arcsec / sigma) ** 2 - 2 * Math.log(sigma);
}

/** The logarithm of the sum of two weights from their logarithms; NaN if one is NaN. -Infinity adds nothing. */
export function lnSum(a: number, b: number): number {
  const larger = Math.max(a, b);
  return larger === Number.NEGATIVE_INFINITY ? larger : larger + Math.log1p(Math.exp(Math.min(a, b) - larger));
}

/** The second smallest of some separations, in any order; NaN if there is none. NaN separations do not count. */
export function secondNearest(separations: readonly number[]): number {
  return separations.filter(each => !Number.isNaN(each)).sort((a, b) => a - b)[1] ?? Number.NaN;
}

/** Rounds to three digits. */
export const roundedDensity = (sourcesPerArcmin2: number) => rounded(sourcesPerArcmin2, 3);
/** Rounds to mas. */
const roundedSeparation = (arcsec: number) => Math.round(arcsec * 1000) / 1000;
/** The digits of a value that is computed from a density or from errors of positions: these are known no better. */
const WORTH_DIGITS = 3;

export const roundedChance = (sourcesPerArcmin2: number, separationArcsec: number) =>
  rounded(chanceProbability(sourcesPerArcmin2, separationArcsec), WORTH_DIGITS);

/** An error, to four digits. */
export const roundedError = (mas: number) => rounded(mas, 4);

/** The powers of ten that float64 represents exactly. */
const POWERS = Float64Array.from({ length: 23 }, (_, power) => Number(`1e${power}`));

/** Equals `Number(x.toPrecision(digits))`, but takes a tenth of the time if both factors are exact. */
function rounded(value: number, digits: number): number {
  const power = digits - 1 - Math.floor(Math.log10(value));
  if (power >= 0 && power < POWERS.length) return Math.round(value * POWERS[power]!) / POWERS[power]!;
  return Number(value.toPrecision(digits));
}

/** The version that a string omits. It stays 2 in later versions of the method, because strings are stored. */
const OMITTED_VERSION = 2;
const UNKNOWN = '?';
const COMMA = 0x2c;

/**
 * The statistics of a match as a string: the values in their order, separated by commas. Version 2, one
 * source, a ratio of 0, a completeness of 1 and null are empty, and trailing commas are omitted.
 */
export function statisticsText(statistics: MatchStatistics): string {
  const { version, sourceDensity, sourcesWithinRadius, secondSeparationArcsec, likelihood } = statistics;
  const first = version === OMITTED_VERSION ? '' : version;
  const count = sourcesWithinRadius === 1 ? '' : sourcesWithinRadius;
  const text = `${first},${shortest(sourceDensity)},${count},${shortest(secondSeparationArcsec)}`;
  return (likelihood ? `${text},${likelihoodText(likelihood)}` : text).replace(/,+$/, '');
}

function likelihoodText({ combinedErrorMas, lnWeightRatio, priorCompleteness }: Likelihood): string {
  const ratio = lnWeightRatio === null ? UNKNOWN : lnWeightRatio === 0 ? '' : shortest(lnWeightRatio);
  return `${combinedErrorMas},${ratio},${priorCompleteness === 1 ? '' : priorCompleteness}`;
}

/** A number without the 0 before its decimal point; null is empty. */
function shortest(value: number | null): string {
  const text = `${value ?? ''}`;
  return text.startsWith('0.') ? text.slice(1) : text;
}

/** Reads the string of statistics from its bytes, in a fifth of the time that it takes to split a string. */
export function readStatistics(bytes: Buffer, from = 0, to = bytes.length): MatchStatistics {
  let at = from;
  /** The next value; undefined if it is empty, or left out at the end. */
  const next = () => {
    const start = at;
    while (at < to && bytes[at] !== COMMA) at++;
    return start < at++ ? readDecimal(bytes, start, at - 1) : undefined;
  };
  const statistics = {
    version: next() ?? OMITTED_VERSION,
    sourceDensity: next() ?? null,
    sourcesWithinRadius: next() ?? 1,
    secondSeparationArcsec: next() ?? null,
  };
  const combinedErrorMas = next();
  if (combinedErrorMas === undefined) return statistics;
  const [ratio, priorCompleteness] = [next() ?? 0, next() ?? 1];
  // UNKNOWN is not a number.
  const lnWeightRatio = Number.isNaN(ratio) ? null : ratio;
  return { ...statistics, likelihood: { combinedErrorMas, lnWeightRatio, priorCompleteness } };
}

/** The separations of a match, arcsec. */
export interface Separations {
  readonly separationArcsec: number;
  readonly separationAtEpochArcsec?: number | undefined;
}

export const NO_WORTH = Object.fromEntries(WORTH_KEYS.map(key => [key, null])) as Worth;

/** The quantities of the nearest source. */
export function worthOf(match: Separations, statistics: MatchStatistics | undefined): Worth {
  if (!statistics) return NO_WORTH;
  const { sourceDensity, likelihood } = statistics;
  const separation = match.separationAtEpochArcsec ?? match.separationArcsec;
  const { normalized_separation, match_probability, any_match_probability } = probabilities(
    separation,
    sourceDensity,
    likelihood,
  );
  return {
    chance_probability: sourceDensity === null ? null : roundedChance(sourceDensity, separation),
    source_density: sourceDensity,
    sources_within_radius: statistics.sourcesWithinRadius,
    second_separation_arcsec: notBelow(separation, statistics.secondSeparationArcsec),
    normalized_separation,
    match_probability,
    any_match_probability,
  };
}

/** The rounded second separation may lie below the separation of a nearest source that is nearly as far away. */
const notBelow = (separation: number, second: number | null) => (second === null ? null : Math.max(separation, second));

const UNKNOWN_PROBABILITIES = { normalized_separation: null, match_probability: null, any_match_probability: null };

/**
 * The values that need the errors of positions: p_i and p_any of NWAY (Salvato et al. 2018, MNRAS 473, 4937) for one
 * catalog. With w = c exp(-r²/2) / (2π ρ σ²) of each source, p_i = w_i / Σw and p_any = Σw / (1 + Σw).
 */
export function probabilities(arcsec: number, sourcesPerArcmin2: number | null, likelihood: Likelihood | undefined) {
  if (!likelihood) return UNKNOWN_PROBABILITIES;
  const { combinedErrorMas, lnWeightRatio, priorCompleteness } = likelihood;
  const normalized = finite(rounded((1000 * arcsec) / combinedErrorMas, WORTH_DIGITS));
  if (lnWeightRatio === null) return { ...UNKNOWN_PROBABILITIES, normalized_separation: normalized };
  const density = (sourcesPerArcmin2 ?? Number.NaN) * ARCMIN2_PER_ARCSEC2;
  const lnUnrelated = Math.log((2 * Math.PI * density) / priorCompleteness);
  const lnOdds = lnWeight(arcsec, combinedErrorMas) + lnWeightRatio - lnUnrelated;
  return {
    normalized_separation: normalized,
    match_probability: rounded(Math.exp(-lnWeightRatio), WORTH_DIGITS),
    any_match_probability: finite(rounded(1 / (1 + Math.exp(-lnOdds)), WORTH_DIGITS)),
  };
}

/** Separations and densities that were imported may be of any size. */
const finite = (value: number) => (Number.isFinite(value) ? value : null);

const ARCMIN2_PER_ARCSEC2 = 1 / 3600;

/** The probability that at least one unrelated source lies as close or closer. */
export function chanceProbability(sourcesPerArcmin2: number, separationArcsec: number): number {
  // In this order, a density of 0 never makes a product NaN.
  return -Math.expm1(-Math.PI * ARCMIN2_PER_ARCSEC2 * sourcesPerArcmin2 * separationArcsec * separationArcsec);
}
