/**
 * H3 cells (h3geo.org) on the sky: ra is the longitude, dec the latitude. A cell is stored as a key: its base cell,
 * followed by its digits, three bits each. So the key of the parent is the key without its last three bits. An object
 * belongs to its cell of `FINEST_RESOLUTION` and to the ancestors of that cell. Children extend beyond their parent, so
 * near an edge the ancestor may differ from the coarse cell that contains the position. The counts of children thus add
 * up to the count of their parent.
 */

import { RADIANS_PER_DEGREE, separationArcsec } from '@nearsky/sky-index';
import { cellToChildren, cellToLatLng, getRes0Cells, latLngToCell } from 'h3-js';
import type { SkyPosition } from '../store/types.ts';

/** Cells of up to 55" from centre to corner, which is less than the maximum search radius. */
export const FINEST_RESOLUTION = 7;
/** The resolution at which the whole sky has 41,162 cells. */
export const WHOLE_SKY_RESOLUTION = 3;

const BASE_CELLS = 122;
/** The bits of a key that each resolution takes. */
export const DIGIT_BITS = 3;
/**
 * The digits of an H3 index: after the resolution come 7 bits of base cell and 15 digits, which are 13 hexadecimal
 * digits.
 */
const MAX_DIGITS = 15;
const HEX_DIGITS = 13;
const LOW_HEX_DIGITS = 7;
const LOW_HALF = 16 ** LOW_HEX_DIGITS;

/**
 * No corner of a cell of resolution 0, or of its descendants, is farther from the cell's centre than this; each
 * resolution is finer by the square root of 7. The corners of a cell are within 12.64 degrees; descendants stand out a
 * little beyond its edges.
 */
const REACH_DEGREES = 16;

/** The number of cells of a resolution (h3geo.org/docs/core-library/restable). */
export function cellCount(resolution: number): number {
  return 2 + 120 * 7 ** resolution;
}

/** One more than the highest key of a resolution. */
export function keyCount(resolution: number): number {
  return BASE_CELLS << (DIGIT_BITS * resolution);
}

/** The key, at `FINEST_RESOLUTION`, of the cell of a position in degrees. */
export function keyOfPosition(ra: number, dec: number): number {
  return keyOfCell(latLngToCell(dec, ra, FINEST_RESOLUTION), FINEST_RESOLUTION);
}

/** @param cell a cell of that resolution, as H3 writes it */
export function keyOfCell(cell: string, resolution: number): number {
  const digits = Number.parseInt(cell.slice(2), 16);
  return Math.floor(digits / 2 ** (DIGIT_BITS * (MAX_DIGITS - resolution)));
}

/** The cell as H3 writes it. */
export function cellOfKey(key: number, resolution: number): string {
  const unused = 2 ** (DIGIT_BITS * (MAX_DIGITS - resolution));
  const digits = key * unused + (unused - 1);
  // The digits are written in two halves, because integers beyond 32 bits are written slowly.
  const high = Math.floor(digits / LOW_HALF)
    .toString(16)
    .padStart(HEX_DIGITS - LOW_HEX_DIGITS, '0');
  return `8${resolution}${high}${(digits % LOW_HALF).toString(16).padStart(LOW_HEX_DIGITS, '0')}`;
}

/** The key of the cell's ancestor `levels` resolutions above. */
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

/** A part of the sky: degrees, the radius 0 (exclusive) to 180. */
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
 * The keys of all cells that a disc touches, or that have a descendant that the disc touches. Some neighbouring cells
 * are included too.
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
