/**
 * The sky on a plane: Hammer's equal-area projection, in an oblique aspect, so that the middle of the view is never
 * distorted. East is to the left. Near the middle, one unit of the plane is one radian. The whole sky is an ellipse of
 * 2 sqrt(8) by 2 sqrt(2).
 *
 * Hammer, Petermanns Mitteilungen 38, 85 (1892); Snyder, "Map Projections: A Working Manual", USGS 1395 (1987), p. 182.
 *
 * @typedef {{ readonly ra: number, readonly dec: number }} Position degrees
 * @typedef {{ readonly x: number, readonly y: number }} Point
 * @typedef {{ moveTo(x: number, y: number): void, lineTo(x: number, y: number): void, closePath(): void }} Pen draws on the plane
 * @typedef {(x: number, y: number, z: number, side: number, out: { x: number, y: number }) => void} Project
 */

const RADIANS = Math.PI / 180;
export const SEMI_MAJOR = Math.sqrt(8);
export const SEMI_MINOR = Math.SQRT2;

/** @param {number} ra @param {number} dec degrees @returns {[x: number, y: number, z: number]} */
export function vectorOf(ra, dec) {
  const cosDec = Math.cos(dec * RADIANS);
  return [cosDec * Math.cos(ra * RADIANS), cosDec * Math.sin(ra * RADIANS), Math.sin(dec * RADIANS)];
}

/** @param {readonly number[]} vector of any length @returns {Position} */
export function positionOf([x = 0, y = 0, z = 0]) {
  return { ra: (Math.atan2(y, x) / RADIANS + 360) % 360, dec: Math.atan2(z, Math.hypot(x, y)) / RADIANS };
}

/** The projection with a given position in the middle. */
export class Projection {
  #sinRa;
  #cosRa;
  #sinDec;
  #cosDec;

  /** @param {Position} middle */
  constructor({ ra, dec }) {
    this.#sinRa = Math.sin(ra * RADIANS);
    this.#cosRa = Math.cos(ra * RADIANS);
    this.#sinDec = Math.sin(dec * RADIANS);
    this.#cosDec = Math.cos(dec * RADIANS);
  }

