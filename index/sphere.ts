/** Distances on the celestial sphere. Positions are ICRS degrees. */

export const RADIANS_PER_DEGREE = Math.PI / 180;
export const RADIANS_PER_ARCSEC = RADIANS_PER_DEGREE / 3600;

/**
 * Great-circle separation of two positions in degrees, in arcsec, 0 to 648,000.
 *
 * Haversine formula (Sinnott, Sky & Telescope 68, 159, 1984): well conditioned at the small separations that matter
 * here, where `acos` of a dot product is wrong. Every search is decided by this function, so that all of them agree to
 * the last bit.
 */
export function separationArcsec(ra1: number, dec1: number, ra2: number, dec2: number): number {
  const sinHalfDec = Math.sin((dec2 - dec1) * (RADIANS_PER_DEGREE / 2));
  const sinHalfRa = Math.sin((ra2 - ra1) * (RADIANS_PER_DEGREE / 2));
  const h =
    sinHalfDec * sinHalfDec +
    Math.cos(dec1 * RADIANS_PER_DEGREE) * Math.cos(dec2 * RADIANS_PER_DEGREE) * sinHalfRa * sinHalfRa;
  return (2 * Math.asin(Math.min(1, Math.sqrt(h)))) / RADIANS_PER_ARCSEC;
}

/** Whether both are finite and in range: 0 <= ra <= 360, -90 <= dec <= 90 (degrees, bounds inclusive). */
export function isPosition(ra: number, dec: number): boolean {
  return ra >= 0 && ra <= 360 && dec >= -90 && dec <= 90;
}

/**
 * Converts a right ascension of any convention (degrees, for example -180 to 180, or beyond a full circle) to 0 to 360.
 * Values in that range are returned unchanged; others have whole circles added or subtracted. NaN if the value is not
 * finite.
 */
export function wrapRa(ra: number): number {
  if (ra >= 0 && ra <= 360) return ra;
  const rest = ra % 360;
  return rest < 0 ? rest + 360 : Math.abs(rest);
}

/** Throws a RangeError that names the value unless `isPosition(ra, dec)`. */
export function checkPosition(ra: number, dec: number): void {
  if (!(ra >= 0 && ra <= 360)) throw new RangeError(`ra must be 0 to 360 degrees (${ra} was given)`);
  checkDec(dec);
}

/** Throws a RangeError that names the value unless it is -90 to 90. */
export function checkDec(dec: number): void {
  if (!(dec >= -90 && dec <= 90)) throw new RangeError(`dec must be -90 to 90 degrees (${dec} was given)`);
}

/** A point on the unit sphere. */
export interface Vector {
  readonly x: number;
  readonly y: number;
  readonly z: number;
}

/** The unit vector of a position in degrees. */
export function vectorOf(ra: number, dec: number): Vector {
  const cosDec = Math.cos(dec * RADIANS_PER_DEGREE);
  return {
    x: cosDec * Math.cos(ra * RADIANS_PER_DEGREE),
    y: cosDec * Math.sin(ra * RADIANS_PER_DEGREE),
    z: Math.sin(dec * RADIANS_PER_DEGREE),
  };
}

/** The straight-line distance between two points on the sphere. */
export function chord(a: Vector, b: Vector): number {
  const [x, y, z] = [a.x - b.x, a.y - b.y, a.z - b.z];
  // Unlike Math.hypot, it is compiled to a few instructions.
  return Math.sqrt(x * x + y * y + z * z);
}

export function dot(a: Vector, b: Vector): number {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

export function cross(a: Vector, b: Vector): Vector {
  return { x: a.y * b.z - a.z * b.y, y: a.z * b.x - a.x * b.z, z: a.x * b.y - a.y * b.x };
}
