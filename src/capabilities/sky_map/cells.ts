/**
 * H3 cells (h3geo.org) on the sky: right ascension is the longitude, declination the latitude. A cell is stored as a
 * key: its base cell, followed by its digits, with three bits each. Removing the last three bits of a key gives the key
 * of the parent. An object belongs to its cell of `FINEST_RESOLUTION` and to all ancestors of that cell, so the counts
 * of children add up to the count of their parent. Children extend beyond their parent, so near an edge the ancestor
 * may differ from the coarse cell that contains the position.
 */

import { RADIANS_PER_DEGREE, separationArcsec } from '@nearsky/sky-index';
import { cellToChildren, cellToLatLng, getRes0Cells, latLngToCell } from 'h3-js';
import type { SkyPosition } from '../../core/store/types.ts';

/** The radius of its cells, up to 55", is less than the maximum search radius. */
export const FINEST_RESOLUTION = 7;
/** The resolution with 41,162 cells in the whole sky. */
export const WHOLE_SKY_RESOLUTION = 3;

const BASE_CELLS = 122;
/** The number of bits of a key per resolution. */
export const DIGIT_BITS = 3;
/**
 * The digits of an H3 index. After the resolution there are 7 bits for the base cell and 15 digits, together 13
 * hexadecimal digits.
 */
const MAX_DIGITS = 15;
const HEX_DIGITS = 13;
const LOW_HEX_DIGITS = 7;
const LOW_HALF = 16 ** LOW_HEX_DIGITS;

/**
 * An upper bound, in degrees, on the distance between the centre of a resolution-0 cell and any corner of it or of its
 * descendants. For each finer resolution, the bound shrinks by the square root of 7. The corners of the cell itself are
 * within 12.64 degrees; its descendants extend a little beyond its edges.
 */
const REACH_DEGREES = 16;

/** The number of cells at a resolution (h3geo.org/docs/core-library/restable). */
export function cellCount(resolution: number): number {
  return 2 + 120 * 7 ** resolution;
}

/** One more than the highest key of a resolution. */
export function keyCount(resolution: number): number {
  return BASE_CELLS << (DIGIT_BITS * resolution);
}

/** The key of the cell, at `FINEST_RESOLUTION`, that contains a position in degrees. */
export function keyOfPosition(ra: number, dec: number): number {
  return keyOfCell(latLngToCell(dec, ra, FINEST_RESOLUTION), FINEST_RESOLUTION);
}

/** @param cell a cell of that resolution, in H3's notation */
export function keyOfCell(cell: string, resolution: number): number {
  const digits = Number.parseInt(cell.slice(2), 16);
  return Math.floor(digits / 2 ** (DIGIT_BITS * (MAX_DIGITS - resolution)));
}

/** The cell in H3's notation. */
export function cellOfKey(key: number, resolution: number): string {
  const unused = 2 ** (DIGIT_BITS * (MAX_DIGITS - resolution));
  const digits = key * unused + (unused - 1);
  // The digits are written in two halves, because formatting integers of more than 32 bits is slow.
  const high = Math.floor(digits / LOW_HALF)
    .toString(16)
    .padStart(HEX_DIGITS - LOW_HEX_DIGITS, '0');
  return `8${resolution}${high}${(digits % LOW_HALF).toString(16).padStart(LOW_HEX_DIGITS, '0')}`;
}

/** The key of the ancestor that is `levels` resolutions coarser. */
export function ancestor(key: number, levels: number): number {
  return key >> (DIGIT_BITS * levels);
}

export function centreOfKey(key: number, resolution: number): SkyPosition {
  const [dec, longitude] = cellToLatLng(cellOfKey(key, resolution));
  return { ra: longitude < 0 ? longitude + 360 : longitude, dec };
}

export function* everyKey(resolution: number): Generator<number> {
  for (const base of getRes0Cells())
    for (const cell of cellToChildren(base, resolution)) yield keyOfCell(cell, resolution);
}

/** A disc on the sky: degrees; the radius is more than 0 and at most 180. */
export interface Disc {
  readonly ra: number;
  readonly dec: number;
  readonly radiusDeg: number;
}

/** The approximate number of cells in a disc. */
export function cellsInDisc(resolution: number, radiusDeg: number): number {
  return ((1 - Math.cos(radiusDeg * RADIANS_PER_DEGREE)) / 2) * cellCount(resolution);
}

/**
 * The keys of all cells that touch a disc, or of which a descendant does. Some neighbouring cells are included, too.
 */
export function keysTouching(disc: Disc, resolution: number): Set<number> {
  const keys = new Set<number>();
  for (const base of getRes0Cells()) addTouching(base, 0, disc, resolution, keys);
  return keys;
}

function addTouching(cell: string, at: number, disc: Disc, resolution: number, keys: Set<number>): void {
  const [dec, ra] = cellToLatLng(cell);
  const distance = separationArcsec(disc.ra, disc.dec, ra, dec) / 3600;
  const reach = REACH_DEGREES / Math.sqrt(7) ** at;
  if (distance > disc.radiusDeg + reach) return;
  if (at === resolution) keys.add(keyOfCell(cell, at));
  else if (distance + reach <= disc.radiusDeg) {
    for (const inner of cellToChildren(cell, resolution)) keys.add(keyOfCell(inner, resolution));
  } else for (const child of cellToChildren(cell, at + 1)) addTouching(child, at + 1, disc, resolution, keys);
}
