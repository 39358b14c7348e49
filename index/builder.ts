/** Builds an arena from columns of points. */
import Flatbush from 'flatbush';
import { compressBits, MAX_ORDER, pixelCentre } from './healpix.ts';
import { bucketKeyOf, type SphereKeys, sortByKey, sphereKeys } from './keys.ts';
import {
  type ArenaViews,
  BUCKET_ALIGNMENT,
  BUCKET_CELLS,
  BUCKET_EAST,
  BUCKET_NORTH,
  BUCKET_ORDER,
  BUCKET_RHO2,
  BUCKET_ROW,
  BUCKET_ROW_END,
  BUCKET_SCALE,
  BUCKET_START,
  BUCKET_U0,
  BUCKET_V0,
  BUCKET_X,
  BUCKET_Y,
  blockRows,
  bucketBytes,
  CELLS,
  createArena,
  MAX_CELLED_ROWS,
  NODE_SIZE,
  RECORD_BYTES,
  ROW_DEC,
  ROW_ID,
  ROW_RA,
  ROW_TIME,
  treeOffset,
} from './layout.ts';
import { RADIANS_PER_DEGREE } from './sphere.ts';

/** Points as one column per property; all columns have the same number of rows. */
export interface PointColumns {
  /** Degrees, 0 to 360. */
  readonly ra: Float64Array;
  /** Degrees, -90 to 90. */
  readonly dec: Float64Array;
  readonly id: BigInt64Array;
  /** Kept with each point, but not searched. */
  readonly time?: Float64Array | undefined;
  /**
   * The step from one row to the next in each column; 1 by default. Rows that are stored as records are read with one
   * stride over four views.
   */
  readonly stride?: number;
}

/** A bucket with more rows than this is split, down to order 13. */
const MAX_BUCKET_ROWS = 512;

/** No bucket is larger than a pixel of this order, so that its tangent plane stays close to the sphere. */
const MIN_BUCKET_ORDER = 3;

const MAX_DIRECTORY_ORDER = 9;

/**
 * The minimum extent of a bucket, radians. Its coordinates are never finer than this over 65,534, far above the
 * rounding of unit vectors.
 */
const MIN_EXTENT = 1e-7;

/**
 * Builds an arena of any number of points, in any order.
 * @throws RangeError when columns differ in length or a position is out of range
 */
export function buildArena(points: PointColumns): SharedArrayBuffer {
  const { stride = 1 } = points;
  const rows = Math.ceil(points.ra.length / stride);
  for (const column of [points.dec, points.id, points.time])
    if (column && Math.ceil(column.length / stride) !== rows)
      throw new RangeError(
        `Cannot build an arena because all columns must have ${rows} rows: one has ${column.length}`,
      );
  const keys = sphereKeys(points.ra, points.dec, stride);
  const order = sortByKey(keys);
  const buckets = splitIntoBuckets(order, keys);

  let directoryOrder = 0;
  while (directoryOrder < MAX_DIRECTORY_ORDER && 12 * 4 ** directoryOrder < 2 * buckets.length) directoryOrder++;
  const { buffer, views } = createArena({
    rows,
    buckets: buckets.length,
    directoryOrder,
    bucketsBytes: buckets.reduce((sum, bucket) => sum + bucketBytes(bucket.end - bucket.row), 0),
    hasTime: points.time !== undefined,
  });
  writeRows(views, points, order);
  const projection = new Projection();
  let start = RECORD_BYTES * buckets.length;
  for (let b = 0; b < buckets.length; b++) {
    const bucket = buckets[b]!;
    views.bucketKey[b] = bucket.key;
    writeBucket(views, bucket, b * RECORD_BYTES, start, projection);
    writeCells(views.words.subarray((b * RECORD_BYTES) / 2 + BUCKET_CELLS), bucket, order, keys);
    start += bucketBytes(bucket.end - bucket.row);
  }
  writeDirectory(views);
  return buffer;
}

/** Writes the record, the points' coordinates and their tree; `record` and `start` are in bytes. */
function writeBucket(views: ArenaViews, bucket: Bucket, record: number, start: number, projection: Projection): void {
  const { ints, words } = views;
  const { key, row, end } = bucket;
  const order = bucketOrder(bucket);
  const pixel = (key & (4 ** MAX_ORDER - 1)) >> (2 * (MAX_ORDER - order));
  ints[record / 4 + BUCKET_ORDER] = order;
  ints[record / 4 + BUCKET_X] = compressBits(pixel);
  ints[record / 4 + BUCKET_Y] = compressBits(pixel >>> 1);
  ints[record / 4 + BUCKET_ROW] = row;
  ints[record / 4 + BUCKET_ROW_END] = end;
  ints[record / 4 + BUCKET_START] = start / BUCKET_ALIGNMENT;
  const points = words.subarray(start / 2, start / 2 + 2 * (end - row));
  projection.write(bucket, views, record / 8, points);
  words.set(new Uint16Array(buildTree(points, blockRows(end - row))), start / 2 + treeOffset(end - row));
}

