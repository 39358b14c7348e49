/** The functions of shapes and positions. */
import { degreesIn } from '@nearsky/astrotables/frames';
import { pixel29, pixelCentre } from '@nearsky/sky-index';
import { circle as skyCircle } from '@nearsky/sky-index/areas';
import { AdqlError, given } from './adql_error.ts';
import { boxVertices, checkedPosition, polygonArea, polygonCentroid, polygonOf, Sky } from './geometry.ts';
import { degraded, mocArea, mocRanges, type PixelRange } from './moc.ts';
import { arithmetic } from './operators.ts';
import { isConstant, pixelOf, position } from './positions.ts';
import type { Joined } from './rewrites.ts';
import { conversion, isOtherThanDegrees } from './units.ts';
import {
  as,
  asShape,
  type Circle,
  constantNumber,
  described,
  double,
  nullUnless,
  numberOf,
  type Operand,
  type Point,
  type Polygon,
  pointOf,
  polygonShape,
  quoted,
  type Shape,
  textOf,
  type Value,
  value,
} from './values.ts';

/** A function and its position in the query. */
type Call = { readonly at: number; readonly name: string };

/** The shapes of one query, whose arguments are already translated. */
export class Shapes {
  readonly sky = new Sky();
  readonly #icrsHint: string | undefined;

  constructor(icrsHint: string | undefined) {
    this.#icrsHint = icrsHint;
  }

