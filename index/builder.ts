/** From columns of points to an arena. */
import Flatbush from 'flatbush';
import { MAX_ORDER } from './healpix.ts';
import { bucketKeyOf, sortByKey, sphereKeys } from './keys.ts';
import {
  type ArenaViews,
  BUCKET_ALIGNMENT,
  BUCKET_EAST,
  BUCKET_END,
  BUCKET_ITEMS,
  BUCKET_NORTH,
  BUCKET_NSIDE,
  BUCKET_RHO2,
  BUCKET_ROW,
  BUCKET_ROW_END,
  BUCKET_SCALE,
  BUCKET_STEP,
  BUCKET_TREE,
  BUCKET_U0,
  BUCKET_UV,
  BUCKET_V0,
  blockRows,
  bucketBytes,
  createArena,
  NODE_SIZE,
  treeBytes,
} from './layout.ts';

/** Points, a column each, all of the same length. */
export interface PointColumns {
  /** Degrees, 0 to 360. */
  readonly ra: Float64Array;
  /** Degrees, -90 to 90. */
  readonly dec: Float64Array;
  readonly id: BigInt64Array;
  /** Carried along, not searched by. */
  readonly time?: Float64Array | undefined;
}

/** A bucket with more rows than this is split, down to order 13. */
const MAX_BUCKET_ROWS = 512;

/** No bucket is larger than a pixel of this order, so that its plane stays close to the sphere. */
const MIN_BUCKET_ORDER = 3;

const MAX_DIRECTORY_ORDER = 9;

/** Radians. A bucket's coordinates are never finer than this over 65,534, far above the rounding of unit vectors. */
const MIN_EXTENT = 1e-7;

/**
 * Builds an arena of points in any order, any number of them.
 *
 * @throws RangeError when columns differ in length or a position is out of range
 */
export function buildArena(points: PointColumns): SharedArrayBuffer {
  const rows = points.ra.length;
  for (const column of [points.dec, points.id, points.time])
    if (column && column.length !== rows)
      throw new RangeError(`Cannot build an arena as all columns must have ${rows} rows: one has ${column.length}`);
  const vectors = new Float64Array(3 * rows);
  const { low, high } = sphereKeys(points.ra, points.dec, vectors);
  const order = sortByKey(low, high);
  const buckets = splitIntoBuckets(order, low, high);

  let directoryOrder = 0;
  while (directoryOrder < MAX_DIRECTORY_ORDER && 12 * 4 ** directoryOrder < 2 * buckets.length) directoryOrder++;
  const { buffer, views } = createArena({
    rows,
    buckets: buckets.length,
    directoryOrder,
    bucketsBytes: buckets.reduce((sum, bucket) => sum + bucketBytes(bucket.end - bucket.row), 0),
    hasTime: points.time !== undefined,
  });
  writeColumns(views, points, order);
  let start = 0;
  for (let b = 0; b < buckets.length; b++) {
    const bucket = buckets[b]!;
    views.bucketKey[2 * b] = bucket.key;
    views.bucketKey[2 * b + 1] = start / BUCKET_ALIGNMENT;
    writeBucket(views, bucket, start, order, vectors);
    start += bucketBytes(bucket.end - bucket.row);
  }
  writeDirectory(views);
  return buffer;
}

/** The record, the points' coordinates, then the tree over them; `start` in bytes. */
function writeBucket(
  views: ArenaViews,
  bucket: Bucket,
  start: number,
  order: Uint32Array,
  vectors: Float64Array,
): void {
  const { ints, words } = views;
  const { key, keyEnd, row, end } = bucket;
  const step = blockRows(end - row);
  const items = Math.ceil((end - row) / step);
  const uv = BUCKET_TREE + treeBytes(items) / 2;
  const record = start / 4;
  ints[record + BUCKET_END] = keyEnd;
  ints[record + BUCKET_NSIDE] = 2 ** MAX_ORDER / Math.sqrt(keyEnd - key);
  ints[record + BUCKET_ROW] = row;
  ints[record + BUCKET_ROW_END] = end;
  ints[record + BUCKET_STEP] = step;
  ints[record + BUCKET_ITEMS] = items;
  ints[record + BUCKET_UV] = uv;
  const points = words.subarray(start / 2 + uv, start / 2 + uv + 2 * (end - row));
  project(views.floats.subarray(start / 8), points, order.subarray(row, end), vectors);
  const tree = buildTree(points, step, items);
  words.set(new Uint16Array(tree), start / 2 + BUCKET_TREE);
}

