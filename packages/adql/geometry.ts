/** Shapes on the sky as SQL: exact tests, preceded by pixel ranges that let the engine skip most of a table. */
import { pixel29, separationArcsec, wrapRa } from '@nearsky/sky-index';
import {
  areaOfShape,
  boxCorners,
  circle,
  polygon,
  type Shape as SkyShape,
  touchedPixels,
} from '@nearsky/sky-index/areas';
import { AdqlError } from './adql_error.ts';
import { EPOCH_MACROS } from './epochs.ts';
import { FRAME_MACROS } from './frames.ts';
import { HEALPIX_MACROS } from './healpix.ts';
import { degraded, type PixelRange, pixelIn } from './moc.ts';
import { boundsNear, type PixelBounds } from './parts.ts';
import { isConstant, partOf, pixelOf, position, ROUNDING } from './positions.ts';
import {
  areaOfRow,
  boxOverPole,
  COUNTED_PAIRS_OF_ROW,
  circleHolds,
  inPolygonOfRow,
  MAX_PAIRS,
  pairsOf,
  polygonAnd,
  REGION_MACROS,
} from './regions.ts';
import { type Joined, NearCells, sourceOf } from './rewrites.ts';
import { type Circle, constantNumber, double, type Point, type Polygon, type Value } from './values.ts';

/** Macros that must be defined in the engine before the first query. */
export const MACROS: readonly string[] = [
  // Rounding can make the square of a half chord exceed 1. Unlike `least`, this keeps NULL.
  'CREATE MACRO adql_arc(square) AS degrees(2 * asin(sqrt(square - greatest(0, square - 1))))',
  // The engine's LIKE backtracks without limit if a pattern has both % and _. Regular expressions do not.
  "CREATE MACRO adql_like(x, pattern) AS regexp_full_match(x, replace(replace(regexp_escape(pattern), '\\%', '.*'), '_', '.'), 's')",
  // Degrees, as `separationArcsec` of the index computes them.
  'CREATE MACRO adql_distance(ra1, dec1, ra2, dec2) AS adql_arc(' +
    'power(sin(radians(dec2 - dec1) / 2), 2) + ' +
    'cos(radians(dec1)) * cos(radians(dec2)) * power(sin(radians(ra2 - ra1) / 2), 2))',
  // The number of a cell: the sky has zones of 360 / n degrees of declination, and each zone has cells of right ascension.
  // Each cell is at least 360 / n degrees wide, because cos(dec) >= 1 - |dec| / 90.
  'CREATE MACRO adql_cell(ra1, dec1, n) AS floor(dec1 * n / 360) * n + floor(' +
    'least(ra1 / 360 - floor(ra1 / 360), 1 - 1e-12) * greatest(1, n - 2 - abs(4 * floor(dec1 * n / 360) + 2)))',
  // The cell at one of the four corners of the neighbourhood of a position; NULL if another corner has the same cell. The
  // neighbourhood is at most an eighth of a cell. A circle reaches asin(sin(reach) / cos(dec)) in right ascension, which is less.
  'CREATE MACRO adql_corner(ra1, dec1, i, j, reach, n) AS CASE ' +
    'WHEN i > 0 AND floor((dec1 + reach) * n / 360) <= floor((dec1 - reach) * n / 360) THEN NULL ' +
    'WHEN j > 0 AND adql_cell(ra1 + adql_width(dec1, reach), dec1 + i * reach, n) = ' +
    'adql_cell(ra1 - adql_width(dec1, reach), dec1 + i * reach, n) THEN NULL ' +
    'ELSE adql_cell(ra1 + j * adql_width(dec1, reach), dec1 + i * reach, n) END',
  'CREATE MACRO adql_width(dec1, reach) AS 142 * reach / greatest(90 - abs(dec1), reach)',
  // The side of the plane with this normal on which a position lies.
  'CREATE MACRO adql_side(ra1, dec1, x, y, z) AS ' +
    'cos(radians(dec1)) * (cos(radians(ra1)) * x + sin(radians(ra1)) * y) + sin(radians(dec1)) * z >= 0',
  ...HEALPIX_MACROS,
  ...REGION_MACROS,
  ...EPOCH_MACROS,
  ...FRAME_MACROS,
];

/** The maximum number of pixel ranges in a test. Searching more would cost more than it saves. */
const MAX_RANGES = 16;
/**
 * The target number of pixels on a shape's edge. With more, the ranges would exceed their limit and be merged again.
 */
