/** Sorts points along the sphere: sort keys from HEALPix pixels. */
import { cellOf, FacePoint, spreadBits } from './healpix.ts';
import { checkPosition, RADIANS_PER_DEGREE } from './sphere.ts';

/** The order-16 pixels of points in two arrays: the 32 bits of the cell, and the face with the cell's top 10 bits. */
export interface SphereKeys {
  readonly low: Uint32Array;
  readonly high: Uint16Array;
}

/**
 * The keys of positions in degrees.
 *
 * @param stride the step from one position to the next in `ra` and `dec`
 * @throws RangeError for a position out of range
 */
export function sphereKeys(ra: Float64Array, dec: Float64Array, stride = 1): SphereKeys {
  const rows = Math.ceil(ra.length / stride);
  const low = new Uint32Array(rows);
  const high = new Uint16Array(rows);
  const point = new FacePoint();
  for (let i = 0; i < rows; i++) {
    const a = ra[i * stride]!;
    const d = dec[i * stride]!;
    checkPosition(a, d);
    point.set(a, Math.sin(d * RADIANS_PER_DEGREE), Math.cos(d * RADIANS_PER_DEGREE));
    const bits = (spreadBits(cellOf(point.x, 65536)) | (spreadBits(cellOf(point.y, 65536)) << 1)) >>> 0;
    low[i] = bits;
    high[i] = (point.face << 10) | (bits >>> 22);
  }
  return { low, high };
}

/** A float64 contains a row number and the 25 bits of its key that are not sorted yet: 53 bits together. */
const ROW_UNIT = 2 ** 28;

/**
 * Row numbers in ascending order of key. Stable. A radix sort by the bits 0-10, 11-21, then 22-31 and the face. The key
 * is stored with its row, so that each pass reads sequentially.
 *
 * @throws RangeError for 2^28 rows or more
 */
export function sortByKey({ low, high }: SphereKeys): Uint32Array {
  const rows = low.length;
  if (rows >= ROW_UNIT) throw new RangeError(`Cannot sort ${rows} rows because an arena has less than ${ROW_UNIT}`);
  const first = new Uint32Array(2048);
  const second = new Uint32Array(2048);
  const third = new Uint32Array(12 * 1024);
  for (let i = 0; i < rows; i++) {
    const bits = low[i]!;
    first[bits & 2047]!++;
    second[(bits >>> 11) & 2047]!++;
    third[high[i]!]!++;
  }
  for (const counts of [first, second, third]) countsToStarts(counts);
  const a = new Float64Array(rows);
  const b = new Float64Array(rows);
  for (let i = 0; i < rows; i++) {
    const bits = low[i]!;
    a[first[bits & 2047]!++] = (high[i]! * 2048 + ((bits >>> 11) & 2047)) * ROW_UNIT + i;
  }
  for (let i = 0; i < rows; i++) {
    const keyed = a[i]!;
    b[second[(keyed / ROW_UNIT) & 2047]!++] = keyed;
  }
  const order = new Uint32Array(rows);
  for (let i = 0; i < rows; i++) {
    const keyed = b[i]!;
    const key = (keyed / ROW_UNIT) | 0;
    order[third[key >> 11]!++] = keyed - key * ROW_UNIT;
  }
  return order;
}

/** Replaces each count by the sum of the counts before it. */
function countsToStarts(counts: Uint32Array): void {
  let start = 0;
  for (let k = 0; k < counts.length; k++) {
    const count = counts[k]!;
    counts[k] = start;
    start += count;
  }
}

/** The order-13 pixel of a point. */
export function bucketKeyOf({ low, high }: SphereKeys, row: number): number {
  return ((high[row]! >> 10) << 26) | (low[row]! >>> 6);
}
