/** The index at one moment. */
import { Arena } from './arena.ts';
import { buildArena } from './builder.ts';
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
  const hasTime = arenas.some(arena => arena.time);
  const ra = new Float64Array(rows);
  const dec = new Float64Array(rows);
  const id = new BigInt64Array(rows);
  const time = hasTime ? new Float64Array(rows) : undefined;
  let at = 0;
  const copy = (arena: Arena, from: number, to: number) => {
    ra.set(arena.ra.subarray(from, to), at);
    dec.set(arena.dec.subarray(from, to), at);
    id.set(arena.id.subarray(from, to), at);
    if (arena.time) time?.set(arena.time.subarray(from, to), at);
    at += to - from;
  };
  for (const arena of arenas) {
    if (hasTime && !arena.time && arena.length > 0)
      throw new TypeError('Cannot merge arenas because only some have a time column');
    let from = 0;
    for (let row = 0; isDropped && row < arena.length; row++) {
      if (!isDropped(arena, row)) continue;
      copy(arena, from, row);
      from = row + 1;
    }
    copy(arena, from, arena.length);
  }
  const kept = <T extends Float64Array | BigInt64Array>(column: T) => column.subarray(0, at) as T;
  return buildArena({ ra: kept(ra), dec: kept(dec), id: kept(id), time: time && kept(time) });
}
