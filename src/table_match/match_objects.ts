/** The rows of a table against the objects of a generation of the index. */
import { ConeHits, NO_MATCH, nearestJoin, type SkyIndex, separationArcsec } from '../../index/mod.ts';
import type { Find } from '../contract/table_match.ts';
import type { Batch, Pairs } from './pairs.ts';

/** Positions in degrees, all valid, and the row of each. */
export interface ValidPositions {
  readonly row: Uint32Array;
  readonly ra: Float64Array;
  readonly dec: Float64Array;
}

/** Positions that are searched together where all pairs are asked for. */
const STEP = 8192;

/** @throws TableError where too many pairs are found */
export function matchObjects(
  index: SkyIndex,
  positions: ValidPositions,
  radiusArcsec: number,
  find: Find,
  pairs: Pairs,
): void {
  if (find === 'nearest') pairs.add(batchOf(index, nearest(index, positions, radiusArcsec)));
  else
    for (let from = 0; from < positions.row.length; from += STEP)
      pairs.add(batchOf(index, all(index, positions, radiusArcsec, from, Math.min(from + STEP, positions.row.length))));
}

/** Parallel arrays. */
interface Found {
  readonly row: Uint32Array;
  /** The arena and the row in it. */
  readonly arena: Uint32Array;
  readonly at: Uint32Array;
  readonly separationArcsec: Float64Array;
}

function batchOf({ arenas }: SkyIndex, { row, arena, at, separationArcsec }: Found): Batch {
  const [id, ra, dec] = [new BigInt64Array(row.length), new Float64Array(row.length), new Float64Array(row.length)];
  for (let i = 0; i < row.length; i++) {
    const objects = arenas[arena[i]!]!;
    id[i] = objects.id[at[i]!]!;
    ra[i] = objects.ra[at[i]!]!;
    dec[i] = objects.dec[at[i]!]!;
  }
  const columns = [id, ra, dec, separationArcsec].map(values => ({ values }));
  return { row, id, separationArcsec, columns };
}

function nearest(index: SkyIndex, { row, ra, dec }: ValidPositions, radiusArcsec: number): Found {
  const joined = nearestJoin(index, ra, dec, radiusArcsec);
  const matched = new Uint32Array(joined.matched);
  for (let i = 0, next = 0; i < row.length; i++) if (joined.arena[i] !== NO_MATCH) matched[next++] = i;
  return {
    row: matched.map(i => row[i]!),
    arena: matched.map(i => joined.arena[i]!),
    at: matched.map(i => joined.row[i]!),
    separationArcsec: Float64Array.from(matched, i => joined.separationArcsec[i]!),
  };
}

function all(index: SkyIndex, { row, ra, dec }: ValidPositions, radiusArcsec: number, from: number, to: number): Found {
  const [rows, arenas, places, separations]: number[][] = [[], [], [], []];
  const hits = new ConeHits();
  for (let i = from; i < to; i++) {
    const count = index.coneSearch(ra[i]!, dec[i]!, radiusArcsec, hits);
    for (let hit = 0; hit < count; hit++) {
      const [arena, at] = [hits.arena[hit]!, hits.row[hit]!];
      const objects = index.arenas[arena]!;
      rows!.push(row[i]!);
      arenas!.push(arena);
      places!.push(at);
      separations!.push(separationArcsec(ra[i]!, dec[i]!, objects.ra[at]!, objects.dec[at]!));
    }
  }
  return {
    row: Uint32Array.from(rows!),
    arena: Uint32Array.from(arenas!),
    at: Uint32Array.from(places!),
    separationArcsec: Float64Array.from(separations!),
  };
}