  #pointAt(at: number, ra: Operand, dec: Operand): Point {
    const hint = this.#icrsHint === undefined ? '' : `: ${this.#icrsHint}`;
    for (const operand of [ra, dec]) {
      const about = operand.kind === 'value' ? operand.column?.about : undefined;
      if (about?.frame !== undefined)
        throw new AdqlError(
          operand.at,
          `positions are in ICRS, and ${about.name.slice(0, 64)} is a coordinate in ${about.frame}${hint}`,
        );
    }
    const point: Point = {
      kind: 'point',
      at,
      ra: degreesOf(ra, 'a right ascension'),
      dec: degreesOf(dec, 'a declination'),
    };
    if (point.dec.constant !== undefined) checkedPosition(constantNumber(at, 0), point.dec);
    return point;
  }

  /** Two points, or the four numbers of two. */
  points(at: number, args: readonly Operand[]): [Point, Point] {
    if (args.length === 2) return args.map(each => pointOf(each, 'an argument of DISTANCE')) as [Point, Point];
    if (args.length === 3) throw new AdqlError(at, 'DISTANCE takes two points, or four numbers');
    return [this.#pointAt(at, args[0]!, args[1]!), this.#pointAt(at, args[2]!, args[3]!)];
  }

  /** The condition of CONTAINS or INTERSECTS. */
  predicate({ at, name }: Call, args: readonly Operand[], filtered: Joined | undefined): string {
    const shapes = args.map(each => shapeOperand(name, each));
    const [first, second] = shapes as [Shape, Shape];
    const isMutual = name === 'INTERSECTS';
    if (first.kind === 'point') return this.#holds(second, first, filtered);
    if (isMutual && second.kind === 'point') return this.#holds(first, second, filtered);
    if (first.kind === 'circle' && second.kind === 'circle') {
      const reach = isMutual ? arithmetic(at, '+', second.radius, first.radius) : innerReach(at, second, first);
      return this.sky.within(first.centre, second.centre, reach, filtered);
    }
    if (first.kind === 'moc' || second.kind === 'moc' || second.kind === 'point')
      throw new AdqlError(
        at,
        second.kind === 'point' ? 'a POINT cannot contain another shape' : `${name} takes a MOC with a POINT alone`,
      );
    if (second.kind === 'polygon') return this.sky.polygonAnd(second, first, isMutual ? 'touches' : 'holds', filtered);
    if (isMutual) return this.sky.polygonAnd(first as Polygon, second, 'touches', filtered);
    return this.sky.circleHolds(second, first as Polygon);
  }

  #holds(shape: Shape, point: Point, filtered: Joined | undefined): string {
    if (shape.kind === 'polygon') return this.sky.inPolygon(point, shape, filtered);
    if (shape.kind === 'moc') return this.sky.inMoc(point, shape.ranges, filtered);
    const [centre, radius] =
      shape.kind === 'circle' ? [shape.centre, shape.radius] : [shape, constantNumber(shape.at, 0)];
    return this.sky.within(point, centre, radius, filtered);
  }

  area(at: number, operand: Operand): Value {
    const shape = shapeOperand('AREA', operand);
    if (shape.kind === 'point') return constantNumber(at, 0);
    if (shape.kind === 'polygon') {
      const { vertices } = shape;
      return vertices ? constantNumber(at, polygonArea(vertices)) : value(at, this.sky.areaOfRow(shape), 'float64');
    }
    if (shape.kind === 'moc') return constantNumber(at, mocArea(shape.ranges));
    const sphere = constantNumber(at, 4 * Math.PI * (180 / Math.PI) ** 2).sql;
    const radius = double(shape.radius);
    const cap = `${sphere} * power(sin(radians(${radius}) / 2), 2)`;
    // A circle of a row may have a radius that none has.
    return value(at, nullUnless(`${radius} BETWEEN 0 AND 180`, cap), 'float64');
  }

  /** The pixel of a position; for a table's own position, the stored column. */
  healpixIndex(at: number, [order, ...place]: readonly [Operand, ...Operand[]]): Value {
    const shift = 2 * (29 - healpixOrder(order));
    const point = place.length === 1 ? pointOf(place[0]!, 'the position') : this.#pointAt(at, place[0]!, place[1]!);
    const stored = pixelOf(point);
    if (!isConstant(point)) {
      // Rows without a position have the pixel -1.
      const pixel = stored ? `nullif(${stored}, -1)` : `adql_pixel(${position(point)})`;
      return value(at, `(${pixel} >> ${shift})`, 'int64');
    }
    const { ra, dec } = checkedPosition(point.ra, point.dec);
    const index = pixel29(ra, dec) >> BigInt(shift);
    const own = value(at, `${index}::BIGINT`, 'int64');
    return Number.isSafeInteger(Number(index)) ? { ...own, constant: Number(index) } : own;
  }

  healpixCentre(at: number, [order, pixel]: readonly [Operand, Operand]): Point {
    const level = healpixOrder(order);
    const index = numberOf(pixel, 'the pixel');
    if (index.type.startsWith('float')) throw new AdqlError(index.at, 'the pixel must be an integer');
    const { constant } = index;
    if (constant !== undefined && !(constant >= 0 && constant < 12 * 4 ** level))
      throw new AdqlError(index.at, `there is no pixel ${constant} of order ${level}`);
    if (constant !== undefined && level <= MAX_CONSTANT_ORDER) {
      const { ra, dec } = pixelCentre(level, constant);
      return { kind: 'point', at, ra: constantNumber(at, ra), dec: constantNumber(at, dec) };
    }
    const part = (i: number) => value(at, `adql_pixel_centre(${level}, ${as('int64', index)})[${i}]`, 'float64');
    return { kind: 'point', at, ra: part(1), dec: part(2) };
  }

  /** The arguments of a shape without its coordinate system, which must be ICRS if present. */
  #afterSystem(operands: readonly Operand[]): readonly Operand[] {
    const [first] = operands;
    if (first?.kind !== 'value' || first.text === undefined) return operands;
    if (!COORDINATE_SYSTEM.test(first.text.trim()))
      throw new AdqlError(first.at, "positions are in ICRS: leave the coordinate system out, or write 'ICRS'");
    return operands.slice(1);
  }

  /** POINT, CIRCLE, BOX, POLYGON or CENTROID. */
  shape({ at, name }: Call, operands: readonly Operand[]): Shape {
    return this.shapeOf(at, name, this.#afterSystem(operands));
  }

  /** A MOC literal, or the MOC of a shape. */
  moc(at: number, [operand, shape]: readonly [Operand, Operand | undefined]): Shape {
    if (shape) return this.#mocOf(at, healpixOrder(operand), shape);
    const { text, at: textAt } = textOf(operand, 'the argument of MOC');
    if (text === undefined) throw new AdqlError(textAt, "a MOC must be a constant, as in MOC('4/0-3,5 6/100')");
    return { kind: 'moc', at, ranges: mocRanges(text, textAt) };
  }

  /** The pixels of an order that a shape touches. */
  #mocOf(at: number, order: number, operand: Operand): Shape {
    const shape = shapeOperand('MOC', operand);
    const pixels = (ranges: readonly PixelRange[]): Shape => ({ kind: 'moc', at, ranges });
    if (shape.kind === 'moc') return pixels(degraded(shape.ranges, order, at));
    const centreOf = ({ ra, dec }: Point) => checkedPosition(fixed(ra), fixed(dec));
    if (shape.kind === 'point') {
      const { ra, dec } = centreOf(shape);
      const pixel = pixel29(ra, dec);
      return pixels(degraded([[pixel, pixel + 1n]], order, at));
    }
    if (order > MAX_CONSTANT_ORDER)
      throw new AdqlError(at, `the MOC of a shape has an order of at most ${MAX_CONSTANT_ORDER} (${order} was given)`);
    if (shape.kind === 'polygon') {
      if (!shape.vertices) throw sameForAll(shape.at);
      return pixels(this.sky.moc(polygonOf(shape.vertices, at), order, at));
    }
    const { ra, dec } = centreOf(shape.centre);
    return pixels(this.sky.moc(skyCircle(ra, dec, constantOf(shape.radius) * 3600), order, at));
  }

  shapeOf(at: number, name: string, args: readonly Operand[]): Shape {
    const wrong = (takes: string) => new AdqlError(at, `${name} takes ${takes}`);
    if (name === 'POINT') {
      if (args.length !== 2) throw wrong('a right ascension and a declination, degrees');
      return this.#pointAt(at, args[0]!, args[1]!);
    }
    if (name === 'CENTROID') {
      if (args.length !== 1) throw wrong('a shape');
      const of = shapeOperand(name, args[0]!);
      if (of.kind === 'point') return of;
      if (of.kind === 'circle') return of.centre;
      if (of.kind === 'moc') throw wrong('a POINT, CIRCLE, BOX or POLYGON');
      if (!of.vertices) throw sameForAll(of.at);
      const { ra, dec } = polygonCentroid(of.vertices);
      return { kind: 'point', at, ra: constantNumber(at, ra), dec: constantNumber(at, dec) };
    }
    if (name === 'POLYGON') return this.#polygon(at, args, wrong);
    const [centre, ...sizes] =
      args[0] && asShape(args[0])?.kind === 'point'
        ? [pointOf(args[0], 'the centre'), ...args.slice(1)]
        : args.length > 1
          ? [this.#pointAt(at, args[0]!, args[1]!), ...args.slice(2)]
          : [];
    if (name === 'CIRCLE') {
      if (!centre || sizes.length !== 1) throw wrong('a centre and a radius, degrees');
      const radius = degreesOf(sizes[0]!, 'the radius');
      if (radius.constant !== undefined && !(radius.constant >= 0 && radius.constant <= 180))
        throw new AdqlError(radius.at, `a radius must be 0 to 180 degrees (${radius.constant} was given)`);
      return { kind: 'circle', at, centre, radius };
    }
    if (!centre || sizes.length !== 2) throw wrong('a centre, a width and a height, degrees');
    const [width, height] = sizes.map(each => degreesOf(each, 'the size')) as [Value, Value];
    if (!isConstant(centre) || width.constant === undefined || height.constant === undefined)
      return {
        kind: 'polygon',
        at,
        corners: `adql_box(${position(centre)}, ${double(width)}, ${double(height)})`,
        count: 4,
      };
    const { ra, dec } = checkedPosition(centre.ra, centre.dec);
    return polygonShape(at, boxVertices(at, ra, dec, width.constant, height.constant));
  }

  #polygon(at: number, args: readonly Operand[], wrong: (takes: string) => AdqlError): Shape {
    const points = args.some(each => asShape(each)?.kind === 'point')
      ? args.map(each => pointOf(each, 'a vertex'))
      : Array.from({ length: Math.ceil(args.length / 2) }, (_, i) => {
          if (!args[2 * i + 1]) throw wrong('a right ascension and a declination per vertex');
          return this.#pointAt(at, args[2 * i]!, args[2 * i + 1]!);
        });
    if (points.length > MAX_VERTICES) throw wrong(`at most ${MAX_VERTICES} vertices (${given(points.length)})`);
    if (!points.every(isConstant)) {
      if (points.length < 3) throw wrong(`at least 3 vertices (${given(points.length)})`);
      const coordinates = points.flatMap(({ ra, dec }) => [double(ra), double(dec)]);
      for (const point of points) position(point);
      const isKnown = coordinates.map(each => `${each} IS NOT NULL`).join(' AND ');
      const corners = `(CASE WHEN ${isKnown} THEN [${coordinates.join(', ')}] END)`;
      return { kind: 'polygon', at, corners, count: points.length };
    }
    const vertices = points.map(({ ra, dec }) => {
      const place = checkedPosition(ra, dec);
      return [place.ra, place.dec] as const;
    });
    polygonOf(vertices, at);
    return polygonShape(at, vertices);
  }
}

