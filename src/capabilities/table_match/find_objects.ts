/** Finds the objects near given positions in a generation of the index, on a thread that has opened the index. */
import { ConeHits, NO_MATCH, nearestJoin, openGeneration, type SkyIndex, separationArcsec } from '@nearsky/sky-index';
import { collectWhenQuiet } from '../../core/base/shared_memory.ts';
import type { Find } from '../../core/contract/table_match.ts';
import { removedRows } from '../../core/generations/removed_rows.ts';
import type { PublishedGeneration } from '../../core/generations/tasks.ts';
import type { Task, Tasks } from '../../core/pool/pool.ts';
import { currentStore } from '../../core/store/thread_store.ts';

/** The positions: degrees, all valid, right ascensions from 0 to 360, in parallel arrays. */
export interface ObjectsQuestion {
  readonly ra: Float64Array;
  readonly dec: Float64Array;
  /** Inclusive. */
  readonly radiusArcsec: number;
  readonly find: Find;
}

export interface FindObjectsTask extends Task<FoundObjects>, ObjectsQuestion {
  readonly module: 'src/capabilities/table_match/find_objects';
  readonly kind: 'findObjects';
  readonly generation: PublishedGeneration;
}

/** The pairs found, in parallel arrays. */
export interface FoundObjects {
  /**
   * The number of positions that were searched, counted from the first. It is smaller than the number of positions if
   * there were very many pairs.
   */
  readonly searched: number;
  /** The index of the position. */
  readonly at: Uint32Array;
  readonly id: BigInt64Array;
  readonly ra: Float64Array;
  readonly dec: Float64Array;
  readonly separationArcsec: Float64Array;
}

/** The search ends after this many pairs. Each takes 36 bytes. */
const MANY_PAIRS = 200_000;

export const tasks: Tasks<FindObjectsTask> = { findObjects: runFindObjects };

function runFindObjects({ generation, find, ...asked }: FindObjectsTask): FoundObjects {
  // This thread would keep the generation when it is replaced.
  collectWhenQuiet();
  const index = openGeneration(generation);
  const isRemoved = removedRows(currentStore(), generation);
  if (find === 'nearest' && !isRemoved) return nearest(index, asked);
  return search(index, asked, find, isRemoved);
}

type Positions = Omit<ObjectsQuestion, 'find'>;

/** The nearest objects, as long as no object of the generation was removed. */
function nearest(index: SkyIndex, { ra, dec, radiusArcsec }: Positions): FoundObjects {
  const joined = nearestJoin(index, ra, dec, radiusArcsec);
  const at = new Uint32Array(joined.matched);
  for (let i = 0, next = 0; i < ra.length; i++) if (joined.arena[i] !== NO_MATCH) at[next++] = i;
  const pick = (values: ArrayLike<number>) => Uint32Array.from(at, i => values[i]!);
  const separations = Float64Array.from(at, i => joined.separationArcsec[i]!);
  return described(index, ra.length, at, pick(joined.arena), pick(joined.row), separations);
}

function search(
  index: SkyIndex,
  { ra, dec, radiusArcsec }: Positions,
  find: Find,
  isRemoved: ReturnType<typeof removedRows>,
): FoundObjects {
  const [at, arenas, rows, separations]: [number[], number[], number[], number[]] = [[], [], [], []];
  const hits = new ConeHits();
  let i = 0;
  for (; i < ra.length && at.length < MANY_PAIRS; i++) {
    const first = at.length;
    const count = index.coneSearch(ra[i]!, dec[i]!, radiusArcsec, hits);
    for (let hit = 0; hit < count; hit++) {
      const [arena, row] = [hits.arena[hit]!, hits.row[hit]!];
      const objects = index.arenas[arena]!;
      const id = objects.id(row);
      if (isRemoved?.({ id, arena })) continue;
      const separation = separationArcsec(ra[i]!, dec[i]!, objects.ra(row), objects.dec(row));
      const place = find === 'nearest' ? first : at.length;
      if (place < at.length) {
        const known = index.arenas[arenas[place]!]!.id(rows[place]!);
        if (separation > separations[place]! || (separation === separations[place] && id > known)) continue;
      }
      [at[place], arenas[place], rows[place], separations[place]] = [i, arena, row, separation];
    }
  }
  return described(index, i, Uint32Array.from(at), arenas, rows, Float64Array.from(separations));
}

function described(
  { arenas }: SkyIndex,
  searched: number,
  at: Uint32Array,
  arena: ArrayLike<number>,
  row: ArrayLike<number>,
  separationArcsec: Float64Array,
): FoundObjects {
  const [id, ra, dec] = [new BigInt64Array(at.length), new Float64Array(at.length), new Float64Array(at.length)];
  for (let i = 0; i < at.length; i++) {
    const objects = arenas[arena[i]!]!;
    id[i] = objects.id(row[i]!);
    ra[i] = objects.ra(row[i]!);
    dec[i] = objects.dec(row[i]!);
  }
  return { searched, at, id, ra, dec, separationArcsec };
}
