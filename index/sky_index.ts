/** A set of arenas, searched as one. */
import { type Arena, type ConeHits, Disc, NearestBest } from './arena.ts';
import { checkRadius } from './healpix.ts';
import { checkPosition } from './sphere.ts';

export interface Nearest {
  /** Number of the arena in `SkyIndex.arenas`. */
  readonly arena: number;
  readonly row: number;
  readonly id: bigint;
  readonly separationArcsec: number;
}

/** An immutable index over arenas. A point is in exactly one of them. */
export class SkyIndex {
  readonly arenas: readonly Arena[];
  readonly length: number;
  private readonly disc = new Disc();
  private readonly best = new NearestBest();

  constructor(arenas: readonly Arena[]) {
    this.arenas = arenas;
    this.length = arenas.reduce((sum, arena) => sum + arena.length, 0);
  }

  /**
   * Finds all points within `radiusArcsec` (0 to 3600, inclusive) of a position in degrees, in no particular order.
   * Exact: a point is found if and only if `separationArcsec` of it is at most the radius.
   *
   * @param hits emptied first, then filled; `hits.arena` and `hits.row` are parallel up to `hits.count`
   * @returns the number of hits
   * @throws RangeError for a position or a radius out of range
   */
  coneSearch(ra: number, dec: number, radiusArcsec: number, hits: ConeHits): number {
    checkPosition(ra, dec);
    checkRadius(radiusArcsec);
    this.disc.set(ra, dec, radiusArcsec);
    hits.count = 0;
    for (let i = 0; i < this.arenas.length; i++) {
      const start = hits.count;
      this.arenas[i]!.coneSearch(this.disc, hits);
      for (let hit = start; hit < hits.count; hit++) hits.arena[hit] = i;
    }
    return hits.count;
  }

  /**
   * The nearest point within `radiusArcsec` (0 to 3600, inclusive) of a position in degrees; at equal separations, the
   * point with the lowest id.
   *
   * @throws RangeError for a position or a radius out of range
   */
  nearest(ra: number, dec: number, radiusArcsec: number): Nearest | undefined {
    const { best } = this;
    if (!this.findNearest(ra, dec, radiusArcsec, best)) return undefined;
    const { arena, row, id, separationArcsec } = best;
    return { arena, row, id, separationArcsec };
  }

  /** Like `nearest`, but writes to `best` and does not allocate. Returns whether a point was found. */
  findNearest(ra: number, dec: number, radiusArcsec: number, best: NearestBest): boolean {
    checkPosition(ra, dec);
    checkRadius(radiusArcsec);
    this.disc.set(ra, dec, radiusArcsec);
    best.arena = -1;
    best.row = -1;
    best.separationArcsec = radiusArcsec;
    for (let i = 0; i < this.arenas.length; i++) this.arenas[i]!.nearest(this.disc, i, best);
    return best.row >= 0;
  }
}