interface Bucket {
  readonly key: number;
  readonly keyEnd: number;
  readonly row: number;
  readonly end: number;
}

function splitIntoBuckets(order: Uint32Array, low: Uint32Array, high: Uint16Array): Bucket[] {
  const rows = order.length;
  const keys = new Int32Array(rows);
  for (let i = 0; i < rows; i++) keys[i] = bucketKeyOf(low, high, order[i]!);
  const buckets: Bucket[] = [];
  const firstAtOrAfter = (key: number, from: number, to: number): number => {
    while (from < to) {
      const middle = (from + to) >> 1;
      if (keys[middle]! < key) from = middle + 1;
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

function writeColumns(views: ArenaViews, points: PointColumns, order: Uint32Array): void {
  const { ra, dec, id, time } = views;
  for (let i = 0; i < order.length; i++) {
    const from = order[i]!;
    ra[i] = points.ra[from]!;
    dec[i] = points.dec[from]!;
    id[i] = points.id[from]!;
  }
  if (time) for (let i = 0; i < order.length; i++) time[i] = points.time![order[i]!]!;
}

/** Chooses the bucket's plane and scale, and writes them and its points' coordinates. */
function project(record: Float64Array, uv: Uint16Array, members: Uint32Array, vectors: Float64Array): void {
  let cx = 0;
  let cy = 0;
  let cz = 0;
  for (let i = 0; i < members.length; i++) {
    const at = 3 * members[i]!;
    cx += vectors[at]!;
    cy += vectors[at + 1]!;
    cz += vectors[at + 2]!;
  }
  const norm = Math.hypot(cx, cy, cz);
  cx /= norm;
  cy /= norm;
  cz /= norm;
  // East is at right angles to the axis that is farther from the bucket; north completes the frame.
  const polar = Math.abs(cz) > 0.9;
  const across = polar ? Math.hypot(cy, cz) : Math.hypot(cx, cy);
  const ex = polar ? 0 : -cy / across;
  const ey = polar ? -cz / across : cx / across;
  const ez = polar ? cy / across : 0;
  const nx = cy * ez - cz * ey;
  const ny = cz * ex - cx * ez;
  const nz = cx * ey - cy * ex;

  let minU = Infinity;
  let maxU = -Infinity;
  let minV = Infinity;
  let maxV = -Infinity;
  let rho2 = 0;
  for (let i = 0; i < members.length; i++) {
    const at = 3 * members[i]!;
    const u = vectors[at]! * ex + vectors[at + 1]! * ey + vectors[at + 2]! * ez;
    const v = vectors[at]! * nx + vectors[at + 1]! * ny + vectors[at + 2]! * nz;
    if (u < minU) minU = u;
    if (u > maxU) maxU = u;
    if (v < minV) minV = v;
    if (v > maxV) maxV = v;
    if (u * u + v * v > rho2) rho2 = u * u + v * v;
  }
  const scale = 65534 / Math.max(maxU - minU, maxV - minV, MIN_EXTENT);
  for (let i = 0; i < members.length; i++) {
    const at = 3 * members[i]!;
    const u = vectors[at]! * ex + vectors[at + 1]! * ey + vectors[at + 2]! * ez;
    const v = vectors[at]! * nx + vectors[at + 1]! * ny + vectors[at + 2]! * nz;
    uv[2 * i] = Math.round((u - minU) * scale);
    uv[2 * i + 1] = Math.round((v - minV) * scale);
  }
  record.set([ex, ey, ez], BUCKET_EAST);
  record.set([nx, ny, nz], BUCKET_NORTH);
  record[BUCKET_U0] = minU;
  record[BUCKET_V0] = minV;
  record[BUCKET_SCALE] = scale;
  record[BUCKET_RHO2] = rho2;
}

/** A Flatbush whose items are the boxes of the blocks of `step` points, in order. */
function buildTree(uv: Uint16Array, step: number, items: number): ArrayBufferLike {
  const tree = new Flatbush(items, NODE_SIZE, Uint16Array);
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

function writeDirectory({ directory, bucketKey, shape }: ArenaViews): void {
  const shift = 2 * (MAX_ORDER - shape.directoryOrder);
  let bucket = 0;
  for (let cell = 0; cell < directory.length; cell++) {
    // The cell after the last would overflow a shift of int32s.
    const key = cell * 2 ** shift;
    while (bucket < shape.buckets && bucketKey[2 * bucket]! < key) bucket++;
    directory[cell] = bucket;
  }
}
