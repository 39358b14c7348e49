/** The nearest point to each of many positions: a sorted join. */
import { NearestBest } from './arena.ts';
import { sortByKey, sphereKeys } from './keys.ts';
import type { SkyIndex } from './sky_index.ts';

/** Parallel to the positions. If `arena` is NO_MATCH, `row` and `separationArcsec` are undefined. */
export interface JoinResult {
  readonly arena: Uint32Array;
  readonly row: Uint32Array;
  readonly separationArcsec: Float64Array;
  /** The number of positions that have a nearest point. */
  readonly matched: number;
}

export const NO_MATCH = 0xffffffff;

/**
 * `index.nearest` for every position (degrees), radius 0 to 3600 arcsec, inclusive. Positions are searched in index
 * order, so that a bucket stays in the processor's cache for neighbouring positions.
 *
 * @throws RangeError for a position or a radius out of range
 */
export function nearestJoin(index: SkyIndex, ra: Float64Array, dec: Float64Array, radiusArcsec: number): JoinResult {
  const order = sortByKey(sphereKeys(ra, dec));
  const arena = new Uint32Array(ra.length).fill(NO_MATCH);
  const row = new Uint32Array(ra.length);
  const separationArcsec = new Float64Array(ra.length);
  const best = new NearestBest();
  let matched = 0;
  for (let i = 0; i < order.length; i++) {
    const position = order[i]!;
    if (!index.findNearest(ra[position]!, dec[position]!, radiusArcsec, best)) continue;
    arena[position] = best.arena;
    row[position] = best.row;
    separationArcsec[position] = best.separationArcsec;
    matched++;
  }
  return { arena, row, separationArcsec, matched };
}
