/** The lines that astronomers find their way by, as curves on the sky. */
import { fromGalactic } from './format.js';

/** @typedef {import('./projection.js').Position} Position */
/** @typedef {{ name: string, at: (t: number) => Position }} Curve `at` from 0 to 1, once around */

const RADIANS = Math.PI / 180;
/** Of the ecliptic at J2000. */
const OBLIQUITY = 23.43928 * RADIANS;
/** Rubin's main survey lies between these declinations, but for the galactic plane (LSST Science Book, arXiv:0912.0201; Bianco et al. 2022, ApJS 258, 1). */
const SURVEY = [-62, 2];

/** @param {number} longitude radians @returns {Position} */
function ecliptic(longitude) {
  const y = Math.sin(longitude) * Math.cos(OBLIQUITY);
  return {
    ra: (Math.atan2(y, Math.cos(longitude)) / RADIANS + 360) % 360,
    dec: Math.asin(Math.sin(longitude) * Math.sin(OBLIQUITY)) / RADIANS,
  };
}

/** @type {Curve[]} */
export const SKY_LINES = [
  { name: 'galactic', at: t => fromGalactic(360 * t, 0) },
  { name: 'ecliptic', at: t => ecliptic(2 * Math.PI * t) },
  ...SURVEY.map(dec => ({ name: 'survey', at: (/** @type {number} */ t) => ({ ra: 360 * t, dec }) })),
];
