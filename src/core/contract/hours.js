/** Right ascensions in decimal hours that were taken for degrees. The pages load this file, too. */

export const LIKE_HOURS =
  'All right ascensions are below 24, and the declinations are spread over the sky: if they are hours, send ra_unit=h';

/** The minimum number of positions for a warning, and the minimum ranges of both coordinates, degrees. */
const [LEAST_ROWS, LEAST_RA, LEAST_DEC] = [10, 12, 30];

/**
 * Whether decimal degrees are more likely hours. Values that are not numbers do not count.
 * @param {ArrayLike<number>} ras @param {ArrayLike<number>} decs of the same positions
 */
export function looksLikeHours(ras, decs) {
  let [rows, leastRa, mostRa, leastDec, mostDec] = [0, Infinity, -Infinity, Infinity, -Infinity];
  for (let i = 0; i < ras.length; i++) {
    const [ra, dec] = [ras[i] ?? NaN, decs[i] ?? NaN];
    if (Number.isNaN(ra) || Number.isNaN(dec)) continue;
    if (!(ra >= 0 && ra < 24)) return false;
    rows++;
    [leastRa, mostRa] = [Math.min(leastRa, ra), Math.max(mostRa, ra)];
    [leastDec, mostDec] = [Math.min(leastDec, dec), Math.max(mostDec, dec)];
  }
  return rows >= LEAST_ROWS && mostRa - leastRa >= LEAST_RA && mostDec - leastDec >= LEAST_DEC;
}