const ENOUGH_CUT = 64;
/** The maximum number of shapes in a query whose pixels are computed, at milliseconds each. */
const MAX_AREAS = 32;
/** The maximum number of edge pixels of a shape that becomes a MOC. */
const MAX_MOC_CUT = 4000;
/** The same for all shapes of a query together: two of the largest, which take 0.05 s. */
const MAX_MOCS_CUT = 2 * MAX_MOC_CUT;
/** The maximum number of polygon corners in a query, counting each use. With more, planning exceeds a query's time limit. */
const MAX_CORNERS = 400;
/** Up to this distance chords can be compared instead of angles: they still grow enough with it. */
const MAX_CHORD_DEGREES = 175;
/** The relative rounding of the square of a half chord. Positions on the edge of a circle are inside. */
const CHORD_ROUNDING = 2 ** -50;
/** The number of edge pixels of a shape that are split to select the rows of a partial table. */
const PART_CUT = 256;
/** Ranges are merged across gaps of up to this many pixels of order 16, which is 1 / 4096 of the sky. */
const MIN_GAP = (12 * 4 ** 16) / 4096;

/** The shapes of one query. */
export class Sky {
  /** Polygon corners so far, counting each use. */
  #corners = 0;
  /** The pairs of corners that the query compares for each row so far. */
  #pairs = 0;
  #mocs = 0;
  #mocCut = 0;
  /** The shapes so far that restrict the rows of partial tables. */
  #narrowing = 0;
  readonly #nearCells = new NearCells();
  /** The pixel ranges of each shape so far. */
  readonly #ranges = new Map<string, readonly (readonly [first: bigint, end: bigint])[]>();

  /**
   * The condition that two points are at most a number of degrees apart.
   * @param filtered the tables whose rows the condition filters; then it may be FALSE instead of NULL, and tests of pixels and
   *   declinations come first. Undefined if the condition is used as a value
   */
  within(a: Point, b: Point, radius: Value, filtered: Joined | undefined, operator: '<=' | '<' = '<='): string {
    const [fixed, other] = isConstant(a) ? [a, b] : [b, a];
    const { constant } = radius;
    if (filtered) this.#narrow(a, b, radius, filtered);
    if (!isConstant(fixed) || constant === undefined || !(constant >= 0 && constant <= MAX_CHORD_DEGREES)) {
      const exact = `adql_distance(${position(a)}, ${position(b)}) ${operator} ${double(radius)}`;
      if (!filtered) return `(${exact})`;
      const reach = `(${double(radius)} + ${ROUNDING}::DOUBLE)`;
      const [low, high] = [`${double(fixed.dec)} - ${reach}`, `${double(fixed.dec)} + ${reach}`];
      const band = `${double(other.dec)} BETWEEN ${low} AND ${high}`;
      return `(${[this.#nearCells.sameCell(a, b, constant, filtered), band, exact].filter(each => each !== undefined).join(' AND ')})`;
    }
    const centre = constants(fixed);
    const exact = chordTest(other, centre, constant, operator);
    if (!filtered) return `(${exact})`;
    const { ra, dec } = centre;
    const reach = constant + ROUNDING;
    const pixels = this.#pixelTest(other, `${ra} ${dec} ${constant}`, () => circle(ra, dec, reach * 3600));
    const [low, high] = [dec - reach, dec + reach].map(each => constantNumber(other.at, each).sql);
    const band = `${double(other.dec)} BETWEEN ${low} AND ${high}`;
    return `(${[pixels, band, exact].filter(each => each !== undefined).join(' AND ')})`;
  }

