/**
 * HEALPix in the NESTED scheme (Górski et al., ApJ 622, 759, 2005), orders 0 to 16.
 *
 * A position is first a point of one of the twelve base faces, with continuous coordinates x and y in [0, 1]; a pixel
 * at an order consists of the face and the integer parts of x and y times nside, bits interleaved (x in the even bits).
 */
import { checkPosition, chord, RADIANS_PER_ARCSEC, RADIANS_PER_DEGREE, type Vector, vectorOf } from './sphere.ts';

/** The highest order of a pixel number held in an int32: 12 * 4^13 < 2^30. */
export const MAX_ORDER = 13;

/** The largest radius of a disc, arcsec, for which pixels are searched. */
export const MAX_RADIUS_ARCSEC = 3600;

/**
 * An upper bound of |dx|/ds and |dy|/ds of the face coordinates, per radian on the sphere. The equatorial faces stay
 * below 1.021, the polar ones below sqrt(3/2 + (2 sqrt(6)/(2 pi))^2) = 1.452, reached at the pole.
 */
const MAX_STRETCH = 1.46;

/** A point of a base face; reused between calls, so that no search allocates. */
export class FacePoint {
  face = 0;
  x = 0;
  y = 0;

  /**
   * Sets the point from degrees. `z` and `cosDec` are sin(dec) and cos(dec), which the callers have already computed.
   */
  set(ra: number, z: number, cosDec: number): void {
    const t = ra >= 360 ? 0 : ra / 90;
    const za = z < 0 ? -z : z;
    if (za <= 2 / 3) {
      const jp = 0.5 + t - 0.75 * z;
      const jm = 0.5 + t + 0.75 * z;
      const fp = Math.floor(jp);
      const fm = Math.floor(jm);
      // Just below 360 degrees, both may round to 4, which means 0.
      this.face = fp === fm ? fp | 4 : fp < fm ? fp & 3 : (fm & 3) | 8;
      this.x = jm - fm;
      this.y = 1 - (jp - fp);
      return;
    }
    const quarter = Math.floor(t);
    const tp = t - quarter;
    // sqrt(3 (1 - |z|)) without the cancellation near a pole.
    const s = cosDec * Math.sqrt(3 / (1 + za));
    const jp = tp * s;
    const jm = (1 - tp) * s;
    if (z >= 0) {
      this.face = quarter;
      this.x = 1 - jm;
      this.y = 1 - jp;
    } else {
      this.face = quarter + 8;
      this.x = jp;
      this.y = jm;
    }
  }

  setDegrees(ra: number, dec: number): void {
    this.set(ra, Math.sin(dec * RADIANS_PER_DEGREE), Math.cos(dec * RADIANS_PER_DEGREE));
  }
}

/** Converts a face coordinate to a cell number on a grid of `nside` cells. */
export function cellOf(coordinate: number, nside: number): number {
  const cell = (coordinate * nside) | 0;
  return cell < 0 ? 0 : cell >= nside ? nside - 1 : cell;
}

/** Spreads the low 16 bits of a number over the even bits of an int32. */
export function spreadBits(v: number): number {
  v = (v | (v << 8)) & 0x00ff00ff;
  v = (v | (v << 4)) & 0x0f0f0f0f;
  v = (v | (v << 2)) & 0x33333333;
  return (v | (v << 1)) & 0x55555555;
}

/** Gathers the even bits of an int32. */
export function compressBits(v: number): number {
  v &= 0x55555555;
  v = (v | (v >>> 1)) & 0x33333333;
  v = (v | (v >>> 2)) & 0x0f0f0f0f;
  v = (v | (v >>> 4)) & 0x00ff00ff;
  return (v | (v >>> 8)) & 0x0000ffff;
}

/** The NESTED pixel of cell (ix, iy) of a face; order 0 to 13. */
export function pixelOfCell(order: number, face: number, ix: number, iy: number): number {
  return (face << (2 * order)) | spreadBits(ix) | (spreadBits(iy) << 1);
}

