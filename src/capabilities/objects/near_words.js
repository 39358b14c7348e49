/**
 * The sources near a position, and what was searched there, in words for people. The pages load this file, too.
 *
 * @typedef {{ readonly count: number, readonly catalogs: readonly { readonly catalog_name: string, readonly outcome: string }[] }} Near
 *   members of the answer of GET /api/sources
 */

/** The words for a position where all catalogs have the same outcome, and none was searched. @type {Readonly<Record<string, string>>} */
const UNSEARCHED = {
  outside_footprint: 'No catalog covers this position',
  skipped_read_failure: 'No catalog can be read now',
  not_registered: 'This service has no catalog yet',
};

/**
 * What a search for sources found, or why it searched nothing; and the names of the catalogs by their outcomes.
 * @param {Near} near @param {string} within the radius with its unit
 */
export function searchedWords({ count, catalogs }, within) {
  const outcomes = new Map(
    [...Map.groupBy(catalogs, ({ outcome }) => outcome)].map(([outcome, some]) => [
      outcome,
      some.map(({ catalog_name }) => catalog_name),
    ]),
  );
  const [only = 'not_registered', ...others] = [...outcomes.keys()].filter(each => each !== 'not_registered');
  const found = outcomes.has('searched')
    ? `${count} catalog source${count === 1 ? '' : 's'} within ${within}`
    : (others.length === 0 && UNSEARCHED[only]) || 'No catalog was searched here';
  return { found, outcomes };
}

const MOST_DIGITS = 6;

/**
 * A separation with two decimals, or three below 0.1. It has more if rounding would put it inside a radius that it
 * exceeds.
 * @param {number} arcsec @param {number} [radius] arcsec
 */
export function separationText(arcsec, radius = Number.POSITIVE_INFINITY) {
  let digits = arcsec < 0.1 ? 3 : 2;
  while (arcsec > radius && Number(arcsec.toFixed(digits)) <= radius && digits < MOST_DIGITS) digits++;
  return arcsec.toFixed(digits);
}
