/** Areas of the sky as ranges of HEALPix pixels, and exact tests where a pixel is only partly inside. */
import type { Region } from './area_index.ts';
import {
  CELL_PIXELS,
  cellPlace,
  cellVector,
  MAX_AREA_ORDER,
  maxCellRadius,
  pixel16,
  pixel29,
  pixelOfDeepCell,
} from './healpix.ts';
import { type Vector, vectorOf } from './sphere.ts';

/** Whether a position, degrees, lies in the area. Valid only for positions in the range of the test. */
export type PositionTest = (ra: number, dec: number) => boolean;

/** A range of pixels at order 16 (NESTED). */
interface Range {
  readonly first: number;
  /** Exclusive. */
  readonly end: number;
  /** undefined if the whole range is inside. */
  readonly test: PositionTest | undefined;
}

/** An area of pixels or ranges as plain arrays, which can be sent to another process. */
export interface AreaArrays {
  /** See `Area`. */
  readonly bounds: Float64Array;
  readonly levels?: Float64Array | undefined;
  readonly merged?: Float64Array | undefined;
  /** Pairs [first, end) of order-29 pixels that are inside, for ranges whose `isCut` is 1. */
  readonly deepBounds?: BigInt64Array | undefined;
  /** One value per range; undefined if every range is wholly inside. */
  readonly isCut?: Uint8Array | undefined;
}

/** The approximate maximum memory for testing a range, which includes the edges of a polygon. */
const TEST_BYTES = 128;

/** A part of the sky. Immutable. */
export class Area implements Region {
  /** Pairs [first, end) of pixels at order 16, which do not overlap: ascending by level, then by pixel. */
  readonly bounds: Float64Array;
  /** The level of each range; undefined if the area has no levels, in which case every level is 0. */
  readonly levels: Float64Array | undefined;
  readonly #tests: readonly (PositionTest | undefined)[];
  readonly #merged: Float64Array | undefined;
  readonly #deepBounds: BigInt64Array | undefined;

  /**
   * @param tests the test of each range; omitted if every range is wholly inside
   * @param merged for an area with levels: the same part of the sky in as few ranges as possible
   * @param deepBounds the order-29 ranges that the tests of an area of ranges search
   */
  constructor(
    bounds: Float64Array,
    levels?: Float64Array,
    tests: readonly (PositionTest | undefined)[] = [],
    merged?: Float64Array,
    deepBounds?: BigInt64Array,
  ) {
    this.bounds = bounds;
    this.levels = levels;
    this.#tests = tests;
    this.#merged = merged;
    this.#deepBounds = deepBounds;
  }

  /** Restores an area from arrays that were made from another one. */
  static of({ bounds, levels, merged, deepBounds, isCut }: AreaArrays): Area {
    const test = deepBounds && deepTest(deepBounds);
    const tests = isCut ? Array.from(isCut, each => (each ? test : undefined)) : [];
    return new Area(bounds, levels, tests, merged, deepBounds);
  }

  /** @throws TypeError for the area of a shape, whose tests are functions */
  get arrays(): AreaArrays {
    const [tests, deepBounds] = [this.#tests, this.#deepBounds];
    const hasTests = tests.some(test => test !== undefined);
    if (hasTests && !deepBounds) throw new TypeError('the area of a shape is more than arrays');
    const cut = hasTests && { deepBounds, isCut: Uint8Array.from(tests, test => (test ? 1 : 0)) };
    return { bounds: this.bounds, levels: this.levels, merged: this.#merged, ...cut };
  }

  /** The number of ranges. */
  get length(): number {
    return this.bounds.length / 2;
  }

  levelOf(range: number): number {
    return this.levels?.[range] ?? 0;
  }

  /** The test for positions in a range; undefined if the whole range is inside. */
  testOf(range: number): PositionTest | undefined {
    return this.#tests[range];
  }

  /** The same part of the sky without levels, in as few ranges as possible. */
  withoutLevels(): Area {
    return this.#merged ? new Area(this.#merged) : this;
  }

  /** The bytes that the area takes in memory, about. */
  get byteLength(): number {
    const { bounds, levels } = this;
    const arrays = [bounds, levels, this.#merged, this.#deepBounds].reduce(
      (sum, one) => sum + (one?.byteLength ?? 0),
      0,
    );
    return arrays + TEST_BYTES * this.#tests.length;
  }

  /** The cells that the area touches, ascending. */
  *cells(): Generator<number, void, undefined> {
    const bounds = this.#merged ?? this.bounds;
    let next = 0;
    for (let i = 0; i < bounds.length; i += 2) {
      const end = Math.ceil(bounds[i + 1]! / CELL_PIXELS);
      for (let cell = Math.max(next, Math.floor(bounds[i]! / CELL_PIXELS)); cell < end; cell++) yield cell;
      next = Math.max(next, end);
    }
  }

  /**
   * Whether a position, degrees, lies in the area.
   * @param pixel the position's pixel at order 16
   */
  contains(ra: number, dec: number, pixel: number = pixel16(ra, dec)): boolean {
    const bounds = this.#merged ?? this.bounds;
    let low = 0;
    let high = bounds.length / 2;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (bounds[2 * middle + 1]! <= pixel) low = middle + 1;
      else high = middle;
    }
    if (!(bounds[2 * low]! <= pixel)) return false;
    return this.#tests[low]?.(ra, dec) ?? true;
  }
}

/** Adds ranges in the order of the sky. Ranges that touch and are wholly inside become one. */
class RangeList {
  readonly #bounds: number[] = [];
  readonly #tests: (PositionTest | undefined)[] = [];