/** Throws a RangeError unless the order is an integer 0 to 13. */
export function checkOrder(order: number): void {
  if (!(Number.isInteger(order) && order >= 0 && order <= MAX_ORDER))
    throw new RangeError(`order must be an integer 0 to ${MAX_ORDER} (${order} was given)`);
}

const scratch = new FacePoint();

/**
 * The NESTED pixel that holds a position, order 0 to 13.
 *
 * @throws RangeError for an order or a position out of range
 */
export function pixelOf(order: number, ra: number, dec: number): number {
  checkOrder(order);
  checkPosition(ra, dec);
  scratch.setDegrees(ra, dec);
  const nside = 1 << order;
  return pixelOfCell(order, scratch.face, cellOf(scratch.x, nside), cellOf(scratch.y, nside));
}

/**
 * The NESTED pixel that holds a position at order 29, the finest that 64 bits hold.
 *
 * @throws RangeError for a position out of range
 */
export function pixel29(ra: number, dec: number): bigint {
  checkPosition(ra, dec);
  scratch.setDegrees(ra, dec);
  const x = cellOf(scratch.x, 2 ** 29);
  const y = cellOf(scratch.y, 2 ** 29);
  const high = pixelOfCell(13, scratch.face, x >>> 16, y >>> 16);
  const low = (spreadBits(x & 0xffff) | (spreadBits(y & 0xffff) << 1)) >>> 0;
  return (BigInt(high) << 32n) | BigInt(low);
}

/** The highest order of the pixels in areas. The rows of an arena are sorted by pixels of this order. */
export const MAX_AREA_ORDER = 16;

/** The order of the cells of an index of areas: 49,152 cells of about 0.9 degrees. */
export const CELL_ORDER = 6;
/** The pixels at order 16 in a cell. */
export const CELL_PIXELS: number = 4 ** (MAX_AREA_ORDER - CELL_ORDER);

/** The NESTED pixel of cell (ix, iy) of a face; order 0 to 16. */
export function pixelOfDeepCell(order: number, face: number, ix: number, iy: number): number {
  return face * 4 ** order + ((spreadBits(ix) | (spreadBits(iy) << 1)) >>> 0);
}

/** The NESTED pixel of a point of a face; order 0 to 16. */
export function nestedCell(order: number, { face, x, y }: FacePoint): number {
  const nside = 1 << order;
  return pixelOfDeepCell(order, face, cellOf(x, nside), cellOf(y, nside));
}

/** The NESTED pixel that holds a position at order 16, by which the rows of an arena are sorted. The position is not checked. */
export function pixel16(ra: number, dec: number): number {
  scratch.setDegrees(ra, dec);
  return nestedCell(MAX_AREA_ORDER, scratch);
}

/** The bits of each number of 12 bits, spread over the even bits. */
const SPREAD = Uint32Array.from({ length: 4096 }, (_, bits) => spreadBits(bits));

/**
 * The NESTED pixel that holds a position at order 24, the finest whose pixels are all exact as numbers. The position is
 * not checked.
 */
export function pixel24(ra: number, dec: number): number {
  const z = Math.sin(dec * RADIANS_PER_DEGREE);
  if (Math.abs(z) > 2 / 3) {
    scratch.setDegrees(ra, dec);
    return cell24(scratch.face, scratch.x, scratch.y);
  }
  // As in `FacePoint.set`: without a point that is written and read, this takes less than half of the time.
  const t = ra >= 360 ? 0 : ra / 90;
  const jp = 0.5 + t - 0.75 * z;
  const jm = 0.5 + t + 0.75 * z;
  const fp = Math.floor(jp);
  const fm = Math.floor(jm);
  return cell24(fp === fm ? fp | 4 : fp < fm ? fp & 3 : (fm & 3) | 8, jm - fm, 1 - (jp - fp));
}