  /**
   * The components of a unit vector relative to the middle of the view: forward, to the east, to the north.
   * @param {number} x @param {number} y @param {number} z
   * @returns {[forward: number, east: number, north: number]}
   */
  #seen(x, y, z) {
    const along = this.#cosRa * x + this.#sinRa * y;
    return [
      this.#cosDec * along + this.#sinDec * z,
      this.#cosRa * y - this.#sinRa * x,
      this.#cosDec * z - this.#sinDec * along,
    ];
  }

  /**
   * Draws a convex outline that is smaller than a hemisphere. If the seam (the far meridian) crosses the outline, it is
   * drawn twice, each time continued beyond the rim. If it contains a pole of the view, it is drawn once, and closed
   * outside the rim.
   * @param {Float64Array} corners unit vectors, one after the other
   * @param {number} start @param {number} end the first of its corners, and the one after its last
   * @param {Pen} pen
   */
  trace(corners, start, end, pen) {
    const point = { x: 0, y: 0 };
    /** @param {number} corner @param {number} side */
    const at = (corner, side) => {
      const i = 3 * corner;
      this.project(corners[i] ?? 0, corners[i + 1] ?? 0, corners[i + 2] ?? 0, side, point);
      return point;
    };
    const crossings = this.#crossings(corners, start, end);
    const [first] = crossings;
    if (first !== undefined && crossings.length % 2 === 1) return this.#traceAroundPole(at, first, start, end, pen);
    for (const side of first === undefined ? [0] : [1, -1]) {
      for (let corner = start; corner < end; corner++) {
        const { x, y } = at(corner, side);
        if (corner === start) pen.moveTo(x, y);
        else pen.lineTo(x, y);
      }
      pen.closePath();
    }
  }

  /**
   * @param {(corner: number, side: number) => Point} at
   * @param {number} first the corner after the seam
   * @param {number} start @param {number} end @param {Pen} pen
   */
  #traceAroundPole(at, first, start, end, pen) {
    const count = end - start;
    const last = start + ((first - start + count - 1) % count);
    const side = at(first, 0).x < 0 ? 1 : -1;
    const { x: fromX, y: fromY } = at(last, side);
    pen.moveTo(fromX, fromY);
    let highest = 0;
    for (let i = 0; i < count; i++) {
      const { x, y } = at(start + ((first - start + i) % count), 0);
      pen.lineTo(x, y);
      if (Math.abs(y) > Math.abs(highest)) highest = y;
    }
    const { x: toX, y: toY } = at(first, -side);
    pen.lineTo(toX, toY);
    const outside = 2 * SEMI_MINOR * Math.sign(highest);
    pen.lineTo(toX, outside);
    pen.lineTo(fromX, outside);
    pen.closePath();
  }

  /**
   * The corners after each crossing of the seam.
   * @param {Float64Array} corners
   * @param {number} start
   * @param {number} end
   */
  #crossings(corners, start, end) {
    /** @type {number[]} */
    const found = [];
    let before = this.#cornerSeen(corners, end - 1);
    for (let corner = start; corner < end; corner++) {
      const now = this.#cornerSeen(corners, corner);
      const [forward, east] = before;
      const [nextForward, nextEast] = now;
      // Whether the edge crosses the central meridian in front or behind.
      if (east < 0 !== nextEast < 0 && forward * Math.abs(nextEast) + nextForward * Math.abs(east) < 0)
        found.push(corner);
      before = now;
    }
    return found;
  }

  /** @param {Float64Array} corners @param {number} corner */
  #cornerSeen(corners, corner) {
    const i = 3 * corner;
    return this.#seen(corners[i] ?? 0, corners[i + 1] ?? 0, corners[i + 2] ?? 0);
  }

  /**
   * @param {number} x
   * @param {number} y
   * @param {number} z a unit vector
   * @param {number} side 1 or -1 to draw the point on that side, beyond the seam if necessary; 0 to draw it where it is
   * @param {{ x: number, y: number }} out receives the point: x to the west, y to the north
   */
  project(x, y, z, side, out) {
    const [forward, east, north] = this.#seen(x, y, z);
    const cosLat = Math.sqrt(Math.max(0, 1 - north * north));
    const cosLon = cosLat > 1e-12 ? Math.max(-1, Math.min(1, forward / cosLat)) : 1;
    let cosHalf = Math.sqrt((1 + cosLon) / 2);
    let sinHalf = Math.sqrt((1 - cosLon) / 2) * (east < 0 ? -1 : 1);
    if (side * east < 0) {
      cosHalf = -cosHalf;
      sinHalf = -sinHalf;
    }
    const k = Math.SQRT2 / Math.sqrt(1 + cosLat * cosHalf);
    out.x = -2 * k * cosLat * sinHalf;
    out.y = k * north;
  }

  /**
   * The position at a point; undefined outside the sky.
   * @param {number} x @param {number} y
   * @returns {Position | undefined}
   */
  positionAt(x, y) {
    if ((x / SEMI_MAJOR) ** 2 + (y / SEMI_MINOR) ** 2 > 1) return undefined;
    const z = Math.sqrt(Math.max(0, 1 - (x / 4) ** 2 - (y / 2) ** 2));
    const lon = 2 * Math.atan2(-z * x, 2 * (2 * z * z - 1));
    const north = Math.max(-1, Math.min(1, z * y));
    const cosLat = Math.sqrt(1 - north * north);
    const forward = cosLat * Math.cos(lon);
    const east = cosLat * Math.sin(lon);
    const along = this.#cosDec * forward - this.#sinDec * north;
    const dec = Math.asin(Math.max(-1, Math.min(1, this.#sinDec * forward + this.#cosDec * north))) / RADIANS;
    const ra = Math.atan2(this.#sinRa * along + this.#cosRa * east, this.#cosRa * along - this.#sinRa * east) / RADIANS;
    return { ra: ra < 0 ? ra + 360 : ra, dec };
  }
}

/**
 * The separation in degrees.
 * @param {Position} a
 * @param {Position} b
 */
export function separationDegrees(a, b) {
  const sinDec = Math.sin(((b.dec - a.dec) * RADIANS) / 2);
  const sinRa = Math.sin(((b.ra - a.ra) * RADIANS) / 2);
  const h = sinDec * sinDec + Math.cos(a.dec * RADIANS) * Math.cos(b.dec * RADIANS) * sinRa * sinRa;
  return (2 * Math.asin(Math.min(1, Math.sqrt(h)))) / RADIANS;
}

/**
 * Offsets to the east and to the north, arcsec, on the plane that touches the sky at `from`.
 * @param {Position} from
 * @param {Position} to
 */
export function offsetsArcsec(from, to) {
  const dRa = (((((to.ra - from.ra) % 360) + 540) % 360) - 180) * RADIANS;
  const [d0, d] = [from.dec * RADIANS, to.dec * RADIANS];
  const forward = Math.sin(d0) * Math.sin(d) + Math.cos(d0) * Math.cos(d) * Math.cos(dRa);
  // Written as differences, which keep their precision at separations far below an arcsec.
  const north = Math.sin(d - d0) + 2 * Math.cos(d) * Math.sin(d0) * Math.sin(dRa / 2) ** 2;
  return {
    east: (Math.cos(d) * Math.sin(dRa)) / forward / (RADIANS / 3600),
    north: north / forward / (RADIANS / 3600),
  };
}
