/**
 * The magnitudes of a catalog's source. The pages load this file, too.
 *
 * @typedef {import('../../core/contract/catalog.ts').Photometry} Photometry
 * @typedef {{ readonly band: Photometry['bands'][number], readonly letter: string, readonly magnitude: number }} BandMagnitude
 */

/** Catalogs use fainter magnitudes, and very bright ones, as codes for a missing value. */
const FAINTEST = 40;
const BRIGHTEST = -30;

/**
 * The magnitudes that a source has, in the order of the bands.
 * @param {Photometry | undefined} photometry of the catalog
 * @param {Readonly<Record<string, unknown>> | null | undefined} payload by lower-case key
 * @returns {BandMagnitude[]}
 */
export function magnitudesOf(photometry, payload) {
  return (photometry?.bands ?? []).flatMap(band => {
    const magnitude = payload?.[band.magnitude.toLowerCase()];
    const isKnown = typeof magnitude === 'number' && magnitude > BRIGHTEST && magnitude < FAINTEST;
    return isKnown ? [{ band, letter: band.letter, magnitude }] : [];
  });
}

/**
 * The magnitude by which sources are compared: in the catalog's main band, else in its reddest band.
 * @param {Photometry | undefined} photometry
 * @param {Readonly<Record<string, unknown>> | null | undefined} payload
 * @returns {BandMagnitude | undefined}
 */
export function mainMagnitude(photometry, payload) {
  const known = magnitudesOf(photometry, payload);
  return known.find(({ letter }) => letter === photometry?.main) ?? known.at(-1);
}

/** 2.5 / ln 10, the factor from the relative error of a flux to an error in magnitudes. */
const MAGNITUDES = 1.0857362;

/**
 * The standard error of a magnitude; undefined if it is unknown.
 * @param {Photometry['bands'][number]} band
 * @param {Readonly<Record<string, unknown>>} payload
 * @returns {number | undefined} magnitudes
 */
export function magnitudeError(band, payload) {
  const value = payload['error' in band ? band.error : band.fluxOverError];
  if (typeof value !== 'number' || !Number.isFinite(value)) return undefined;
  return 'error' in band ? value : value && MAGNITUDES / value;
}

/** The decimals of a magnitude whose error is unknown, and the most that any has. */
const DECIMALS = 2;
const MOST_DECIMALS = 3;

/**
 * The main magnitude with its band, such as `G 20.33`. Its last digit is the first that its error changes.
 * @param {Photometry | undefined} photometry
 * @param {Readonly<Record<string, unknown>> | null | undefined} payload
 * @returns {string | undefined}
 */
export function mainMagnitudeText(photometry, payload) {
  const main = mainMagnitude(photometry, payload);
  if (!main) return undefined;
  const error = magnitudeError(main.band, payload ?? {});
  const digits = error && error > 0 ? Math.max(0, Math.min(MOST_DECIMALS, -Math.floor(Math.log10(error)))) : DECIMALS;
  return `${main.letter} ${main.magnitude.toFixed(digits)}`;
}
