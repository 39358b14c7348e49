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

export function matchObjects(
  index: SkyIndex,
  positions: ValidPositions,
  radiusArcsec: number,
  find: Find,
  pairs: Pairs,
): void {
  const found = find === 'nearest' ? nearest(index, positions, radiusArcsec) : all(index, positions, radiusArcsec);
  const [row, arena, at] = [found.row, found.arena, found.at].map(values => Uint32Array.from(values));
  const objects = (each: number) => index.arenas[arena![each]!]!;
  const batch: Batch = {
    row: row!,
    id: BigInt64Array.from(row!, (_, each) => objects(each).id[at![each]!]!),
    separationArcsec: Float64Array.from(found.separationArcsec),
    cells: each => [objects(each).ra[at![each]!]!, objects(each).dec[at![each]!]!],
  };
  pairs.add(batch);
}

interface Found {
  readonly row: number[];
  /** The arena and the row in it. */
  readonly arena: number[];
  readonly at: number[];
  readonly separationArcsec: number[];
}

function nearest(index: SkyIndex, { row, ra, dec }: ValidPositions, radiusArcsec: number): Found {
  const found: Found = { row: [], arena: [], at: [], separationArcsec: [] };
  const joined = nearestJoin(index, ra, dec, radiusArcsec);
  for (let i = 0; i < row.length; i++) {
    if (joined.arena[i] === NO_MATCH) continue;
    found.row.push(row[i]!);
    found.arena.push(joined.arena[i]!);
    found.at.push(joined.row[i]!);
    found.separationArcsec.push(joined.separationArcsec[i]!);
  }
  return found;
}

function all(index: SkyIndex, { row, ra, dec }: ValidPositions, radiusArcsec: number): Found {
  const found: Found = { row: [], arena: [], at: [], separationArcsec: [] };
  const hits = new ConeHits();
  for (let i = 0; i < row.length; i++) {
    const count = index.coneSearch(ra[i]!, dec[i]!, radiusArcsec, hits);
    for (let hit = 0; hit < count; hit++) {
      const [arena, at] = [hits.arena[hit]!, hits.row[hit]!];
      const objects = index.arenas[arena]!;
      found.row.push(row[i]!);
      found.arena.push(arena);
      found.at.push(at);
      found.separationArcsec.push(separationArcsec(ra[i]!, dec[i]!, objects.ra[at]!, objects.dec[at]!));
    }
  }
  return found;
}
