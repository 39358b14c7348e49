/** Proper motion: the position of a star at a time other than its catalog's epoch. */
import { RADIANS_PER_ARCSEC, RADIANS_PER_DEGREE, separationArcsec } from './sphere.ts';

/** A star at the epoch of its catalog. */
export interface MovingStar {
  /** ICRS, degrees. */
  readonly ra: number;
  readonly dec: number;
  /** Proper motion in right ascension, times cos(dec), mas per year. */
  readonly pmra: number;
  /** Proper motion in declination, mas per year. */
  readonly pmdec: number;
  /** mas; 0 if unknown. */
  readonly parallax: number;
  /** km/s, positive for a star that recedes; 0 if unknown. */
  readonly radialVelocity: number;
}

const RADIANS_PER_MAS = RADIANS_PER_ARCSEC / 1000;
const DAYS_PER_YEAR = 365.25;
const METRES_PER_AU = 149_597_870_700;
const SECONDS_PER_DAY = 86_400;
/** au a day. */
const LIGHT_SPEED = (299_792_458 * SECONDS_PER_DAY) / METRES_PER_AU;
const MIN_PARALLAX_ARCSEC = 5e-7;
/**
 * The minimum parallax, arcsec, per radian of proper motion per year; at this parallax the star moves at about 0.01 c.
 */
const PARALLAX_OF_MOTION = 326;
const MAX_ROUNDS = 100;

/**
 * The position of a star after this many Julian years, degrees, 0 <= ra < 360. The result equals that of ERFA's
 * `pmsafe` (BSD licence), and therefore of astropy's `apply_space_motion`. But these may leave a star unmoved if it is
 * closer to a pole than its motion in a year. The star moves in a straight line at constant speed, and is seen where
 * its light was emitted. Special relativity relates the observed motion to the star's own.
 */
export function movedStar(star: MovingStar, years: number): { readonly ra: number; readonly dec: number } {
  const { ra, dec, pmra, pmdec } = star;
  const [sinRa, cosRa] = [Math.sin(ra * RADIANS_PER_DEGREE), Math.cos(ra * RADIANS_PER_DEGREE)];
  const [sinDec, cosDec] = [Math.sin(dec * RADIANS_PER_DEGREE), Math.cos(dec * RADIANS_PER_DEGREE)];
  // Near a pole this is less than the motion; it then limits the speed to 0.4 c.
  const yearlyArcsec = separationArcsec(ra, dec, ra + pmra / 3.6e6 / cosDec, dec + pmdec / 3.6e6);
  const yearly = Math.max(yearlyArcsec * RADIANS_PER_ARCSEC, (Math.hypot(pmra, pmdec) * RADIANS_PER_MAS) / 40);
  const parallax = Math.max(star.parallax / 1000, yearly * PARALLAX_OF_MOTION, MIN_PARALLAX_ARCSEC);
  const distance = 1 / (parallax * RADIANS_PER_ARCSEC);
  // The observed velocity, au per day: to the east, to the north and outward.
  const perMas = (distance * RADIANS_PER_MAS) / DAYS_PER_YEAR;
  const [east, north] = [pmra * perMas, pmdec * perMas];
  const outward = (star.radialVelocity * 1000 * SECONDS_PER_DAY) / METRES_PER_AU;
  const { doppler, radial } = inertial(outward / LIGHT_SPEED, Math.hypot(east, north) / LIGHT_SPEED);
  const [vEast, vNorth, vOutward] = [east * doppler, north * doppler, radial * LIGHT_SPEED];
  const vx = -sinRa * vEast - sinDec * cosRa * vNorth + cosDec * cosRa * vOutward;
  const vy = cosRa * vEast - sinDec * sinRa * vNorth + cosDec * sinRa * vOutward;
  const vz = cosDec * vNorth + sinDec * vOutward;
  const [x, y, z] = [distance * cosDec * cosRa, distance * cosDec * sinRa, distance * sinDec];
  // The light observed at the epoch left the star this many days earlier; likewise for the later time.
  const daysBefore = distance / LIGHT_SPEED;
  const days = years * DAYS_PER_YEAR;
  const passed = days + daysBefore;
  const [px, py, pz] = [x + vx * passed, y + vy * passed, z + vz * passed];
  const along = px * vx + py * vy + pz * vz;
  const slowness = LIGHT_SPEED * LIGHT_SPEED - (vx * vx + vy * vy + vz * vz);
  const daysAfter = (-along + Math.sqrt(along * along + slowness * (px * px + py * py + pz * pz))) / slowness;
  const moved = days + (daysBefore - daysAfter);
  return positionOf(x + vx * moved, y + vy * moved, z + vz * moved);
}

/**
 * Derives from the observed speeds: the factor by which the star's true speed across the sky exceeds the observed one,
 * and its true outward speed in units of the speed of light.
 */
function inertial(outward: number, across: number): { readonly doppler: number; readonly radial: number } {
  let [radial, transverse, doppler, correction] = [outward, across, 1, 0];
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const before = radial;
    doppler = 1 + radial;
    const square = radial * radial + transverse * transverse;
    correction = -square / (Math.sqrt(1 - square) + 1);
    radial = doppler * outward + correction;
    transverse = doppler * across;
    if (radial === before) break;
  }
  return { doppler, radial };
}

function positionOf(x: number, y: number, z: number): { readonly ra: number; readonly dec: number } {
  const ra = Math.atan2(y, x) / RADIANS_PER_DEGREE;
  return { ra: ra < 0 ? (ra + 360) % 360 : ra, dec: Math.atan2(z, Math.hypot(x, y)) / RADIANS_PER_DEGREE };
}
