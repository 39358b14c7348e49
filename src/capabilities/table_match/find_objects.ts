/** Finds the objects near given positions in a generation of the index, on a thread that has opened the index. */
import { ConeHits, NO_MATCH, nearestJoin, openGeneration, separationArcsec } from '@nearsky/sky-index';
import { NotInHistory } from '../../core/answers/context.ts';
import { type SearchedState, searchedState } from '../../core/answers/history.ts';
import { collectWhenQuiet } from '../../core/base/shared_memory.ts';
import type { Find } from '../../core/contract/table_match.ts';
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
  /** The journal entry whose state is searched; the newest one by default. */
  readonly at?: number | undefined;
}

export interface FindObjectsTask extends Task<FoundObjects | NotThere>, ObjectsQuestion {
  readonly module: 'src/capabilities/table_match/find_objects';
  readonly kind: 'findObjects';
  readonly generation: PublishedGeneration;
}

/** The history does not have the entry. */
export interface NotThere {
  readonly notInHistory: string;
}

/** The pairs found, in parallel arrays. */
export interface FoundObjects extends Pick<SearchedState, 'entry' | 'isKept'> {
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

function runFindObjects({ generation, find, at, ...asked }: FindObjectsTask): FoundObjects | NotThere {
  // This thread would keep the generation when it is replaced.
  collectWhenQuiet();
  try {
    const state = searchedState(currentStore(), generation, openGeneration(generation), at);
    return find === 'nearest' && !state.isLeftOut ? nearest(state, asked) : search(state, asked, find);
  } catch (error) {
    if (error instanceof NotInHistory) return { notInHistory: error.message };
    throw error;
  }
}

type Positions = Omit<ObjectsQuestion, 'find' | 'at'>;

/** The nearest objects, as long as the state has all objects of the generation. */
function nearest(state: SearchedState, { ra, dec, radiusArcsec }: Positions): FoundObjects {
  const joined = nearestJoin(state.index, ra, dec, radiusArcsec);
  const at = new Uint32Array(joined.matched);
  for (let i = 0, next = 0; i < ra.length; i++) if (joined.arena[i] !== NO_MATCH) at[next++] = i;
  const pick = (values: ArrayLike<number>) => Uint32Array.from(at, i => values[i]!);
  const separations = Float64Array.from(at, i => joined.separationArcsec[i]!);
  return described(state, ra.length, at, pick(joined.arena), pick(joined.row), separations);
}

function search(state: SearchedState, { ra, dec, radiusArcsec }: Positions, find: Find): FoundObjects {
  const { index, isLeftOut } = state;
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
      if (isLeftOut?.({ id, arena })) continue;
      const separation = separationArcsec(ra[i]!, dec[i]!, objects.ra(row), objects.dec(row));
      const place = find === 'nearest' ? first : at.length;
      if (place < at.length) {
        const known = index.arenas[arenas[place]!]!.id(rows[place]!);
        if (separation > separations[place]! || (separation === separations[place] && id > known)) continue;
      }
      [at[place], arenas[place], rows[place], separations[place]] = [i, arena, row, separation];
    }
  }
  return described(state, i, Uint32Array.from(at), arenas, rows, Float64Array.from(separations));
}

function described(
  { entry, isKept, index: { arenas } }: SearchedState,
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
  return { entry, isKept, searched, at, id, ra, dec, separationArcsec };
}
