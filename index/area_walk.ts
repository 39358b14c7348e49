/** The points in an area, ordered by level, then order-16 pixel, then id. */
import type { Area } from './area.ts';
import type { Arena } from './arena.ts';
import type { SkyIndex } from './sky_index.ts';

/** The sort key of a point in an area. It never changes. */
export interface AreaPlace {
  readonly level: number;
  /** At order 16. */
  readonly pixel: number;
  readonly id: bigint;
}

/** A point in an area. */
export interface AreaRow extends AreaPlace {
  /** Number of the arena in the index. */
  readonly arena: number;
  readonly row: number;
}

/** The approximate number of rows of each arena that are sorted together. */
const PIECE_ROWS = 256;
/** The number of ranges between two yields. */
const STEPS_A_YIELD = 256;

/**
 * The points of an area in pieces: all of them, or those after a sort key. Other work may run between two pieces. A
 * piece may be empty.
 */
export function* walkArea(index: SkyIndex, area: Area, after?: AreaPlace): Generator<AreaRow[], void, undefined> {
  const { bounds } = area;
  for (let range = after ? firstRange(area, after) : 0; range < area.length; range++) {
    if (range % STEPS_A_YIELD === 0) yield [];
    const level = area.levelOf(range);
    const end = bounds[2 * range + 1]!;
    const isFirst = after !== undefined && after.level === level && after.pixel > bounds[2 * range]!;
    const first = isFirst ? after.pixel : bounds[2 * range]!;
    const spans = index.arenas.map((arena, number) => ({ arena, number, row: arena.rowOfPixel(first) }));
    for (let from = first; from < end; ) {
      const until = pieceEnd(spans, from, end);
      const rows = rowsUntil(spans, until, level, area.testOf(range));
      yield after ? rows.filter(row => isAfter(row, after)) : rows;
      from = until;
    }
  }
}

/** The remaining rows of an arena, from `row` on. */
interface Span {
  readonly arena: Arena;
  readonly number: number;
  row: number;
}

/** The pixel at which a piece of about the usual number of rows ends: after `from`, and at most `end`. */
function pieceEnd(spans: readonly Span[], from: number, end: number): number {
  let until = end;
  for (const { arena, row } of spans)
    if (row + PIECE_ROWS < arena.length) until = Math.min(until, arena.pixelOf(row + PIECE_ROWS));
  // All rows of a pixel belong to one piece.
  return Math.max(until, from + 1);
}

/** Removes the rows before the pixel `until` from each span, and returns those in the area, sorted. */
function rowsUntil(spans: readonly Span[], until: number, level: number, test: ReturnType<Area['testOf']>): AreaRow[] {
  const rows: AreaRow[] = [];
  for (const span of spans) {
    const { arena, number } = span;
    for (; span.row < arena.length; span.row++) {
      const { row } = span;
      const pixel = arena.pixelOf(row);
      if (pixel >= until) break;
      if (!test || test(arena.ra(row), arena.dec(row)))
        rows.push({ level, pixel, id: arena.id(row), arena: number, row });
    }
  }
  return rows.sort((a, b) => a.pixel - b.pixel || (a.id < b.id ? -1 : 1));
}

/** The first range that may contain a point after this sort key. */
function firstRange(area: Area, { level, pixel }: AreaPlace): number {
  let low = 0;
  let high = area.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const isBefore =
      area.levelOf(middle) < level || (area.levelOf(middle) === level && area.bounds[2 * middle + 1]! <= pixel);
    if (isBefore) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Whether a point of the area may have this sort key. */
export function isPlaceIn(area: Area, place: AreaPlace): boolean {
  const range = firstRange(area, place);
  return range < area.length && area.levelOf(range) === place.level && area.bounds[2 * range]! <= place.pixel;
}

function isAfter(row: AreaRow, after: AreaPlace): boolean {
  return row.level > after.level || row.pixel > after.pixel || (row.pixel === after.pixel && row.id > after.id);
}

/** Counts the points in an area. The generator yields when other work may run. */
export function* countArea(index: SkyIndex, area: Area): Generator<undefined, number, undefined> {
  const flat = area.withoutLevels();
  let count = 0;
  let steps = 0;
  for (let range = 0; range < flat.length; range++) {
    const test = flat.testOf(range);
    for (const arena of index.arenas) {
      if (++steps % STEPS_A_YIELD === 0) yield;
      const end = arena.rowOfPixel(flat.bounds[2 * range + 1]!);
      let row = arena.rowOfPixel(flat.bounds[2 * range]!);
      if (!test) count += end - row;
      else {
        for (; row < end; row++) {
          if (++steps % STEPS_A_YIELD === 0) yield;
          if (test(arena.ra(row), arena.dec(row))) count++;
        }
      }
    }
  }
  return count;
}
