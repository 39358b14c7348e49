/** Circles and polygons as input for areas. */
import type { PositionTest, Shape } from './area.ts';
import {
  checkDec,
  checkPosition,
  chord,
  cross,
  dot,
  RADIANS_PER_ARCSEC,
  RADIANS_PER_DEGREE,
  separationArcsec,
  type Vector,
  vectorOf,
  wrapRa,
} from './sphere.ts';

/**
 * A circle, its edge included, by `separationArcsec`.
 *
 * @param ra degrees, like `dec`
 * @param radiusArcsec 0 to 648,000
 * @throws RangeError for a position out of range
 */
export function circle(ra: number, dec: number, radiusArcsec: number): Shape<PositionTest> {
  checkPosition(ra, dec);
  const centre = vectorOf(ra, dec);
  const circleRadius = radiusArcsec * RADIANS_PER_ARCSEC;
  const test: PositionTest = (otherRa, otherDec) => separationArcsec(ra, dec, otherRa, otherDec) <= radiusArcsec;
  return {
    whole: test,
    partAt(place, radius) {
      const distance = 2 * Math.asin(Math.min(1, chord(centre, place) / 2));
      if (distance + radius < circleRadius * (1 - ROUNDING)) return true;
      return distance - radius > circleRadius * (1 + ROUNDING) + ROUNDING ? false : test;
    },
    testOf: () => test,
  };
}

/** Larger than any rounding of distances here, in radians or relative. */
const ROUNDING = 1e-12;
/** Larger than the rounding of the sum of a polygon's triangles, steradians. */
const AMBIGUOUS = 1e-9;

/**
 * A range of right ascensions and declinations, including its edges, which are meridians and circles of equal
 * declination.
 *
 * @param ra1 degrees in any convention, like `ra2`. The range runs eastwards from `ra1` to `ra2`, through 0 if `ra2` is
 * smaller. If it spans 360 degrees or more, or has an infinite bound, it covers all right ascensions
 * @param dec1 degrees, -90 to 90, like `dec2`, which must not be less; infinities stand for the poles
 * @throws RangeError
 */
export function range(ra1: number, ra2: number, dec1: number, dec2: number): Shape<PositionTest> {
  const [south, north] = [dec1, dec2].map(dec => (Number.isFinite(dec) ? dec : Math.sign(dec) * 90)) as [
    number,
    number,
  ];
  checkDec(south);
  checkDec(north);
  if (south > north) throw new RangeError(`the declinations of a range must ascend (${dec1} and ${dec2} were given)`);
  const isAll = !(Math.abs(ra2 - ra1) < 360);
  const [first, last] = [wrapRa(ra1), wrapRa(ra2)];
  const isBetween = (ra: number) => (first <= last ? ra >= first && ra <= last : ra >= first || ra <= last);
  // 0 and 360 are the same meridian.
  const isRaInside = (ra: number) => isAll || isBetween(ra) || (ra % 360 === 0 && isBetween(360 - ra));
  const test: PositionTest = (ra, dec) => dec >= south && dec <= north && isRaInside(ra);
  const halfWidth = isAll ? 180 : (last - first + (first <= last ? 0 : 360)) / 2;
  return {
    whole: test,
    partAt(place, radius) {
      const reach = (radius + ROUNDING) / RADIANS_PER_DEGREE;
      const dec = Math.asin(Math.max(-1, Math.min(1, place.z))) / RADIANS_PER_DEGREE;
      if (dec + reach < south - ROUNDING || dec - reach > north + ROUNDING) return false;
      const isDecInside = dec - reach > south + ROUNDING && dec + reach < north - ROUNDING;
      if (isAll) return isDecInside || test;
      if (Math.abs(dec) + reach >= 90 - ROUNDING) return test;
      const raReach =
        Math.asin(Math.sin(reach * RADIANS_PER_DEGREE) / Math.cos(dec * RADIANS_PER_DEGREE)) / RADIANS_PER_DEGREE;
      const ra = Math.atan2(place.y, place.x) / RADIANS_PER_DEGREE;
      const away = Math.abs(((((ra - first - halfWidth) % 360) + 540) % 360) - 180);
      if (away - raReach > halfWidth + RA_ROUNDING) return false;
      return (isDecInside && away + raReach < halfWidth - RA_ROUNDING) || test;
    },
    testOf: () => test,
  };
}

/** Larger than any rounding of right ascensions here, degrees. */
const RA_ROUNDING = 1e-9;

/**
 * The corners of an ADQL box, whose sides are arcs of great circles between them. All values are in degrees.
 * @throws RangeError if a width is not between 0 and 180, or the box extends over a pole
 */
export function boxCorners(ra: number, dec: number, width: number, height: number): [ra: number, dec: number][] {
  const [east, west] = [wrapRa(ra - width / 2), wrapRa(ra + width / 2)];
  const [south, north] = [dec - height / 2, dec + height / 2];
  if (!(width > 0 && width < 180 && height > 0))
    throw new RangeError('a BOX must be more than 0 degrees wide and high, and less than 180 wide');
  if (south < -90 || north > 90) throw new RangeError('a BOX must not reach over a pole: take a CIRCLE');
  return [
    [east, south],
    [west, south],
    [west, north],
    [east, north],
  ];
}

/** An edge of a polygon: an arc of a great circle, shorter than half of the circle. */
interface Edge {
  readonly from: Vector;
  readonly to: Vector;
  /** A unit vector: seen from there, the edge runs counter-clockwise. */
  readonly normal: Vector;
}

/** The edges that matter in a disc, and a point there that is not on an edge. */
interface PolygonPart {
  readonly edges: readonly Edge[];
  readonly place: Vector;
  readonly isInside: boolean;
}

