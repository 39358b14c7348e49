/** The index tasks, which build arenas from the position table and from other arenas. */
import { Arena, buildArena, mergeArenas } from '@nearsky/sky-index';
import { discard } from '../base/shared_memory.ts';
import type { PositionRows } from '../store/positions.ts';
import type { Store } from '../store/store.ts';
import { currentStore } from '../store/thread_store.ts';
import type { BuiltArena, MergeTask, PurgeTask, TailAnswer, TailTask } from './tasks.ts';

/** Fields of a row of the position table. */
const STRIDE = 4;
/** The approximate memory per row that building takes. The result, which the indexer holds, is not included. */
const BUILDING_BYTES = 64;

export function runTail({ rows: from, sequence: since, last: sequence, checked, absorb }: TailTask): TailAnswer {
  const store = currentStore();
  const rows = store.tableAt(sequence)!.rows;
  const points = store.positions(from, rows);
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
  discard(fields.byteLength + BUILDING_BYTES * length);
  return { sequence, rows, arena: absorb.length > 0 ? merged([...absorb, buffer]) : { buffer, length } };
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

export function runPurge({ sequence, arenas }: PurgeTask): readonly (BuiltArena | undefined)[] {
  const store = currentStore();
  const isRemoved = store.removedSince(sequence) ?? (() => false);
  return arenas.map(buffer => purged(new Arena(buffer), isRemoved));
}

function purged(arena: Arena, isRemoved: (id: bigint) => boolean): BuiltArena | undefined {
  const rows = new Uint32Array(arena.length);
  let length = 0;
  for (let row = 0; row < arena.length; row++) if (!isRemoved(arena.id[row]!)) rows[length++] = row;
  if (length === arena.length) return undefined;
  const kept = rows.subarray(0, length);
  const pick = (column: Float64Array) => Float64Array.from(kept, row => column[row]!);
  const id = BigInt64Array.from({ length }, (_, i) => arena.id[kept[i]!]!);
  const columns = { ra: pick(arena.ra), dec: pick(arena.dec), id, time: arena.time && pick(arena.time) };
  const buffer = buildArena(columns);
  discard(BUILDING_BYTES * length);
  return { buffer, length };
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