  /**
   * The condition that a point is in a polygon: it depends on the number of edges between the point and a reference point whose side
   * is known.
   * @param filtered as for `within`
   */
  inPolygon(point: Point, polygon: Polygon, filtered: Joined | undefined): string {
    const { vertices, at } = polygon;
    if (!vertices) {
      this.#compare(at, pairsOf([polygon]));
      return inPolygonOfRow(point, polygon);
    }
    this.#corners += vertices.length;
    if (this.#corners > MAX_CORNERS)
      throw new AdqlError(at, `the polygons of a query have at most ${MAX_CORNERS} corners: split the query`);
    const shape = polygonOf(vertices, at);
    const part = this.#narrowedPart(point, filtered);
    if (part) part.isWithin(() => pixelsNear(shape, part));
    const { edges, place, isInside } = shape.whole;
    const crossed = edges.map(({ from, to, normal }) => {
      const side = normal.x * place.x + normal.y * place.y + normal.z * place.z >= 0;
      const [first, second, third] = [cross(place, from), cross(place, to), normal].map(({ x, y, z }) => {
        const numbers = [x, y, z].map(number => constantNumber(at, number).sql);
        return `adql_side(${position(point)}, ${numbers.join(', ')})`;
      });
      const [same, other] = side ? ['', 'NOT '] : ['NOT ', ''];
      return `CAST(${same}${first} AND ${other}${second} AND ${other}${third} AS INTEGER)`;
    });
    const exact = `${sum(crossed)} % 2 = ${isInside ? 0 : 1}`;
    const pixels = filtered && this.#pixelTest(point, vertices.join(' '), () => shape);
    return pixels ? `(${pixels} AND ${exact})` : `(${exact})`;
  }

  /**
   * The condition that a point is in a MOC.
   * @param filtered as for `within`
   */
  inMoc(point: Point, ranges: readonly PixelRange[], filtered: Joined | undefined): string {
    const part = this.#narrowedPart(point, filtered);
    if (part) part.isWithin(() => boundsNear(ranges));
    const pixel = pixelOf(point);
    if (pixel) {
      const test = pixelIn(filtered ? pixel : `nullif(${pixel}, -1)`, ranges);
      const [first, last] = [ranges[0], ranges.at(-1)];
      if (!filtered || !first || !last) return test;
      return `(${pixel} BETWEEN ${first[0]}::BIGINT AND ${last[1] - 1n}::BIGINT AND ${test})`;
    }
    if (!isConstant(point))
      return `list_transform([adql_pixel(${position(point)})], lambda pixel: ${pixelIn('pixel', ranges)})[1]`;
    const { ra, dec } = constants(point);
    return pixelIn(`${pixel29(ra, dec)}::BIGINT`, ranges);
  }

  /**
   * The condition that a polygon touches or holds another shape.
   * @param filtered as for `within`
   */
  polygonAnd(
    polygon: Polygon,
    other: Circle | Polygon,
    does: 'touches' | 'holds',
    filtered: Joined | undefined,
  ): string {
    this.#compare(polygon.at, other.kind === 'polygon' ? pairsOf([polygon, other]) : pairsOf([polygon], 2));
    const exact = polygonAnd(polygon, other, does);
    const { vertices } = polygon;
    if (!filtered || !vertices || other.kind !== 'circle' || other.radius.constant === undefined) return exact;
    // A circle that touches a polygon has its centre near the polygon's bounding circle.
    const around = polygonCentroid(vertices);
    const far = Math.max(...vertices.map(([ra, dec]) => separationArcsec(around.ra, around.dec, ra, dec) / 3600));
    const reach = far + other.radius.constant + ROUNDING;
    if (far >= 90 || reach >= MAX_CHORD_DEGREES) return exact;
    const [ra, dec] = [around.ra, around.dec].map(each => constantNumber(polygon.at, each)) as [Value, Value];
    const near = this.within(
      { kind: 'point', at: polygon.at, ra, dec },
      other.centre,
      constantNumber(polygon.at, reach),
      filtered,
    );
    return `(${near} AND ${exact})`;
  }

  circleHolds(circle: Circle, polygon: Polygon): string {
    this.#compare(polygon.at, pairsOf([polygon], 2));
    return circleHolds(circle, polygon);
  }

  /** Square degrees. */
  areaOfRow(polygon: Polygon): string {
    this.#compare(polygon.at, pairsOf([polygon]));
    return areaOfRow(polygon);
  }

  #compare(at: number, pairs = COUNTED_PAIRS_OF_ROW): void {
    this.#pairs += pairs;
    if (this.#pairs <= MAX_PAIRS) return;
    throw new AdqlError(
      at,
      `the polygons of a query have at most ${MAX_PAIRS} pairs of corners to compare in each row (these have ${this.#pairs}; a position has one corner, a circle counts as two, a polygon from a column as ${COUNTED_PAIRS_OF_ROW} pairs): take fewer corners, or split the query`,
    );
  }

  /**
   * The pixels of an order that a shape touches.
   * @throws AdqlError if there are too many
   */
  moc(shape: SkyShape<unknown>, order: number, at: number): readonly PixelRange[] {
    if (++this.#mocs > MAX_AREAS)
      throw new AdqlError(at, `a query has at most ${MAX_AREAS} MOCs of shapes: split the query`);
    const left = MAX_MOCS_CUT - this.#mocCut;
    const touched = finished(touchedPixels(shape as SkyShape<never>, Math.min(MAX_MOC_CUT, left), order));
    const { bounds, length } = touched ?? { bounds: [], length: Number.POSITIVE_INFINITY };
    this.#mocCut += length;
    if (left >= MAX_MOC_CUT && length > MAX_MOC_CUT)
      throw new AdqlError(at, 'the MOC of this shape has too many pixels: take a smaller shape or a lower order');
    if (length > left)
      throw new AdqlError(
        at,
        `the MOCs of the shapes of a query have at most ${MAX_MOCS_CUT} ranges of pixels: take fewer or smaller shapes, or a lower order`,
      );
    const ranges = Array.from({ length }, (_, i): [bigint, bigint] => [deep(bounds[2 * i]!), deep(bounds[2 * i + 1]!)]);
    return degraded(ranges, order, at);
  }

  /** The partial table whose rows a condition on a point restricts. */
  #narrowedPart(point: Point, filtered: Joined | undefined) {
    const part = partOf(point);
    return part && filtered?.narrows.has(part) && ++this.#narrowing <= MAX_AREAS ? part : undefined;
  }

  /** Narrows partial tables whose positions are near a constant one, or near those of another table. */
  #narrow(a: Point, b: Point, radius: Value, filtered: Joined): void {
    for (const [point, other] of [
      [a, b],
      [b, a],
    ] as const) {
      const part = this.#narrowedPart(point, filtered);
      if (!part) continue;
      const { constant } = radius;
      if (constant !== undefined && isConstant(other)) {
        if (!(constant >= 0)) part.isWithin(() => new Float64Array());
        else if (constant < 180) {
          const { ra, dec } = constants(other);
          part.isWithin(() => pixelsNear(circle(ra, dec, constant * 3600), part));
        }
        continue;
      }
      const source = sourceOf(other);
      const isOfSource = constant !== undefined || radius.column?.source === source;
      if (source && isOfSource) part.isNear(source, double(other.ra), double(other.dec), double(radius));
    }
  }