/**
 * A polygon whose edges are arcs of great circles. The edges bound two parts of the sky; the smaller one is the
 * polygon, whatever the direction of the vertices. If edges cross each other, each crossed edge leads to the other
 * side. A point that the edges enclose twice counts twice in the sizes of the parts.
 *
 * @param vertices positions in degrees; the last is joined to the first
 * @throws RangeError for a position out of range, fewer than three distinct vertices, consecutive vertices that are
 * antipodal, and two parts of equal size
 */
export function polygon(vertices: readonly (readonly [ra: number, dec: number])[]): Shape<PolygonPart> {
  const places = vertices.map(([ra, dec]) => {
    checkPosition(ra, dec);
    return vectorOf(ra, dec);
  });
  const distinct = places.filter((place, i) => chord(place, places.at(i - 1)!) > ROUNDING);
  if (distinct.length < 3)
    throw new RangeError(`a polygon must have at least 3 vertices that differ (${distinct.length} were given)`);
  const edges = distinct.map((from, i) => edgeOf(from, distinct[(i + 1) % distinct.length]!));
  return {
    whole: wholeOf(edges),
    partAt(place, radius, around) {
      const near = around.edges.filter(edge => isNear(edge, place, radius + ROUNDING));
      const isInside = isInsideOf(around, place);
      return near.length === 0 ? isInside : { edges: near, place, isInside };
    },
    testOf: part => (ra, dec) => isInsideOf(part, vectorOf(ra, dec)),
  };
}

function edgeOf(from: Vector, to: Vector): Edge {
  if (chord(from, to) > 2 - ROUNDING)
    throw new RangeError('a polygon must not have an edge between opposite places: put a vertex between the two');
  const normal = crossOf(from, to);
  return { from, to, normal: scaled(normal, 1 / Math.sqrt(dot(normal, normal))) };
}

/** The cross product, accurate even if the two vectors are close together. */
function crossOf(a: Vector, b: Vector): Vector {
  return scaled(cross(sum(a, b), difference(b, a)), 0.5);
}

/**
 * Candidate points away from lines that people often use as edges. At least one of them is far enough from the great
 * circles of all edges.
 */
const REFERENCES = [
  [73.1234, 38.5678],
  [211.9876, -27.4321],
  [317.4567, 12.3456],
  [139.8765, -61.2345],
].map(([ra, dec]) => vectorOf(ra!, dec!));

function wholeOf(edges: readonly Edge[]): PolygonPart {
  const clearance = (place: Vector) => Math.min(...edges.map(({ normal }) => Math.abs(dot(normal, place))));
  const place = REFERENCES.reduce((best, other) => (clearance(other) > clearance(best) ? other : best));
  // The triangles between the edges and the point opposite to the reference cover the part to the left of the edges. If
  // the reference is in that part, subtract the whole sky.
  const opposite = scaled(place, -1);
  const area = edges.reduce((total, { from, to }) => total + triangleArea(opposite, from, to), 0);
  if (Math.abs(Math.abs(area) - 2 * Math.PI) < AMBIGUOUS)
    throw new RangeError(
      'a polygon must not divide the sky into two halves, because its inside is the smaller part: divide it into two polygons',
    );
  const isLeft = area < 0;
  const isLeftInside = area + (isLeft ? 4 * Math.PI : 0) <= 2 * Math.PI;
  return { edges, place, isInside: isLeft === isLeftInside };
}

/** The area of a spherical triangle, steradians; negative if it runs clockwise (Van Oosterom & Strackee, 1983). */
function triangleArea(a: Vector, b: Vector, c: Vector): number {
  return 2 * Math.atan2(dot(a, cross(b, c)), 1 + dot(a, b) + dot(b, c) + dot(c, a));
}

/**
 * Whether a point is inside: on the same side as the part's own point. That is so if an even number of edges lies
 * between the two.
 */
function isInsideOf({ edges, place, isInside }: PolygonPart, to: Vector): boolean {
  const normal = crossOf(to, place);
  let inside = isInside;
  for (const edge of edges) if (crosses(edge, to, place, normal)) inside = !inside;
  return inside;
}

/**
 * Whether an edge crosses the shorter arc between two points; `normal` is the arc's normal. A vertex on the arc counts
 * as left of it. So if two edges meet there and both stay on one side, both or neither count as crossing; if they pass
 * through, exactly one does.
 */
function crosses({ from, to, normal: edgeNormal }: Edge, a: Vector, b: Vector, normal: Vector): boolean {
  const isFromLeft = dot(normal, difference(from, a)) >= 0;
  if (dot(normal, difference(to, a)) >= 0 === isFromLeft) return false;
  return (
    dot(edgeNormal, difference(b, from)) >= 0 === isFromLeft && dot(edgeNormal, difference(a, from)) >= 0 !== isFromLeft
  );
}

/** Whether part of an edge lies within a radius (radians, less than a quarter circle) of a point. */
function isNear({ from, to, normal }: Edge, place: Vector, radius: number): boolean {
  const reach = 2 * Math.sin(radius / 2);
  if (chord(from, place) <= reach || chord(to, place) <= reach) return true;
  const isBeside = dot(cross(normal, from), place) >= 0 && dot(cross(to, normal), place) >= 0;
  return isBeside && Math.abs(dot(normal, difference(place, from))) <= Math.sin(radius);
}

function sum(a: Vector, b: Vector): Vector {
  return { x: a.x + b.x, y: a.y + b.y, z: a.z + b.z };
}

function difference(a: Vector, b: Vector): Vector {
  return { x: a.x - b.x, y: a.y - b.y, z: a.z - b.z };
}

function scaled(a: Vector, factor: number): Vector {
  return { x: a.x * factor, y: a.y * factor, z: a.z * factor };
}