/** The first row of each cell, relative to the bucket's first row. */
function writeCells(cells: Uint16Array, bucket: Bucket, order: Uint32Array, { low }: SphereKeys): void {
  const { key, keyEnd, row, end } = bucket;
  if (end - row > MAX_CELLED_ROWS) return;
  // Order-16 pixels within the face; one step of a bucket's key is 64 of these pixels.
  const first = (key % 4 ** MAX_ORDER) * 64;
  const span = ((keyEnd - key) * 64) / CELLS;
  let from = row;
  for (let cell = 1; cell < CELLS; cell++) {
    let to = end;
    while (from < to) {
      const middle = (from + to) >> 1;
      if (low[order[middle]!]! < first + cell * span) from = middle + 1;
      else to = middle;
    }
    cells[cell] = from - row;
  }
}

interface Bucket {
  readonly key: number;
  readonly keyEnd: number;
  readonly row: number;
  readonly end: number;
}

/** The order of a bucket's pixel. */
function bucketOrder({ key, keyEnd }: Bucket): number {
  return MAX_ORDER - Math.log2(keyEnd - key) / 2;
}

function splitIntoBuckets(order: Uint32Array, sphere: SphereKeys): Bucket[] {
  const rows = order.length;
  const buckets: Bucket[] = [];
  const firstAtOrAfter = (key: number, from: number, to: number): number => {
    while (from < to) {
      const middle = (from + to) >> 1;
      if (bucketKeyOf(sphere, order[middle]!) < key) from = middle + 1;
      else to = middle;
    }
    return from;
  };
  const split = (healpixOrder: number, key: number, row: number, end: number): void => {
    if (row === end) return;
    const span = 4 ** (MAX_ORDER - healpixOrder);
    if (healpixOrder >= MIN_BUCKET_ORDER && (end - row <= MAX_BUCKET_ROWS || healpixOrder === MAX_ORDER)) {
      buckets.push({ key, keyEnd: key + span, row, end });
      return;
    }
    const quarter = span / 4;
    for (let child = 0; child < 4; child++) {
      const childEnd = child === 3 ? end : firstAtOrAfter(key + (child + 1) * quarter, row, end);
      split(healpixOrder + 1, key + child * quarter, row, childEnd);
      row = childEnd;
    }
  };
  let row = 0;
  for (let face = 0; face < 12; face++) {
    const end = firstAtOrAfter((face + 1) * 4 ** MAX_ORDER, row, rows);
    split(0, face * 4 ** MAX_ORDER, row, end);
    row = end;
  }
  return buckets;
}

/** The number of rows that are gathered column by column while they are in the processor's cache. */
const GATHERED_ROWS = 4096;

function writeRows({ rows, rowInts, stride }: ArenaViews, points: PointColumns, order: Uint32Array): void {
  const { stride: step = 1, ra, dec, id, time } = points;
  for (let start = 0; start < order.length; start += GATHERED_ROWS) {
    const end = Math.min(order.length, start + GATHERED_ROWS);
    for (let i = start; i < end; i++) rows[i * stride + ROW_RA] = ra[order[i]! * step]!;
    for (let i = start; i < end; i++) rows[i * stride + ROW_DEC] = dec[order[i]! * step]!;
    for (let i = start; i < end; i++) rowInts[i * stride + ROW_ID] = id[order[i]! * step]!;
    if (time) for (let i = start; i < end; i++) rows[i * stride + ROW_TIME] = time[order[i]! * step]!;
  }
}

/**
 * Projects the points of one bucket after another, each onto the plane that touches the sphere at the centre of the
 * bucket's pixel (orthographic). With da and dd the differences from the centre (a0, d0): u = cos(d) sin(da), v =
 * sin(dd) + cos(d) sin(d0) (1 - cos(da)). The differences are small, except for ra near a pole, so a few terms of a
 * series replace the library's functions.
 */
class Projection {
  #u = new Float64Array(MAX_BUCKET_ROWS);
  #v = new Float64Array(MAX_BUCKET_ROWS);

