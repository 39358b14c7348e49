/**
 * The magnitudes of a catalog's source. The pages load this file, too.
 *
 * @typedef {import('./catalog.ts').Photometry} Photometry
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
