/** Multi-Order Coverage maps as ranges of HEALPix pixels at order 29, NESTED. */
import { AdqlError } from './adql_error.ts';

/** A range [first, end) of pixels. */
export type PixelRange = readonly [first: bigint, end: bigint];

const MAX_ORDER = 29;
/** The maximum number of ranges, which become SQL text. */
const MAX_RANGES = 5000;

/**
 * The ranges of a MOC in ASCII, `4/0-3,5 6/100`, ascending, with gaps between them.
 * @throws AdqlError
 */
export function mocRanges(text: string, at: number): readonly PixelRange[] {
  const ranges: [bigint, bigint][] = [];
  let order: number | undefined;
  for (const [word] of text.matchAll(/[^\s,]+/g)) {
    const [, own, first, last = first] = /^(?:(\d{1,2})\/)?(?:(\d{1,19})(?:-(\d{1,19}))?)?$/.exec(word) ?? [];
    if (own !== undefined) order = Number(own);
    if (order === undefined || order > MAX_ORDER || (own ?? first) === undefined) throw wrongMoc(word, at);
    if (first === undefined) continue;
    const [a, b, shift] = [BigInt(first), BigInt(last!), BigInt(2 * (MAX_ORDER - order))];
    if (a > b || b >= 12n << BigInt(2 * order)) throw wrongMoc(word, at);
    ranges.push([a << shift, (b + 1n) << shift]);
  }
  return merged(ranges, at);
}

/** The ranges of the pixels of an order that the given ranges touch. */
export function degraded(ranges: readonly PixelRange[], order: number, at: number): readonly PixelRange[] {
  const shift = BigInt(2 * (MAX_ORDER - order));
  return merged(
    ranges.map(([first, end]) => [(first >> shift) << shift, (((end - 1n) >> shift) + 1n) << shift]),
    at,
  );
}

/** Sorts and merges ranges, so that gaps lie between them. */
function merged(ranges: [bigint, bigint][], at: number): readonly PixelRange[] {
  const merged: [bigint, bigint][] = [];
  for (const [first, end] of ranges.sort((a, b) => (a[0] < b[0] ? -1 : 1))) {
    const before = merged.at(-1);
    if (before && first <= before[1]) before[1] = end > before[1] ? end : before[1];
    else merged.push([first, end]);
  }
  if (merged.length > MAX_RANGES)
    throw new AdqlError(at, `a MOC has at most ${MAX_RANGES} ranges of pixels (this one has ${merged.length})`);
  return merged;
}

function wrongMoc(word: string, at: number): AdqlError {
  return new AdqlError(at, `a MOC is written as '4/0-3,5 6/100', with orders 0 to 29, not as ${word.slice(0, 40)}`);
}

/** The condition that a pixel lies in one of the ranges, as a binary search. */
export function pixelIn(pixel: string, ranges: readonly PixelRange[]): string {
  if (ranges.length === 0) return `(${pixel} < 0)`;
  if (ranges.length <= 2)
    return `(${ranges.map(([first, end]) => `${pixel} BETWEEN ${first}::BIGINT AND ${end - 1n}::BIGINT`).join(' OR ')})`;
  const middle = ranges.length >> 1;
  const [low, high] = [ranges.slice(0, middle), ranges.slice(middle)].map(half => pixelIn(pixel, half));
  return `(CASE WHEN ${pixel} < ${ranges[middle]![0]}::BIGINT THEN ${low} ELSE ${high} END)`;
}

/** Square degrees. */
export function mocArea(ranges: readonly PixelRange[]): number {
  const pixels = ranges.reduce((sum, [first, end]) => sum + (end - first), 0n);
  return (4 * Math.PI * (180 / Math.PI) ** 2 * Number(pixels)) / (12 * 4 ** MAX_ORDER);
}