  /**
   * Chooses the bucket's scale, and writes its frame to the record at `record` (in float64) and its points' coordinates
   * to `points`.
   */
  write(bucket: Bucket, { floats, rows, stride }: ArenaViews, record: number, points: Uint16Array): void {
    const { row, end } = bucket;
    if (end - row > this.#u.length) {
      this.#u = new Float64Array(end - row);
      this.#v = new Float64Array(end - row);
    }
    const us = this.#u;
    const vs = this.#v;
    const order = bucketOrder(bucket);
    const centre = pixelCentre(order, bucket.key >> (2 * (MAX_ORDER - order)));
    const sin0 = Math.sin(centre.dec * RADIANS_PER_DEGREE);
    const cos0 = Math.cos(centre.dec * RADIANS_PER_DEGREE);
    let minU = Infinity;
    let maxU = -Infinity;
    let minV = Infinity;
    let maxV = -Infinity;
    let rho2 = 0;
    for (let i = row; i < end; i++) {
      const across = rows[i * stride + ROW_RA]! - centre.ra;
      const da = (across > 180 ? across - 360 : across < -180 ? across + 360 : across) * RADIANS_PER_DEGREE;
      const dd = (rows[i * stride + ROW_DEC]! - centre.dec) * RADIANS_PER_DEGREE;
      const sinDd = smallSin(dd);
      const cosDec = cos0 * (1 - smallVersine(dd)) - sin0 * sinDd;
      const u = cosDec * smallSin(da);
      const v = sinDd + cosDec * sin0 * smallVersine(da);
      us[i - row] = u;
      vs[i - row] = v;
      if (u < minU) minU = u;
      if (u > maxU) maxU = u;
      if (v < minV) minV = v;
      if (v > maxV) maxV = v;
      if (u * u + v * v > rho2) rho2 = u * u + v * v;
    }
    const scale = 65534 / Math.max(maxU - minU, maxV - minV, MIN_EXTENT);
    for (let i = 0; i < end - row; i++) {
      points[2 * i] = Math.round((us[i]! - minU) * scale);
      points[2 * i + 1] = Math.round((vs[i]! - minV) * scale);
    }
    const sinRa = Math.sin(centre.ra * RADIANS_PER_DEGREE);
    const cosRa = Math.cos(centre.ra * RADIANS_PER_DEGREE);
    floats.set([-sinRa, cosRa], record + BUCKET_EAST);
    floats.set([-sin0 * cosRa, -sin0 * sinRa, cos0], record + BUCKET_NORTH);
    floats[record + BUCKET_U0] = minU;
    floats[record + BUCKET_V0] = minV;
    floats[record + BUCKET_SCALE] = scale;
    floats[record + BUCKET_RHO2] = rho2;
  }
}

/** The series below are accurate to 1e-15 up to this angle in radians. */
const SMALL = 0.2;

function smallSin(x: number): number {
  if (!(x < SMALL && x > -SMALL)) return Math.sin(x);
  const x2 = x * x;
  return x * (1 - (x2 / 6) * (1 - (x2 / 20) * (1 - (x2 / 42) * (1 - x2 / 72))));
}

/** 1 - cos(x) */
function smallVersine(x: number): number {
  if (!(x < SMALL && x > -SMALL)) return 1 - Math.cos(x);
  const x2 = x * x;
  return (x2 / 2) * (1 - (x2 / 12) * (1 - (x2 / 30) * (1 - (x2 / 56) * (1 - x2 / 90))));
}

/** A Flatbush whose items are the bounding boxes of consecutive blocks of `step` points. */
function buildTree(uv: Uint16Array, step: number): ArrayBufferLike {
  const tree = new Flatbush(Math.ceil(uv.length / (2 * step)), NODE_SIZE, Uint16Array);
  for (let block = 0; block < uv.length; block += 2 * step) {
    let minU = 65535;
    let maxU = 0;
    let minV = 65535;
    let maxV = 0;
    for (let i = block; i < Math.min(uv.length, block + 2 * step); i += 2) {
      const u = uv[i]!;
      const v = uv[i + 1]!;
      if (u < minU) minU = u;
      if (u > maxU) maxU = u;
      if (v < minV) minV = v;
      if (v > maxV) maxV = v;
    }
    tree.add(minU, minV, maxU, maxV);
  }
  tree.finish();
  return tree.data;
}

function writeDirectory({ directory, bucketKey, dimensions }: ArenaViews): void {
  const shift = 2 * (MAX_ORDER - dimensions.directoryOrder);
  let bucket = 0;
  for (let cell = 0; cell < directory.length; cell++) {
    // Not a shift, because the cell after the last one would overflow an int32.
    const key = cell * 2 ** shift;
    while (bucket < dimensions.buckets && bucketKey[bucket]! < key) bucket++;
    directory[cell] = bucket;
  }
}