function cell24(face: number, x: number, y: number): number {
  const [ix, iy] = [cellOf(x, 2 ** 24), cellOf(y, 2 ** 24)];
  const high = SPREAD[ix >>> 12]! | (SPREAD[iy >>> 12]! << 1);
  const low = SPREAD[ix & 0xfff]! | (SPREAD[iy & 0xfff]! << 1);
  return face * 2 ** 48 + high * 2 ** 24 + low;
}

/**
 * A point near the middle of each cell. The exact middle lies on lines that people often use as edges, such as the
 * equator.
 */
const MIDDLE_X = 0.5 + 0.0371;
const MIDDLE_Y = 0.5 - 0.0293;

/** A position near the middle of a cell of a face, degrees; order 0 to 29. */
export function cellPlace(order: number, face: number, ix: number, iy: number): { ra: number; dec: number } {
  const nside = 1 << order;
  return positionOf(face, (ix + MIDDLE_X) / nside, (iy + MIDDLE_Y) / nside);
}

/** The same as a vector. */
export function cellVector(order: number, face: number, ix: number, iy: number): Vector {
  const { ra, dec } = cellPlace(order, face, ix, iy);
  return vectorOf(ra, dec);
}

/**
 * A radius, radians. Discs of this radius around `cellVector` contain their cells: the radius of the largest circle
 * around the middle of a cell (Reinecke & Hivon, A&A 580, A132, 2015), plus the distance of the vector from the middle.
 */
export function maxCellRadius(order: number): number {
  return (MAX_CELL_RADII[order] ??= maxCellRadiusOf(order));
}

const MAX_CELL_RADII: number[] = [];

function maxCellRadiusOf(order: number): number {
  const nside = 1 << order;
  const corner = vectorOf(45 / nside, Math.asin(2 / 3) / RADIANS_PER_DEGREE);
  const z = 1 - (1 - 1 / nside) ** 2 / 3;
  const middle = vectorOf(0, Math.asin(z) / RADIANS_PER_DEGREE);
  return 1.15 * 2 * Math.asin(chord(corner, middle) / 2);
}

/** The centre of a NESTED pixel, degrees, 0 <= ra < 360. */
export function pixelCentre(order: number, ipix: number): { ra: number; dec: number } {
  checkOrder(order);
  const nside = 1 << order;
  const face = ipix >> (2 * order);
  const within = ipix & ((1 << (2 * order)) - 1);
  return positionOf(face, (compressBits(within) + 0.5) / nside, (compressBits(within >>> 1) + 0.5) / nside);
}

/** The centre of a pixel at order 29, degrees; the inverse of `pixel29`. */
export function pixelCentre29(pixel: bigint): { ra: number; dec: number } {
  const high = Number((pixel >> 32n) & 0x3ffffffn);
  const low = Number(pixel & 0xffffffffn);
  const cell = (shift: number) => compressBits(high >>> shift) * 2 ** 16 + compressBits(low >>> shift);
  return positionOf(Number(pixel >> 58n), (cell(0) + 0.5) / 2 ** 29, (cell(1) + 0.5) / 2 ** 29);
}

/**
 * The pixels at order `fine` that touch a NESTED pixel from outside: its up to eight neighbours, or finer pixels. Both
 * orders are 0 to 13.
 */
export function pixelNeighbours(order: number, ipix: number, fine: number = order): number[] {
  checkOrder(order);
  checkOrder(fine);
  const width = 1 << (fine - order);
  const within = ipix & ((1 << (2 * order)) - 1);
  const [face, west, south] = [ipix >> (2 * order), width * compressBits(within), width * compressBits(within >>> 1)];
  const around: number[] = [];
  const add = (x: number, y: number) => {
    const pixel = pixelBeyond(fine, face, west + x, south + y);
    if (pixel >= 0) around.push(pixel);
  };
  for (let i = -1; i < width; i++) {
    add(i, -1);
    add(width, i);
    add(width - 1 - i, width);
    add(-1, width - 1 - i);
  }
  return around;
}

/** An edge of a pixel: its ends, degrees, and the pixel on its other side. */
export interface PixelEdge {
  readonly beyond: number;
  readonly from: { readonly ra: number; readonly dec: number };
  readonly to: { readonly ra: number; readonly dec: number };
}

