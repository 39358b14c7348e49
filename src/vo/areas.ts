/** Areas as clients give them: MOCs (FITS, JSON, ASCII), circles and polygons (DALI 1.1, ADQL 2.1), maps of probability. */
import {
  type Area,
  areaOfProbability,
  areaOfRanges,
  areaOfShape,
  circle,
  type ProbabilityPixels,
  polygon,
  type Shape,
} from '../../index/mod.ts';
import { DEFAULT_CREDIBLE_LEVEL, MAX_POLYGON_VERTICES } from '../contract/limits.ts';
import { AreaError, invalidArea } from './area_error.ts';
import { readAreaFits } from './area_fits.ts';
import { MocRanges } from './moc_ranges.ts';

export type AreaKind = 'circle' | 'polygon' | 'moc' | 'probability_map';

export interface ReadArea {
  readonly kind: AreaKind;
  /** The share of a map of probability; null for other areas. */
  readonly level: number | null;
  readonly area: Area;
}

/** Enough for the vertices that a polygon may have. */
const MAX_SHAPE_CHARACTERS = 64 * MAX_POLYGON_VERTICES;
/** The cells that are read between two moments to yield. */
const CELLS_A_YIELD = 1024;

type Reading<T> = Generator<undefined, T, undefined>;

/**
 * The area that bytes describe. Each value that it yields is a moment to let others go ahead.
 * @param level for a map of probability, the share that the area is to hold: above 0, at most 1
 * @throws AreaError
 */
export function* readArea(bytes: Uint8Array, level: number | undefined): Reading<ReadArea> {
  const isFits = latin1(bytes.subarray(0, 9)) === 'SIMPLE  =';
  const share = level ?? DEFAULT_CREDIBLE_LEVEL;
  const read = isFits ? yield* readAreaFits(bytes, share) : yield* readAreaText(latin1(bytes).trim());
  if (!(read instanceof MocRanges || 'whole' in read)) {
    return { kind: 'probability_map', level: share, area: yield* regionOf(read, share) };
  }
  if (level !== undefined)
    throw new AreaError('Cannot take a level because the area is no map of probability: leave out level', 'level');
  if (read instanceof MocRanges) return { kind: 'moc', level: null, area: yield* areaOfRanges(read.firsts, read.ends) };
  return { kind: read.kind, level: null, area: yield* areaOfShape(read as Shape<unknown>) };
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
}

function* regionOf(pixels: ProbabilityPixels, share: number): Reading<Area> {
  try {
    return yield* areaOfProbability(pixels, share);
  } catch (error) {
    throw error instanceof RangeError ? invalidArea(error.message) : error;
  }
}

type NamedShape = Shape<unknown> & { readonly kind: 'circle' | 'polygon' };

function* readAreaText(text: string): Reading<MocRanges | NamedShape> {
  if (text.startsWith('{')) return yield* mocOfJson(text);
  const [, name, rest] = /^(circle|polygon)\b(.*)$/is.exec(text) ?? [];
  if (name === undefined) return yield* mocOfText(text);
  if (rest!.length > MAX_SHAPE_CHARACTERS)
    throw invalidArea(`a ${name} must have at most ${MAX_SHAPE_CHARACTERS} characters`);
  return shapeOf(name.toLowerCase() as NamedShape['kind'], numbersOf(name, rest!));
}

/** The numbers of a shape, which may have parentheses around them, and a frame before: `CIRCLE('ICRS', 10, 20, 1)`. */
function numbersOf(name: string, text: string): number[] {
  const [, inner] = /^\s*\((.*)\)$/s.exec(text) ?? [undefined, text];
  const [first = '', ...others] = inner!.trim().split(/\s*,\s*|\s+/);
  const texts = /^'?(?:icrs|)'?$/i.test(first) ? others : [first, ...others];
  if (texts.length > 2 * MAX_POLYGON_VERTICES)
    throw invalidArea(`a polygon must have at most ${MAX_POLYGON_VERTICES} vertices (${texts.length / 2} were given)`);
  return texts.map(text => {
    const value = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text) ? Number(text) : Number.NaN;
    if (Number.isFinite(value)) return value;
    throw invalidArea(
      `a ${name} is made of decimal numbers, degrees in ICRS (${text.slice(0, 64) || 'nothing'} was given)`,
    );
  });
}

