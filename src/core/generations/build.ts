/** The index tasks, which build arenas from the position table and from other arenas. */
import { Arena, buildArena, mergeArenas } from '@nearsky/sky-index';
import { noteGarbage } from '../base/shared_memory.ts';
import type { Tasks } from '../pool/pool.ts';
import { type PositionRows, readPositions } from '../store/positions.ts';
import type { Store } from '../store/store.ts';
import { currentStore } from '../store/thread_store.ts';
import type { BuiltArena, MergeAnswer, MergeTask, TailAnswer, TailTask } from './tasks.ts';

/** Fields of a row of the position table. */
const STRIDE = 4;
/** The approximate memory per row that building takes. The result, which the indexer holds, is not included. */
const BUILDING_BYTES = 64;

export const tasks: Tasks<TailTask | MergeTask> = { tail: runTail, merge: runMerge };

function runTail({ rows: from, sequence: since, checked, absorb }: TailTask): TailAnswer {
  const store = currentStore();
  const sequence = store.lastSequence();
  const rows = store.tableAt(sequence)!.rows;
  const points = readPositions(store.databases, from, rows);
  const removed = store.removedAfter(since);
  const isKept = (id: bigint, row: number, ingestTimeUs: number) =>
    from + row >= (removed.get(id)?.rows ?? 0) && (!checked || holds(store, id, ingestTimeUs));
  const length = keepPositions(points, isKept);
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
  noteGarbage(fields.byteLength + BUILDING_BYTES * length);
  const tail = { buffer, length, sequence };
  return { sequence, rows, arena: absorb.length > 0 ? merged(store, [...absorb, tail]) : tail };
}

/**
 * Moves the rows to the front that have a position and pass the test, in their order; others cannot be found by
 * position.
 * @returns the number of rows kept
 */
function keepPositions(
  { count, ids, fields }: PositionRows,
  isKept: (id: bigint, row: number, ingestTimeUs: number) => boolean,
): number {
  let kept = 0;
  for (let row = 0; row < count; row++) {
    if (Number.isNaN(fields[row * STRIDE + 1])) continue;
    if (!isKept(ids[row * STRIDE]!, row, fields[row * STRIDE + 3]!)) continue;
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

function runMerge({ arenas }: MergeTask): MergeAnswer {
  const store = currentStore();
  const sequence = store.lastSequence();
  const [first, ...others] = arenas;
  const isSame = others.length === 0 && !hasRemoved(new Arena(first!.buffer), store.removedSince(first!.sequence));
  return { sequence, arena: isSame ? undefined : merged(store, arenas) };
}

function hasRemoved(arena: Arena, isRemoved: ((id: bigint) => boolean) | undefined): boolean {
  if (isRemoved) for (let row = 0; row < arena.length; row++) if (isRemoved(arena.id(row))) return true;
  return false;
}

/** The objects of the arenas without those that were removed since. The state of the store must not change meanwhile. */
function merged(store: Store, parts: readonly BuiltArena[]): BuiltArena {
  const isRemoved = new Map(parts.map(({ buffer, sequence }) => [new Arena(buffer), store.removedSince(sequence)]));
  const isDropped = (arena: Arena, row: number) => isRemoved.get(arena)?.(arena.id(row)) ?? false;
  const isAny = [...isRemoved.values()].some(each => each !== undefined);
  const buffer = mergeArenas([...isRemoved.keys()], isAny ? isDropped : undefined);
  const { length } = new Arena(buffer);
  noteGarbage(parts.reduce((sum, part) => sum + part.buffer.byteLength, BUILDING_BYTES * length));
  return { buffer, length, sequence: store.lastSequence() };
}
