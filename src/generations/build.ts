/** The index tasks, which build arenas from the position table and from other arenas. */
import { Arena, buildArena, mergeArenas } from '@nearsky/sky-index';
import { discard } from '../base/shared_memory.ts';
import type { PositionRows } from '../store/positions.ts';
import type { Store } from '../store/store.ts';
import { currentStore } from '../store/thread_store.ts';
import type { BuiltArena, MergeTask, TailAnswer, TailTask } from './tasks.ts';

/** Fields of a row of the position table. */
const STRIDE = 4;
/** The approximate memory per row that building takes. The result, which the indexer holds, is not included. */
const BUILDING_BYTES = 64;

export function runTail({ rows: from, checked, absorb }: TailTask): TailAnswer {
  const store = currentStore();
  const sequence = store.lastSequence();
  const rows = store.tableAt(sequence)!.rows;
  const points = store.positions(from, rows);
  const length = keepPositions(points, checked ? store : undefined);
  if (length === 0) return { sequence, rows, arena: undefined };
  const { ids, fields } = points;
  const end = length * STRIDE;
  const buffer = buildArena({
    id: ids.subarray(0, end),
    ra: fields.subarray(1, end),
    dec: fields.subarray(2, end),
    time: fields.subarray(3, end),
    stride: STRIDE,
  });
  discard(fields.byteLength + BUILDING_BYTES * length);
  return { sequence, rows, arena: absorb.length > 0 ? merged([...absorb, buffer]) : { buffer, length } };
}

/**
 * Moves the rows that have a position to the front, in their order; the others cannot be found by position. If a store
 * is given, rows whose object it lacks are dropped, too.
 * @returns the number of rows kept
 */
function keepPositions({ count, ids, fields }: PositionRows, store: Store | undefined): number {
  let kept = 0;
  for (let row = 0; row < count; row++) {
    if (Number.isNaN(fields[row * STRIDE + 1])) continue;
    if (store && !holds(store, ids[row * STRIDE]!, fields[row * STRIDE + 3]!)) continue;
    if (kept < row) fields.copyWithin(kept * STRIDE, row * STRIDE, (row + 1) * STRIDE);
    kept++;
  }
  return kept;
}

/** An object that cannot be read counts as present. A query that needs it will report the error. */
function holds(store: Store, id: bigint, ingestTimeUs: number): boolean {
  try {
    return store.getObject(id)?.ingestTimeUs === ingestTimeUs;
  } catch {
    return true;
  }
}

export function runMerge({ arenas }: MergeTask): BuiltArena {
  return merged(arenas);
}

function merged(buffers: readonly SharedArrayBuffer[]): BuiltArena {
  const arenas = buffers.map(buffer => new Arena(buffer));
  const length = arenas.reduce((sum, arena) => sum + arena.length, 0);
  discard(buffers.reduce((sum, { byteLength }) => sum + byteLength, BUILDING_BYTES * length));
  return { buffer: mergeArenas(arenas), length };
}
