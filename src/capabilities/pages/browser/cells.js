/** The cells of one answer of the sky map, prepared for drawing and look-up. */
import { vectorOf } from './projection.js';

/** @type {typeof import('h3-js')} */
export const h3 = /** @type {any} */ (globalThis).h3;

/** @typedef {'density' | 'share' | 'coverage'} Layer */

const SQUARE_DEGREES = (180 / Math.PI) ** 2;

/**
 * The number of cells of a resolution.
 * @param {number} resolution
 */
export const cellCount = resolution => 2 + 120 * 7 ** resolution;

/** The middle of a cell. @param {string} id */
export function middleOf(id) {
  const [dec, longitude] = h3.cellToLatLng(id);
  return { ra: (longitude + 360) % 360, dec };
}

export class Cells {
  /** @param {any} answer of /api/sky-map */
  constructor(answer) {
    /** @type {number} */
    this.resolution = answer.resolution;
    /** @type {string[]} */
    this.ids = answer.cells;
    /** @type {Record<string, number[]> | undefined} */
    this.byStatus = answer.by_status;
    /** @type {Record<string, number[]> | undefined} */
    this.byCatalog = answer.by_catalog;
    /** @type {Map<string, number>} */
    this.places = new Map(this.ids.map((id, i) => [id, i]));
    /** The index of each cell's first corner in `corners`, and the end of the last cell's corners. */
    this.starts = new Uint32Array(this.ids.length + 1);
    this.corners = this.#corners();
  }

  get length() {
    return this.ids.length;
  }

  #corners() {
    const corners = new Float64Array(this.ids.length * 10 * 3);
    let at = 0;
    for (const [i, id] of this.ids.entries()) {
      for (const [lat, lng] of h3.cellToBoundary(id)) {
        corners.set(vectorOf(lng, lat), at);
        at += 3;
      }
      this.starts[i + 1] = at / 3;
    }
    return corners.subarray(0, at);
  }

  /** @param {number} i */
  objectsIn(i) {
    return Object.values(this.byStatus ?? {}).reduce((sum, column) => sum + (column[i] ?? 0), 0);
  }

  /**
   * The area in square degrees.
   * @param {number} i
   */
  areaOf(i) {
    return h3.cellArea(this.ids[i] ?? '', 'rads2') * SQUARE_DEGREES;
  }

  /**
   * The value of a cell in a layer; undefined if the layer has nothing to show.
   * @param {Layer} layer
   * @param {number} i
   */
  valueOf(layer, i) {
    if (layer === 'density') return this.objectsIn(i) / this.areaOf(i);
    if (layer === 'coverage')
      return Object.values(this.byCatalog ?? {}).reduce((sum, column) => sum + (column[i] ?? 0), 0);
    const found = this.byStatus?.coincident_sources?.[i] ?? 0;
    const searched = found + (this.byStatus?.no_coincident_source?.[i] ?? 0);
    return searched === 0 ? undefined : found / searched;
  }
}
