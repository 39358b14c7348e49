/** Astronomical reference lines, as curves on the sky. */
import { fromGalactic, galactic } from './format.js';
import { positionOf } from './projection.js';

/** @typedef {import('./projection.js').Position} Position */
/**
 * @typedef {{ name: string, at: (t: number) => Position | undefined }} Curve `at` takes 0 to 1, once around the sky; it
 * returns undefined to leave a gap
 */

const RADIANS = Math.PI / 180;
/** The obliquity of the ecliptic at J2000. */
const OBLIQUITY = 23.43928 * RADIANS;
/**
 * The approximate area of Rubin's main survey, wide-fast-deep: between two declinations, without the galactic plane.
 * The survey itself follows the dust, and its limits change with the strategy (Bianco et al. 2022, ApJS 258, 1; Rubin
 * PSTN-056).
 */
const SURVEY = { south: -72, north: 12, fromPlane: 15 };

/** @param {number} longitude radians @returns {Position} */
function ecliptic(longitude) {
  const [cos, sin] = [Math.cos(longitude), Math.sin(longitude)];
  return positionOf([cos, sin * Math.cos(OBLIQUITY), sin * Math.sin(OBLIQUITY)]);
}

/** @param {number} dec */
function surveyParallel(dec) {
  return (/** @type {number} */ t) => {
    const ra = 360 * t;
    return Math.abs(galactic(ra, dec).b) < SURVEY.fromPlane ? undefined : { ra, dec };
  };
}

/** @param {number} b galactic latitude, degrees */
function surveySide(b) {
  return (/** @type {number} */ t) => {
    const position = fromGalactic(360 * t, b);
    return position.dec < SURVEY.south || position.dec > SURVEY.north ? undefined : position;
  };
}

/** @type {Curve[]} */
export const SKY_LINES = [
  { name: 'galactic', at: t => fromGalactic(360 * t, 0) },
  { name: 'ecliptic', at: t => ecliptic(2 * Math.PI * t) },
  ...[
    surveyParallel(SURVEY.north),
    surveyParallel(SURVEY.south),
    surveySide(SURVEY.fromPlane),
    surveySide(-SURVEY.fromPlane),
  ].map(at => ({ name: 'survey', at })),
];