  /** Empty ranges are omitted, and so are ranges that begin where the previous one does. */
  add({ first, end, test }: Range): void {
    const bounds = this.#bounds;
    if (end <= first || bounds.at(-2) === first) return;
    if (!test && bounds.at(-1) === first && !this.#tests.at(-1)) {
      bounds[bounds.length - 1] = end;
      return;
    }
    bounds.push(first, end);
    this.#tests.push(test);
  }

  area(deepBounds?: BigInt64Array): Area {
    return new Area(Float64Array.from(this.#bounds), undefined, this.#tests, undefined, deepBounds);
  }
}

/** Whether a position's pixel at order 29 is in one of the ranges of pairs [first, end). */
function deepTest(bounds: BigInt64Array): PositionTest {
  return (ra, dec) => isWithin(bounds, pixel29(ra, dec));
}

/** Bits of an order-29 pixel below its order-16 pixel. */
const DEEP_BITS = 26;

/**
 * The area of ranges [first, end) of order-29 pixels, in any order; they may overlap. A position is inside if its pixel
 * at order 29 is. The generator yields when other work may run.
 * @param firsts is sorted
 * @param ends is sorted
 */
export function* areaOfRanges(firsts: BigInt64Array, ends: BigInt64Array): Generator<undefined, Area, undefined> {
  firsts.sort();
  yield;
  ends.sort();
  yield;
  const bounds = yield* union(firsts, ends);
  const test = deepTest(bounds);
  const ranges = new RangeList();
  for (let i = 0; i < bounds.length; i += 2) {
    if (i % RANGES_A_YIELD === 0) yield;
    const first = Number(bounds[i]! >> BigInt(DEEP_BITS));
    const end = Number(bounds[i + 1]! >> BigInt(DEEP_BITS));
    const firstWhole = isAligned(bounds[i]!) ? first : first + 1;
    // Two ranges may each contain a part of the same pixel. That pixel is then tested against both.
    if (firstWhole > first) ranges.add({ first, end: first + 1, test });
    ranges.add({ first: firstWhole, end, test: undefined });
    if (end >= firstWhole && !isAligned(bounds[i + 1]!)) ranges.add({ first: end, end: end + 1, test });
  }
  return ranges.area(bounds);
}

/** Merges ranges into the fewest ranges that cover the same pixels, as pairs. Both `firsts` and `ends` must ascend. */
function* union(firsts: BigInt64Array, ends: BigInt64Array): Generator<undefined, BigInt64Array, undefined> {
  const bounds = new BigInt64Array(2 * ends.length);
  let length = 0;
  for (let opened = 0, closed = 0; closed < ends.length; closed++) {
    if (closed % RANGES_A_YIELD === 0) yield;
    if (opened === closed) bounds[length++] = firsts[opened]!;
    while (opened < firsts.length && firsts[opened]! <= ends[closed]!) opened++;
    if (opened === closed + 1) bounds[length++] = ends[closed]!;
  }
  return bounds.subarray(0, length);
}

function isAligned(pixel: bigint): boolean {
  return BigInt.asUintN(DEEP_BITS, pixel) === 0n;
}

function isWithin(bounds: BigInt64Array, pixel: bigint): boolean {
  let low = 0;
  let high = bounds.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (bounds[middle]! <= pixel) low = middle + 1;
    else high = middle;
  }
  return low % 2 === 1;
}

/** A shape with an edge. Each pixel sees a part of that edge. */
export interface Shape<Part> {
  readonly whole: Part;
  /**
   * The part of the shape that matters in the disc of a pixel; this disc lies within the disc of `around`. A boolean if
   * the pixel's disc is wholly inside or outside the shape.
   * @param radius radians
   */
  partAt(centre: Vector, radius: number, around: Part): Part | boolean;
  testOf(part: Part): PositionTest;
}

/** The limit on pixels that the edge of a shape crosses, because many positions are tested against each of them. */
const ENOUGH_CUT = 1024;
/** The number of ranges and of pixels that are processed between two yields. */
const RANGES_A_YIELD = 1024;
const PIXELS_A_YIELD = 64;

interface Cell<Part> {
  readonly face: number;
  readonly x: number;
  readonly y: number;
  readonly part: Part;
}

/**
 * The area of a shape: the largest possible pixels inside it, and the pixels that its edge crosses, divided as long as
 * this saves work later. A pixel that is up to
 * its own size away from the edge may be among them. The generator yields when other work may run.
 * @param enough once the edge crosses more pixels than this, no pixel is divided further
 * @param maxOrder the order of the smallest pixels, 0 to 16
 */
export function* areaOfShape<Part>(
  shape: Shape<Part>,
  enough = ENOUGH_CUT,
  maxOrder = MAX_AREA_ORDER,
): Generator<undefined, Area, undefined> {
  return (yield* divided(shape, enough, maxOrder, false))!;
}

/**
 * The pixels of an order that a shape touches, as far as `DEEPER` orders and `MAX_SEARCHED` cells tell; undefined if its
 * edge crosses more than `maxCut` of them. The generator yields as `areaOfShape` does.
 */
export function touchedPixels<Part>(
  shape: Shape<Part>,
  maxCut: number,
  order: number,
): Generator<undefined, Area | undefined, undefined> {
  return divided(shape, maxCut, order, true);
}

function* divided<Part>(
  shape: Shape<Part>,
  enough: number,
  maxOrder: number,
  isTouched: boolean,
): Generator<undefined, Area | undefined, undefined> {
  const ranges: Range[] = [];
  let cut: Cell<Part>[] = Array.from({ length: 12 }, (_, face) => ({ face, x: 0, y: 0, part: shape.whole }));
  let looked = 0;
  for (let order = 0; ; order++) {
    const radius = maxCellRadius(order);
    const seen: Cell<Part>[] = [];
    for (const { face, x: parentX, y: parentY, part: around } of cut)
      for (let child = 0; child < (order === 0 ? 1 : 4); child++) {
        if (++looked % PIXELS_A_YIELD === 0) yield;
        const x = 2 * parentX + (child & 1);
        const y = 2 * parentY + (child >> 1);
        const part = shape.partAt(cellVector(order, face, x, y), radius, around);
        if (typeof part !== 'boolean') {
          if (seen.push({ face, x, y, part }) > enough && isTouched) return undefined;
        } else if (part) ranges.push(rangeOf(order, face, x, y, undefined));
      }
    cut = seen;
    if (cut.length > enough || order === maxOrder || cut.length === 0) {
      const left = { cells: isTouched ? MAX_SEARCHED : 0 };
      for (const cell of cut) {
        if (++looked % PIXELS_A_YIELD === 0) yield;
        const { face, x, y, part } = cell;
        if (reaches(shape, order, cell, left)) ranges.push(rangeOf(order, face, x, y, shape.testOf(part)));
      }
      const list = new RangeList();
      for (const range of ranges.sort((a, b) => a.first - b.first)) list.add(range);
      return list.area();
    }
  }
}

/** The number of orders to which a cut pixel is divided to find a position in a shape. */
const DEEPER = 10;
/** The maximum number of cells that are searched for that, in one pixel and in all pixels of an area. */
const MAX_SEARCHED_IN_PIXEL = 1000;
const MAX_SEARCHED = 100_000;

/**
 * Whether a shape has a position in a pixel whose disc its edge crosses; true if the search ends before that is known.
 * @param left the number of cells that may be searched
 */
function reaches<Part>(shape: Shape<Part>, order: number, cell: Cell<Part>, left: { cells: number }): boolean {
  const cells = [{ ...cell, order }];
  for (let searched = 0; cells.length > 0; searched++) {
    if (searched === MAX_SEARCHED_IN_PIXEL || left.cells-- <= 0) return true;
    const { order: own, face, x, y, part: around } = cells.pop()!;
    const { ra, dec } = cellPlace(own, face, x, y);
    const part = shape.partAt(vectorOf(ra, dec), maxCellRadius(own), around);
    if (part === false) continue;
    if (part === true || shape.testOf(part)(ra, dec) || own === order + DEEPER) return true;
    for (let child = 0; child < 4; child++)
      cells.push({ order: own + 1, face, x: 2 * x + (child & 1), y: 2 * y + (child >> 1), part });
  }
  return false;
}

function rangeOf(order: number, face: number, x: number, y: number, test: PositionTest | undefined): Range {
  const pixels = 4 ** (MAX_AREA_ORDER - order);
  const first = pixelOfDeepCell(order, face, x, y) * pixels;
  return { first, end: first + pixels, test };
}

/** Pixels of a probability map. Each has its own order, 0 to 16, and none overlap. All columns have the same length. */
export interface ProbabilityPixels {
  /** Pairs: the first pixel at order 16, and the pixel after the last one. */
  readonly firsts: Float64Array;
  readonly ends: Float64Array;
  /** Probability per steradian, or a value in proportion to it: at least 0. */
  readonly density: Float64Array;
  /**
   * For the whole map, the sum of density times area, in pixels of order 16. The pixels here may omit less dense ones.
   */
  readonly total?: number;
}

/**
 * The densest pixels of a map that together have at most a given share of its probability. The level of a pixel is the
 * share of all pixels that are at least as dense. Pixels with density 0 are omitted. The generator yields when other
 * work may run.
 *
 * @param level above 0, at most 1
 * @throws RangeError if pixels overlap
 */
export function* areaOfProbability(
  { firsts, ends, density, total: stated }: ProbabilityPixels,
  level: number,
): Generator<undefined, Area, undefined> {
  const items = new Uint32Array(firsts.length);
  for (let i = 0; i < items.length; i++) items[i] = i;
  const bySky = yield* sortedBy(firsts, items);
  for (let at = 1; at < bySky.length; at++)
    if (firsts[bySky[at]!]! < ends[bySky[at - 1]!]!) throw new RangeError('pixels of the map overlap');
  const byDensity = yield* sortedBy(density, bySky);
  const probability = (i: number) => density[i]! * (ends[i]! - firsts[i]!);
  const total = stated ?? byDensity.reduce((sum, i) => sum + probability(i), 0);
  if (total === Number.POSITIVE_INFINITY) throw new RangeError('its probability densities are too large to be added');
  yield;
  const levels = new Float64Array(density.length);
  let sum = 0;
  for (let next = byDensity.length - 1, inside = next; next >= 0; ) {
    const dense = density[byDensity[next]!]!;
    if (dense === 0) break;
    for (; next >= 0 && density[byDensity[next]!] === dense; next--) sum += probability(byDensity[next]!);
    // Because of rounding, the sum of all pixels may be slightly larger than the total.
    const share = Math.min(1, sum / total);
    if (share > level) break;
    for (; inside > next; inside--) levels[byDensity[inside]!] = share;
  }
  yield;
  const inside = bySky.filter(i => levels[i]! > 0);
  yield;
  const merged = boundsOf(inside, firsts, ends, true);
  // Pixels of one level are sorted along the sky.
  const order = yield* sortedBy(levels, inside);
  const bounds = boundsOf(order, firsts, ends, false);
  yield;
  const ordered = new Float64Array(order.length);
  for (let at = 0; at < order.length; at++) ordered[at] = levels[order[at]!]!;
  return new Area(bounds, ordered, [], merged);
}

/** Pairs [first, end) in the given order. When merging, pairs that touch become one. */
function boundsOf(order: Uint32Array, firsts: Float64Array, ends: Float64Array, isMerged: boolean): Float64Array {
  const bounds = new Float64Array(2 * order.length);
  let length = 0;
  for (const i of order) {
    if (isMerged && length > 0 && bounds[length - 1] === firsts[i]) length--;
    else bounds[length++] = firsts[i]!;
    bounds[length++] = ends[i]!;
  }
  return bounds.subarray(0, length);
}

const DIGIT_VALUES = 65536;
const ITEMS_A_YIELD = 32_768;
/** For so few items, the counts of digits take longer than the built-in sort. */
const FEW_ITEMS = 1024;

/**
 * Sorts items by ascending key (doubles of at least 0), stably. A radix sort, because the built-in sort cannot yield,
 * and a sort with a comparison function is ten times slower.
 */
export function* sortedBy(keys: Float64Array, items: Uint32Array): Generator<undefined, Uint32Array, undefined> {
  if (items.length <= FEW_ITEMS) return items.toSorted((a, b) => keys[a]! - keys[b]!);
  // Non-negative doubles sort like their bits.
  const digits = new Uint16Array(keys.buffer, keys.byteOffset, 4 * keys.length);
  let from = items;
  for (let digit = 0; digit < 4; digit++) {
    const starts = new Uint32Array(DIGIT_VALUES + 1);
    for (let at = 0; at < from.length; at++) {
      if (at % ITEMS_A_YIELD === 0) yield;
      starts[digits[4 * from[at]! + digit]! + 1]!++;
    }
    for (let value = 0; value < DIGIT_VALUES; value++) starts[value + 1]! += starts[value]!;
    const to = new Uint32Array(from.length);
    for (let at = 0; at < from.length; at++) {
      if (at % ITEMS_A_YIELD === 0) yield;
      to[starts[digits[4 * from[at]! + digit]!]!++] = from[at]!;
    }
    from = to;
  }
  return from;
}
