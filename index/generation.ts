/** The index at one moment. */
import { Arena } from './arena.ts';
import { buildArena } from './builder.ts';
import { ROW_DEC, ROW_ID, ROW_RA, ROW_TIME, rowStride } from './layout.ts';
import { SkyIndex } from './sky_index.ts';

/**
 * The arenas that contain the writer's log up to and including the number `sequence`. Plain data, so that a generation
 * can be sent to workers unchanged.
 */
export interface Generation {
  readonly sequence: number;
  readonly arenas: readonly SharedArrayBuffer[];
}

/** Opens a generation for searching. Throws an ArenaError if an arena's bytes are invalid. */
export function openGeneration(generation: Generation): SkyIndex {
  return new SkyIndex(generation.arenas.map(buffer => new Arena(buffer)));
}

/**
 * Merges several arenas into one. Either all of them must have a time column, or none.
 * @param isDropped whether to leave out a row
 */
export function mergeArenas(
  arenas: readonly Arena[],
  isDropped?: (arena: Arena, row: number) => boolean,
): SharedArrayBuffer {
  const rows = arenas.reduce((sum, arena) => sum + arena.length, 0);
  const hasTime = arenas.some(arena => arena.hasTime);
  const stride = rowStride(hasTime);
  const points = new Float64Array(rows * stride);
  let at = 0;
  const copy = (arena: Arena, from: number, to: number) => {
    arena.copyRows(from, to, points, at);
    at += to - from;
  };
  for (const arena of arenas) {
    if (hasTime && !arena.hasTime && arena.length > 0)
      throw new TypeError('Cannot merge arenas because only some have a time column');
    let from = 0;
    for (let row = 0; isDropped && row < arena.length; row++) {
      if (!isDropped(arena, row)) continue;
      copy(arena, from, row);
      from = row + 1;
    }
    copy(arena, from, arena.length);
  }
  const kept = points.subarray(0, at * stride);
  return buildArena({
    ra: kept.subarray(ROW_RA),
    dec: kept.subarray(ROW_DEC),
    id: new BigInt64Array(kept.buffer, 0, kept.length).subarray(ROW_ID),
    time: hasTime ? kept.subarray(ROW_TIME) : undefined,
    stride,
  });
}
