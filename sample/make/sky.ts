/** Seeded random numbers, places around a position, and HEALPix numbers at order 29. */
import { cellOf, FacePoint, spreadBits } from '../../index/healpix.ts';

const RADIANS_PER_DEGREE = Math.PI / 180;

/** mulberry32: a seeded generator of numbers in [0, 1), the same sequence everywhere. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * The place `separationArcsec` from a position in the direction `angle` (radians, from north through east), along a great circle.
 * Degrees in and out, rounded to 1e-11 (sines differ in the last bit from one JavaScript engine to another); 0 <= ra < 360.
 */
export function offset(ra: number, dec: number, separationArcsec: number, angle: number): { ra: number; dec: number } {
  const distance = (separationArcsec / 3600) * RADIANS_PER_DEGREE;
  const from = dec * RADIANS_PER_DEGREE;
  const sine = Math.sin(from) * Math.cos(distance) + Math.cos(from) * Math.sin(distance) * Math.cos(angle);
  const turn = Math.atan2(
    Math.sin(angle) * Math.sin(distance) * Math.cos(from),
    Math.cos(distance) - Math.sin(from) * sine,
  );
  const round = (degrees: number) => Number(degrees.toFixed(11));
  return { ra: round((ra + turn / RADIANS_PER_DEGREE + 360) % 360), dec: round(Math.asin(sine) / RADIANS_PER_DEGREE) };
}

const point = new FacePoint();

/** The NESTED pixel of a position (degrees) at order 29, the number that a HATS catalog keeps in `_healpix_29`. */
export function pixel29(ra: number, dec: number): bigint {
  point.setDegrees(ra, dec);
  return (BigInt(point.face) << 58n) | spread29(cellOf(point.x, 2 ** 29)) | (spread29(cellOf(point.y, 2 ** 29)) << 1n);
}

function spread29(cell: number): bigint {
  return (BigInt(spreadBits(cell >>> 16) >>> 0) << 32n) | BigInt(spreadBits(cell & 0xffff) >>> 0);
}