/** The maximum distance between the centres of two circles if one contains the other. A circle of 180 degrees contains everything. */
function innerReach(at: number, { radius }: Circle, { radius: inner }: Circle): Value {
  const rest = arithmetic(at, '-', radius, inner);
  if (radius.constant !== undefined) return radius.constant < 180 ? rest : radius;
  return value(at, `(CASE WHEN ${radius.sql} < 180 THEN ${double(rest)} ELSE ${double(radius)} END)`, 'float64');
}

/**
 * A number of degrees.
 * @throws AdqlError for a column in another unit, because its numbers would be taken for wrong positions
 */
function degreesOf(operand: Operand, role: string): Value {
  const number = numberOf(operand, role);
  const { name = '', unit = '' } = number.column?.about ?? {};
  if (!isOtherThanDegrees(unit)) return number;
  const factor = degreesIn(unit);
  const otherwise = factor === undefined ? 'convert it' : `multiply it by ${factor}`;
  const hint = conversion(unit, 'deg') === undefined ? otherwise : `write IN_UNIT(${quoted(name)}, 'deg')`;
  throw new AdqlError(operand.at, `${role} must be in degrees, and ${name.slice(0, 64)} is in ${unit}: ${hint}`);
}

/** The coordinate systems of ADQL 2.0 (TAP 1.0, section 6) that mean spherical ICRS. The observer's position does not matter here. */
const COORDINATE_SYSTEM =
  /^((ICRS|UNKNOWNFRAME)(\s+(BARYCENTER|GEOCENTER|HELIOCENTER|LSR|TOPOCENTER|RELOCATABLE|UNKNOWNREFPOS))?(\s+SPHERICAL2)?)?$/i;

