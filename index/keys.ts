/** Points in the order of the sphere: sort keys from HEALPix pixels. */
import { cellOf, FacePoint, spreadBits } from './healpix.ts';
import { checkPosition, RADIANS_PER_DEGREE } from './sphere.ts';

/** The order-16 pixels of points: all 32 bits of the cell, and the face with the top 10 of them. */
export interface SphereKeys {
  readonly low: Uint32Array;
  readonly high: Uint16Array;
}

/**
 * The keys of positions in degrees, and, where asked for, their unit vectors (x, y, z of each).
 *
 * @throws RangeError for a position out of range
 */
export function sphereKeys(ra: Float64Array, dec: Float64Array, vectors?: Float64Array): SphereKeys {
  const rows = ra.length;
  const low = new Uint32Array(rows);
  const high = new Uint16Array(rows);
  const point = new FacePoint();
  for (let i = 0; i < rows; i++) {
    const a = ra[i]!;
    const d = dec[i]!;
    checkPosition(a, d);
    const z = Math.sin(d * RADIANS_PER_DEGREE);
    const cosDec = Math.cos(d * RADIANS_PER_DEGREE);
    if (vectors) {
      vectors[3 * i] = cosDec * Math.cos(a * RADIANS_PER_DEGREE);
      vectors[3 * i + 1] = cosDec * Math.sin(a * RADIANS_PER_DEGREE);
      vectors[3 * i + 2] = z;
    }
    point.set(a, z, cosDec);
    const bits = (spreadBits(cellOf(point.x, 65536)) | (spreadBits(cellOf(point.y, 65536)) << 1)) >>> 0;
    low[i] = bits;
    high[i] = (point.face << 10) | (bits >>> 22);
  }
  return { low, high };
}

/** Row numbers in ascending order of key: a radix sort of the bits 0-10, 11-21, then 22-31 and the face. Stable. */
export function sortByKey(low: Uint32Array, high: Uint16Array): Uint32Array {
  const rows = low.length;
  let from = new Uint32Array(rows);
  let to = new Uint32Array(rows);
  for (let i = 0; i < rows; i++) from[i] = i;
  const digits = [(i: number) => low[i]! & 2047, (i: number) => (low[i]! >>> 11) & 2047, (i: number) => high[i]!];
  for (const digit of digits) {
    const starts = new Uint32Array(12 * 1024 + 1);
    for (let i = 0; i < rows; i++) starts[digit(i) + 1]!++;
    for (let k = 1; k < starts.length; k++) starts[k]! += starts[k - 1]!;
    for (let i = 0; i < rows; i++) {
      const row = from[i]!;
      to[starts[digit(row)]!++] = row;
    }
    [from, to] = [to, from];
  }
  return from;
}

/** The order-13 pixel of a point. */
export function bucketKeyOf(low: Uint32Array, high: Uint16Array, row: number): number {
  return ((high[row]! >> 10) << 26) | (low[row]! >>> 6);
}