  /** Undefined unless the point is a table's position. */
  #pixelTest(point: Point, key: string, shape: () => SkyShape<unknown>): string | undefined {
    const pixel = pixelOf(point);
    if (!pixel) return undefined;
    let ranges = this.#ranges.get(key);
    if (!ranges) {
      if (this.#ranges.size >= MAX_AREAS) return undefined;
      this.#ranges.set(key, (ranges = rangesOf(shape())));
    }
    if (ranges.length === 0) return 'FALSE';
    const between = (first: bigint, end: bigint) => `${pixel} BETWEEN ${first}::BIGINT AND ${end - 1n}::BIGINT`;
    const all = between(ranges[0]![0], ranges.at(-1)![1]);
    if (ranges.length === 1) return all;
    return `${all} AND (${ranges.map(([first, end]) => `(${between(first, end)})`).join(' OR ')})`;
  }
}

/**
 * The condition that a position is near a constant one. It compares the square of the half chord, which grows with the
 * distance and costs the engine half as much.
 */
function chordTest(point: Point, centre: { ra: number; dec: number }, radius: number, operator: string): string {
  position(point);
  const [ra, dec] = [double(point.ra), double(point.dec)];
  const half = Math.sin((radius * Math.PI) / 360);
  const edge = half * half * (operator === '<' ? 1 : 1 + CHORD_ROUNDING);
  const [ra0, dec0, cosine, square] = [centre.ra, centre.dec, Math.cos((centre.dec * Math.PI) / 180), edge].map(
    each => constantNumber(point.at, each).sql,
  );
  const north = `power(sin(radians(${dec} - ${dec0}) / 2), 2)`;
  const east = `power(sin(radians(${ra} - ${ra0}) / 2), 2)`;
  return `${north} + ${cosine} * cos(radians(${dec})) * ${east} ${operator} ${square}`;
}

/** The area of a shape, computed in one go. */
const areaOf = (shape: SkyShape<unknown>, maxCut: number) => finished(areaOfShape(shape as SkyShape<never>, maxCut));

function finished<T>(steps: Generator<undefined, T>): T {
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
}

/** The pixels of rows that may lie in a shape. */
function pixelsNear<Part>(shape: SkyShape<Part>, { outside }: { readonly outside: number }): PixelBounds {
  const partAt: typeof shape.partAt = (centre, radius, around) => shape.partAt(centre, radius + outside, around);
  return Float64Array.from(areaOf({ ...shape, partAt } as SkyShape<unknown>, PART_CUT).bounds);
}

/** A sum as a balanced tree, because the engine plans long chains slowly. */
function sum(terms: readonly string[]): string {
  const middle = terms.length >> 1;
  return middle === 0 ? terms[0]! : `(${sum(terms.slice(0, middle))} + ${sum(terms.slice(middle))})`;
}

/** The first pixel at order 29 in a pixel of order 16. */
const deep = (pixel: number) => BigInt(pixel) << 26n;

