/**
 * Reads shapes from text: DALI 1.1 (`CIRCLE 10 20 1`), ADQL 2.1 (`CIRCLE('ICRS', 10, 20, 1)`) and STC-S (`Circle ICRS
 * 10 20 1`).
 */

import { type Frame, FrameError, frameOf, ICRS, isSameFrame, type ToIcrs, toIcrs } from '@nearsky/astrotables/frames';
import { wrapRa } from '@nearsky/sky-index';
import { boxCorners, circle, polygon, range, type Shape } from '@nearsky/sky-index/areas';
import { invalidArea } from '../../core/base/area_error.ts';
import { MAX_POLYGON_VERTICES } from '../../core/contract/limits.ts';

export type NamedShape = Shape<unknown> & { readonly kind: 'circle' | 'polygon' | 'box' | 'range' };

/** The maximum length of the text. It is enough for a polygon with the maximum number of vertices. */
const MAX_CHARACTERS = 64 * MAX_POLYGON_VERTICES;
/** The number of coordinates of each shape, after the frame. */
const NUMBERS: Readonly<Record<Exclude<NamedShape['kind'], 'polygon'>, string>> = {
  circle: 'ra, dec, radius',
  box: 'ra, dec, width, height',
  range: 'ra1, ra2, dec1, dec2',
};
/** The reference position in STC-S. It is ignored, because it does not change directions. */
const REFERENCE_POSITION = /\s*\b(?:barycenter|geocenter|heliocenter|topocenter|unknownrefpos|spherical2)\b/gi;

/**
 * Reads a shape. Undefined if the text is not a shape.
 * @throws AreaError
 */
export function readShapeText(text: string): NamedShape | undefined {
  const [, name, rest] = /^(circle|polygon|box|range)\b(.*)$/is.exec(text) ?? [];
  if (name === undefined) return undefined;
  if (rest!.length > MAX_CHARACTERS) throw invalidArea(`a ${name} must have at most ${MAX_CHARACTERS} characters`);
  const kind = name.toLowerCase() as NamedShape['kind'];
  const [, inner = rest!] = /^\s*\((.*)\)$/s.exec(rest!) ?? [];
  const [head, quoted, words] = /^\s*(?:'([^']*)'|((?:(?!inf|nan)[a-z]\w*\b(?:\.\d*)?\s*)*))[\s,]*/i.exec(inner)!;
  const frame = shapeFrame(quoted ?? words!);
  const numbers = numbersOf(kind, inner.slice(head.length).trim());
  try {
    return { ...shapeOf(kind, numbers, frame), kind };
  } catch (error) {
    throw error instanceof RangeError ? invalidArea(error.message) : error;
  }
}

/** The frame of a shape. FK4 is refused, because its aberration would distort circles. */
function shapeFrame(text: string): Frame {
  const name = text.replace(REFERENCE_POSITION, '').trim();
  try {
    const frame = name === '' ? ICRS : frameOf(name);
    if (frame.system !== 'FK4') return frame;
  } catch (error) {
    if (!(error instanceof FrameError)) throw error;
  }
  throw invalidArea(
    `the frame of a shape must be ICRS, FK5 or GALACTIC (${text.slice(0, 64)} was given): convert it to ICRS`,
  );
}

function numbersOf(kind: NamedShape['kind'], text: string): number[] {
  const texts = text === '' ? [] : text.split(/\s*,\s*|\s+/);
  if (texts.length > 2 * MAX_POLYGON_VERTICES)
    throw invalidArea(`a polygon must have at most ${MAX_POLYGON_VERTICES} vertices (${given(texts.length / 2)})`);
  const numbers = texts.map(each => {
    const infinity = kind === 'range' && /^([+-]?)inf(?:inity)?$/i.exec(each);
    if (infinity) return infinity[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
    const value = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(each) ? Number(each) : Number.NaN;
    if (Number.isFinite(value)) return value;
    throw invalidArea(`a ${kind} must have decimal numbers, in degrees (${each.slice(0, 64) || 'nothing'} was given)`);
  });
  if (kind === 'polygon') {
    if (numbers.length % 2 === 0) return numbers;
    throw invalidArea(`a polygon must have pairs of ra and dec (${given(numbers.length, 'number')})`);
  }
  const names = NUMBERS[kind];
  const wanted = names.split(',').length;
  if (numbers.length === wanted) return numbers;
  throw invalidArea(`a ${kind} has ${wanted} numbers: ${names} (${given(numbers.length)})`);
}

/** @throws RangeError */
function shapeOf(kind: NamedShape['kind'], numbers: readonly number[], frame: Frame): Shape<unknown> {
  const convert = placesIn(frame);
  const [first, second, third, fourth] = numbers as [number, number, number, number];
  switch (kind) {
    case 'circle':
      if (!(third >= 0 && third <= 180)) throw new RangeError(`a radius must be 0 to 180 degrees (${third} was given)`);
      return circle(...convert(first, second), 3600 * third) as Shape<unknown>;
    case 'polygon': {
      const vertices = Array.from(
        { length: numbers.length / 2 },
        (_, i) => [numbers[2 * i]!, numbers[2 * i + 1]!] as const,
      );
      return polygon(vertices.map(([lon, lat]) => convert(lon, lat))) as Shape<unknown>;
    }
    case 'box':
      return polygon(boxCorners(first, second, third, fourth).map(([lon, lat]) => convert(lon, lat))) as Shape<unknown>;
    case 'range':
      if (!isSameFrame(frame, ICRS)) throw new RangeError('a RANGE must be in ICRS: send a POLYGON instead');
      return range(first, second, third, fourth) as Shape<unknown>;
  }
}

/** Converts positions in a frame to ICRS. Any finite longitude is allowed; it is taken modulo 360. */
function placesIn(frame: Frame): ToIcrs {
  const convert = toIcrs(frame);
  return (lon, lat) => {
    if (!(lat >= -90 && lat <= 90)) throw new RangeError(`dec must be -90 to 90 degrees (${lat} was given)`);
    return convert(wrapRa(lon), lat);
  };
}

/**
 * A number of things, worded for a message: `1 was given`, `2 numbers were given`.
 * @param what the singular noun; undefined to omit it
 */
function given(count: number, what?: string): string {
  const noun = what === undefined ? '' : ` ${what}${count === 1 ? '' : 's'}`;
  return `${count}${noun} ${count === 1 ? 'was' : 'were'} given`;
}