const MAX_VERTICES = 200;
/** The maximum order of pixels that are computed here rather than in the engine. */
const MAX_CONSTANT_ORDER = 13;

function healpixOrder(operand: Operand): number {
  const order = constantOf(numberOf(operand, 'the order'));
  if (Number.isInteger(order) && order >= 0 && order <= 29) return order;
  throw new AdqlError(operand.at, `an order of HEALPix is 0 to 29 (${order} was given)`);
}

/** The numbers in a string literal, separated by blanks. */
export function numbersOf({ at, text = '' }: Value): Value[] {
  const numbers = text.trim().split(/\s+/).map(Number);
  if (text.trim() === '' || numbers.some(Number.isNaN))
    throw new AdqlError(at, "a shape is cast from a constant string of numbers, such as '12.3 45.6'");
  return numbers.map(number => constantNumber(at, number));
}

export function fixed(number: Value): Value {
  constantOf(number);
  return number;
}

export function constantOf({ constant, at }: Value): number {
  if (constant !== undefined) return constant;
  throw sameForAll(at);
}

function sameForAll(at: number): AdqlError {
  return new AdqlError(at, 'this must be a number, not a column, because the shape must be the same for all rows');
}

export function shapeOperand(name: string, operand: Operand): Shape {
  const shape = asShape(operand);
  if (shape) return shape;
  throw new AdqlError(operand.at, `${name} takes shapes (${described(operand)} was given)`);
}