function shapeOf(kind: NamedShape['kind'], numbers: readonly number[]): NamedShape {
  try {
    return { ...(kind === 'circle' ? circleOf(numbers) : polygonOf(numbers)), kind } as NamedShape;
  } catch (error) {
    throw error instanceof RangeError ? invalidArea(error.message) : error;
  }
}

function circleOf(numbers: readonly number[]): Shape<unknown> {
  if (numbers.length !== 3) throw invalidArea(`a circle has 3 numbers: ra, dec, radius (${numbers.length} were given)`);
  const [ra, dec, radius] = numbers as [number, number, number];
  if (!(radius >= 0 && radius <= 180)) throw invalidArea(`a radius must be 0 to 180 degrees (${radius} was given)`);
  return circle(ra, dec, 3600 * radius) as Shape<unknown>;
}

function polygonOf(numbers: readonly number[]): Shape<unknown> {
  if (numbers.length % 2 === 1)
    throw invalidArea(`a polygon has pairs of ra and dec (${numbers.length} numbers were given)`);
  const vertices = Array.from(
    { length: numbers.length / 2 },
    (_, i) => [numbers[2 * i]!, numbers[2 * i + 1]!] as const,
  );
  return polygon(vertices) as Shape<unknown>;
}

/** MOC 2.0, section 4.3.1: `3/1-5,7 10/123`. */
function* mocOfText(text: string): Reading<MocRanges> {
  const ranges = new MocRanges();
  const token = /\s*(?:s?(\d{1,2})\/|(\d{1,19})(?:-(\d{1,19}))?(?=[\s,]|$))[\s,]*/y;
  let order: number | undefined;
  for (let n = 0; token.lastIndex < text.length; n++) {
    if (n % CELLS_A_YIELD === 0) yield;
    const at = token.lastIndex;
    const found = token.exec(text);
    const [, newOrder, first, last = first] = found ?? [];
    if (newOrder !== undefined) order = Number(newOrder);
    else if (first === undefined || order === undefined)
      throw invalidArea(
        `it is no FITS file and no JSON, and as a text it must be CIRCLE, POLYGON, or a MOC such as 3/1-5 7 (${text.slice(at, at + 32)} was found)`,
      );
    else ranges.add(order, BigInt(first), BigInt(last!));
  }
  if (order === undefined) throw invalidArea('it is empty: give a circle, a polygon, a MOC or a map of probability');
  return ranges;
}

/** MOC 2.0, section 4.3.2: `{"3":[1,2]}`. Read in steps: `JSON.parse` may hold up others for a second. */
function* mocOfJson(text: string): Reading<MocRanges> {
  const ranges = new MocRanges();
  const listToken = /(?:^\{|,)\s*"(\d{1,2})"\s*:\s*\[\s*(\]?)\s*/y;
  const cellToken = /(\d{1,19})\s*(?:,\s*(?=\d)|(\])\s*)/y;
  let at = /^\{\s*\}$/.test(text) ? text.length - 1 : 0;
  let order: number | undefined;
  for (let n = 0; order !== undefined || text.slice(at, at + 2) !== '}'; n++) {
    if (n % CELLS_A_YIELD === 0) yield;
    const token = order === undefined ? listToken : cellToken;
    token.lastIndex = at;
    const [, digits, end] = token.exec(text) ?? [];
    if (digits === undefined)
      throw invalidArea(
        `a MOC in JSON has a list of cells for each order: {"3": [1, 2]} (${text.slice(at, at + 32)} was found)`,
      );
    at = token.lastIndex;
    if (order === undefined) order = Number(digits);
    else ranges.add(order, BigInt(digits), BigInt(digits));
    if (end) order = undefined;
  }
  return ranges;
}
