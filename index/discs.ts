/** Discs of one radius around many positions, as one region: their edges are included. */

import type { Region } from './area_index.ts';
import { Arena, NearestBest } from './arena.ts';
import { buildArena } from './builder.ts';
import { CELL_ORDER, conePixels } from './healpix.ts';
import { SkyIndex } from './sky_index.ts';

/** Discs as arrays alone, which can be handed to another process. */
export interface DiscArrays {
  /** An arena of the centres. */
  readonly arena: SharedArrayBuffer;
  /** The cells that the discs touch, each once. */
  readonly cells: Uint16Array;
}

/**
 * @param ra degrees, 0 to 360
 * @param radiusArcsec 0 to 3600
 * @throws RangeError for a position or a radius out of range
 */
export function discArrays(ra: Float64Array, dec: Float64Array, radiusArcsec: number): DiscArrays {
  const id = BigInt64Array.from(ra, (_, i) => BigInt(i));
  const cells = new Set<number>();
  for (let i = 0; i < ra.length; i++)
    for (const cell of conePixels(CELL_ORDER, ra[i]!, dec[i]!, radiusArcsec)) cells.add(cell);
  return { arena: buildArena({ ra, dec, id }), cells: Uint16Array.from(cells) };
}

export class Discs implements Region {
  readonly #index: SkyIndex;
  readonly #cells: Uint16Array;
  readonly #radiusArcsec: number;
  readonly #best = new NearestBest();
  readonly byteLength: number;

  constructor({ arena, cells }: DiscArrays, radiusArcsec: number) {
    this.#index = new SkyIndex([new Arena(arena)]);
    this.#cells = cells;
    this.#radiusArcsec = radiusArcsec;
    this.byteLength = arena.byteLength + cells.byteLength;
  }

  cells(): Iterable<number> {
    return this.#cells;
  }

  /** Whether `separationArcsec` of a position, degrees, from any centre is at most the radius. */
  contains(ra: number, dec: number): boolean {
    return this.#index.findNearest(ra, dec, this.#radiusArcsec, this.#best);
  }
}
