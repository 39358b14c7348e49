/** Reads areas in the forms that clients send: MOCs (FITS, JSON, ASCII), shapes as text, and probability maps. */

import { readFileSync } from 'node:fs';
import { isFits } from '@nearsky/astrotables/fits';
import {
  type Area,
  areaOfProbability,
  areaOfRanges,
  areaOfShape,
  type ProbabilityPixels,
} from '@nearsky/sky-index/areas';
import { AreaError, invalidArea } from '../../core/base/area_error.ts';
import { DEFAULT_CREDIBLE_LEVEL } from '../../core/contract/limits.ts';
import { type FitsArea, readAreaFits } from './area_fits.ts';
import { FlatMap } from './flat_map.ts';
import { MocRanges } from './moc_ranges.ts';
import { type NamedShape, readShapeText } from './shape_text.ts';

export type AreaKind = NamedShape['kind'] | 'moc' | 'probability_map';

export interface ReadArea {
  readonly kind: AreaKind;
  /** The fraction of a probability map's probability; null for other areas. */
  readonly level: number | null;
  readonly area: Area;
}

/** The number of cells that are read between two yields. */
const CELLS_A_YIELD = 1024;

type Reading<T> = Generator<undefined, T, undefined>;

/**
 * Reads an area from bytes, or from a map that has received its rows. Other work can run at each yield.
 * @param level for a probability map, the fraction of the probability that the area must contain: above 0, at most 1.
 * For other areas, only the default is allowed
 * @throws AreaError
 */
export function* readArea(sent: Uint8Array | FlatMap, level = DEFAULT_CREDIBLE_LEVEL): Reading<ReadArea> {
  const read = yield* contentOf(sent, level);
  if (!(read instanceof MocRanges || 'whole' in read)) {
    return { kind: 'probability_map', level, area: yield* regionOf(read, level) };
  }
  if (level !== DEFAULT_CREDIBLE_LEVEL)
    throw new AreaError('Cannot use level because the area is not a probability map: leave out level', 'level');
  if (read instanceof MocRanges) return { kind: 'moc', level: null, area: yield* areaOfRanges(read.firsts, read.ends) };
  return { kind: read.kind, level: null, area: yield* areaOfShape(read) };
}

function* contentOf(sent: Uint8Array | FlatMap, level: number): Reading<FitsArea | NamedShape> {
  if (sent instanceof FlatMap) return yield* sent.pixels(level);
  return isFits(sent) ? yield* readAreaFits(sent, level) : yield* readAreaText(latin1(sent).trim());
}

/** The text of a shape, trimmed, if the bytes are one. @throws AreaError */
export function shapeTextIn(sent: Uint8Array): string | undefined {
  const text = isFits(sent) ? '' : latin1(sent).trim();
  return readShapeText(text) && text;
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

function* readAreaText(text: string): Reading<MocRanges | NamedShape> {
  if (text.startsWith('{')) return yield* mocOfJson(text);
  return readShapeText(text) ?? (yield* mocOfText(text));
}

/** Reads a MOC in ASCII (MOC 2.0, section 4.3.1): `3/1-5,7 10/123`. */
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
        `it is neither FITS nor JSON, and text must be CIRCLE, POLYGON, BOX, RANGE, or a MOC such as 3/1-5 7 (${text.slice(at, at + 32)} was found)`,
      );
    else ranges.add(order, BigInt(first), BigInt(last!));
  }
  if (order === undefined) throw invalidArea('it is empty: give a circle, a polygon, a MOC or a probability map');
  return ranges;
}

/**
 * Reads a MOC in JSON (MOC 2.0, section 4.3.2): `{"3":[1,2]}`. It is read in steps, because `JSON.parse` could block
 * other work for a second.
 */
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
        `a MOC in JSON must have a list of cells for each order: {"3": [1, 2]} (${text.slice(at, at + 32)} was found)`,
      );
    at = token.lastIndex;
    if (order === undefined) order = Number(digits);
    else ranges.add(order, BigInt(digits), BigInt(digits));
    if (end) order = undefined;
  }
  return ranges;
}

/**
 * Reads an area of the sky from a file named in a command.
 * @throws AreaError
 */
export function areaIn(file: string): Area {
  const reading = readArea(readFileSync(file));
  for (let part = reading.next(); ; part = reading.next()) if (part.done) return part.value.area;
}
