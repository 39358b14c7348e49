/** When there are more arenas than this, some are merged. */
export const MAX_ARENAS = 8;
/** The least number of arenas in a merge: merging fewer would not pay for the copying. */
const MIN_MERGED = 4;
/**
 * A merged arena is at most one part in this many of the next larger one, so that each row is copied only a few times.
 */
const RATIO = 2;

/**
 * Chooses the arenas to merge into one, as positions in `lengths` (points each): the fewest of the smallest that leave
 * the sizes well apart. Empty while there are at most MAX_ARENAS. A row is copied about log2(rows) times when arenas
 * arrive one by one.
 */
export function planMerge(lengths: readonly number[]): number[] {
  if (lengths.length <= MAX_ARENAS) return [];
  const bySize = lengths.map((length, position) => ({ length, position })).sort((a, b) => b.length - a.length);
  let start = bySize.length - MIN_MERGED;
  let sum = bySize.slice(start).reduce((total, { length }) => total + length, 0);
  while (start > 0 && sum * RATIO > bySize[start - 1]!.length) sum += bySize[--start]!.length;
  return bySize.slice(start).map(({ position }) => position);
}