/** The four edges of a NESTED pixel, order 0 to 13. */
export function pixelEdges(order: number, ipix: number): readonly PixelEdge[] {
  checkOrder(order);
  const nside = 1 << order;
  const face = ipix >> (2 * order);
  const within = ipix & ((1 << (2 * order)) - 1);
  const [x, y] = [compressBits(within), compressBits(within >>> 1)];
  const [south, east, north, west] = [
    cornerOf(face, x / nside, y / nside),
    cornerOf(face, (x + 1) / nside, y / nside),
    cornerOf(face, (x + 1) / nside, (y + 1) / nside),
    cornerOf(face, x / nside, (y + 1) / nside),
  ];
  return [
    { beyond: pixelBeyond(order, face, x, y - 1), from: south, to: east },
    { beyond: pixelBeyond(order, face, x + 1, y), from: east, to: north },
    { beyond: pixelBeyond(order, face, x, y + 1), from: north, to: west },
    { beyond: pixelBeyond(order, face, x - 1, y), from: west, to: south },
  ];
}

/** The position of a corner. A pole gets the right ascension of the middle of the face. */
function cornerOf(face: number, x: number, y: number): { ra: number; dec: number } {
  const { ra, dec } = positionOf(face, x, y);
  return { ra: Number.isNaN(ra) ? 90 * (face & 3) + 45 : ra, dec };
}

/** The position, degrees, of a point of a face. */
function positionOf(face: number, x: number, y: number): { ra: number; dec: number } {
  // Ring coordinate and azimuth of the face (Górski et al. 2005, section 5.3), in units of one base face.
  const row = (face >> 2) + 2 - x - y;
  const column = 2 * (face & 3) + ((face >> 2) & 1 ? 0 : 1) + x - y;
  if (row >= 1 && row <= 3) {
    const dec = Math.asin(((2 - row) * 2) / 3) / RADIANS_PER_DEGREE;
    return { ra: (column * 45 + 360) % 360, dec };
  }
  const s = row < 1 ? row : 4 - row;
  const middle = 2 * (face & 3) + 1;
  const dec = (Math.PI / 2 - 2 * Math.asin(s / Math.sqrt(6))) / RADIANS_PER_DEGREE;
  return { ra: ((middle + (x - y) / s) * 45 + 360) % 360, dec: row < 1 ? dec : -dec };
}