/** Ranges [first, end) of pixels at order 29 that cover a shape, ascending. */
function rangesOf(shape: SkyShape<unknown>): readonly (readonly [bigint, bigint])[] {
  const { bounds } = areaOf(shape, ENOUGH_CUT);
  const gaps = Array.from({ length: bounds.length / 2 - 1 }, (_, i) => ({
    i,
    gap: bounds[2 * i + 2]! - bounds[2 * i + 1]!,
  }));
  const kept = gaps
    .filter(({ gap }) => gap > MIN_GAP)
    .sort((a, b) => b.gap - a.gap)
    .slice(0, MAX_RANGES - 1)
    .map(({ i }) => i)
    .sort((a, b) => a - b);
  if (bounds.length === 0) return [];
  const firsts = [0, ...kept.map(i => 2 * i + 2)];
  const ends = [...kept.map(i => 2 * i + 1), bounds.length - 1];
  return firsts.map((first, i) => [deep(bounds[first]!), deep(bounds[ends[i]!]!)]);
}

export function polygonOf(vertices: readonly (readonly [number, number])[], at: number) {
  return positioned(at, () => polygon(vertices));
}

/** Reports an impossible shape as an error at its position in the query. */
function positioned<T>(at: number, make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw error instanceof RangeError ? new AdqlError(at, error.message) : error;
  }
}

/** A constant position, with both coordinates checked. */
export function checkedPosition(ra: Value, dec: Value): { ra: number; dec: number } {
  if (!(Math.abs(dec.constant!) <= 90))
    throw new AdqlError(dec.at, `a declination must be -90 to 90 degrees (${dec.constant} was given)`);
  return { ra: wrapRa(ra.constant!), dec: dec.constant! };
}

const constants = ({ ra, dec }: Point) => checkedPosition(ra, dec);

export function boxVertices(at: number, ra: number, dec: number, width: number, height: number): [number, number][] {
  const isSized = width > 0 && width < 180 && height > 0 && height < 180;
  if (isSized && Math.abs(dec) + height / 2 > 90) return boxOverPole(ra, dec, width, height);
  return positioned(at, () => boxCorners(ra, dec, width, height));
}

/** Square degrees. */
export function polygonArea(vertices: readonly (readonly [number, number])[]): number {
  const places = vertices.map(vector);
  const [first] = places as [Vector];
  let area = 0;
  for (let i = 1; i + 1 < places.length; i++) {
    const [a, b, c] = [first, places[i]!, places[i + 1]!];
    area += 2 * Math.atan2(dot(a, cross(b, c)), 1 + dot(a, b) + dot(b, c) + dot(c, a));
  }
  const size = Math.abs(area) % (4 * Math.PI);
  return Math.min(size, 4 * Math.PI - size) * (180 / Math.PI) ** 2;
}

/** The direction of the centroid: the sum of the edges' normals, weighted by length. */
export function polygonCentroid(vertices: readonly (readonly [number, number])[]): { ra: number; dec: number } {
  const places = vertices.map(vector);
  const sum = { x: 0, y: 0, z: 0 };
  for (const [i, a] of places.entries()) {
    const b = places[(i + 1) % places.length]!;
    const normal = cross(a, b);
    const length = Math.sqrt(dot(normal, normal));
    if (length === 0) continue;
    const weight = Math.atan2(length, dot(a, b)) / length;
    sum.x += normal.x * weight;
    sum.y += normal.y * weight;
    sum.z += normal.z * weight;
  }
  // The direction in the hemisphere of the vertices.
  const isOutside = places.reduce((total, place) => total + dot(place, sum), 0) < 0;
  const sign = isOutside ? -1 : 1;
  const ra = Math.atan2(sign * sum.y, sign * sum.x) * (180 / Math.PI);
  return { ra: wrapRa(ra), dec: Math.atan2(sign * sum.z, Math.hypot(sum.x, sum.y)) * (180 / Math.PI) };
}

interface Vector {
  readonly x: number;
  readonly y: number;
  readonly z: number;
}

function vector([ra, dec]: readonly [number, number]): Vector {
  const [a, d] = [(ra * Math.PI) / 180, (dec * Math.PI) / 180];
  return { x: Math.cos(d) * Math.cos(a), y: Math.cos(d) * Math.sin(a), z: Math.sin(d) };
}

const dot = (a: Vector, b: Vector) => a.x * b.x + a.y * b.y + a.z * b.z;
const cross = (a: Vector, b: Vector): Vector => ({
  x: a.y * b.z - a.z * b.y,
  y: a.z * b.x - a.x * b.z,
  z: a.x * b.y - a.y * b.x,
});