// The face across an edge or a corner, by direction (dy + 1) * 3 + dx + 1, and how its axes change, by the ring of
// faces (bit 0: mirror x, bit 1: mirror y, bit 2: swap them). -1 at corners where three faces meet, because no face
// lies across such a corner.
const BEYOND_FACE = [
  [8, 9, 10, 11, -1, -1, -1, -1, 10, 11, 8, 9],
  [5, 6, 7, 4, 8, 9, 10, 11, 9, 10, 11, 8],
  [-1, -1, -1, -1, 5, 6, 7, 4, -1, -1, -1, -1],
  [4, 5, 6, 7, 11, 8, 9, 10, 11, 8, 9, 10],
  [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
  [1, 2, 3, 0, 0, 1, 2, 3, 5, 6, 7, 4],
  [-1, -1, -1, -1, 7, 4, 5, 6, -1, -1, -1, -1],
  [3, 0, 1, 2, 3, 0, 1, 2, 4, 5, 6, 7],
  [2, 3, 0, 1, -1, -1, -1, -1, 0, 1, 2, 3],
] as const;
const BEYOND_TURN = [
  [0, 0, 3],
  [0, 0, 6],
  [0, 0, 0],
  [0, 0, 5],
  [0, 0, 0],
  [5, 0, 0],
  [0, 0, 0],
  [6, 0, 0],
  [3, 0, 0],
] as const;

/** The pixel of cell (ix, iy), each at most one step outside the face; -1 if there is no such pixel. */
function pixelBeyond(order: number, face: number, ix: number, iy: number): number {
  const nside = 1 << order;
  const side = ix < 0 ? 0 : ix >= nside ? 2 : 1;
  const direction = (iy < 0 ? 0 : iy >= nside ? 6 : 3) + side;
  if (direction === 4) return pixelOfCell(order, face, ix, iy);
  const beyond = BEYOND_FACE[direction]![face]!;
  if (beyond < 0) return -1;
  const turn = BEYOND_TURN[direction]![face >> 2]!;
  let x = ix & (nside - 1);
  let y = iy & (nside - 1);
  if (turn & 1) x = nside - 1 - x;
  if (turn & 2) y = nside - 1 - y;
  return turn & 4 ? pixelOfCell(order, beyond, y, x) : pixelOfCell(order, beyond, x, y);
}

/** An upper bound of a disc's reach in face coordinates, including rounding; the radius is in radians. */
export function faceMargin(radius: number): number {
  return MAX_STRETCH * radius + 1e-12;
}

/** The deepest order, at most 13, at which a disc of this face margin stays within a pixel's eight neighbours. */
export function discOrder(margin: number): number {
  return Math.max(0, Math.min(MAX_ORDER, Math.floor(-Math.log2(margin))));
}

/**
 * The pixels at `order` that a disc of face margin `margin` around a face point may touch: at most nine, ascending,
 * written to `out`. A superset, never a subset: |dx| and |dy| along any path from the centre stay below the margin.
 * Needs `order <= discOrder(margin)`.
 *
 * @returns the number of pixels written
 */
export function discPixels(order: number, point: FacePoint, margin: number, out: Int32Array): number {
  const nside = 1 << order;
  const ix = cellOf(point.x, nside);
  const iy = cellOf(point.y, nside);
  const reach = margin * nside;
  const dx = point.x * nside - ix;
  const dy = point.y * nside - iy;
  const west = dx <= reach ? -1 : 0;
  const east = 1 - dx <= reach ? 1 : 0;
  const south = dy <= reach ? -1 : 0;
  const north = 1 - dy <= reach ? 1 : 0;
  let count = 0;
  for (let y = south; y <= north; y++) {
    for (let x = west; x <= east; x++) {
      const pixel = pixelBeyond(order, point.face, ix + x, iy + y);
      if (pixel < 0) continue;
      let at = count;
      while (at > 0 && out[at - 1]! > pixel) at--;
      if (at > 0 && out[at - 1] === pixel) continue;
      for (let i = count++; i > at; i--) out[i] = out[i - 1]!;
      out[at] = pixel;
    }
  }
  return count;
}

const discScratch = new Int32Array(10);

/**
 * The NESTED pixels at `order` (0 to 13) that a disc may touch, ascending, without repeats: a superset of the pixels
 * that the disc touches.
 *
 * @throws RangeError for an order, a position or a radius (above 0, at most 3600 arcsec) out of range
 */
export function conePixels(order: number, ra: number, dec: number, radiusArcsec: number): number[] {
  checkOrder(order);
  checkPosition(ra, dec);
  checkRadius(radiusArcsec);
  const margin = faceMargin(radiusArcsec * RADIANS_PER_ARCSEC);
  const coarse = Math.min(order, discOrder(margin));
  scratch.setDegrees(ra, dec);
  const count = discPixels(coarse, scratch, margin, discScratch);
  const shift = 2 * (order - coarse);
  const pixels: number[] = [];
  for (let i = 0; i < count; i++) {
    const first = discScratch[i]! << shift;
    for (let child = 0; child < 1 << shift; child++) pixels.push(first + child);
  }
  return pixels;
}

/** Throws a RangeError unless 0 <= radiusArcsec <= 3600. */
export function checkRadius(radiusArcsec: number): void {
  if (!(radiusArcsec >= 0 && radiusArcsec <= MAX_RADIUS_ARCSEC))
    throw new RangeError(`a radius must be 0 to ${MAX_RADIUS_ARCSEC} arcsec (${radiusArcsec} was given)`);
}
