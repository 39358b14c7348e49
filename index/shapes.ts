/** Circles and polygons, as areas are made of them. */
import type { PositionTest, Shape } from './area.ts';
import {
  checkPosition,
  chord,
  cross,
  dot,
  RADIANS_PER_ARCSEC,
  separationArcsec,
  type Vector,
  vectorOf,
} from './sphere.ts';

/**
 * A circle, its edge included, by `separationArcsec`.
 *
 * @param ra degrees, as is `dec`
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

/** Above any rounding of distances here, radians or relative. */
const ROUNDING = 1e-12;

/** An edge of a polygon: a part of a great circle, shorter than half of it. */
interface Edge {
  readonly from: Vector;
  readonly to: Vector;
  /** The direction from which the edge runs counter-clockwise; a unit vector. */
  readonly normal: Vector;
}

/** The edges that matter in a disc, and a place there that is not on an edge. */
interface PolygonPart {
  readonly edges: readonly Edge[];
  readonly place: Vector;
  readonly isInside: boolean;
}

/**
 * A polygon whose edges are parts of great circles: the smaller of the two parts of the sky that they bound, whichever
 * way round the vertices go. Where edges cross each other, the sides change at each edge, and a place that they go round
 * twice counts twice in the size of the parts.
 *
 * @param vertices positions in degrees; the last is joined to the first
 * @throws RangeError for a position out of range, fewer than three places, and opposite ones that follow each other
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

/** The cross product, exact also where the two are close together. */
function crossOf(a: Vector, b: Vector): Vector {
  return scaled(cross(sum(a, b), difference(b, a)), 0.5);
}

/** Places off the lines along which people draw edges. One of them is far enough from the great circles of all edges. */
const REFERENCES = [
  [73.1234, 38.5678],
  [211.9876, -27.4321],
  [317.4567, 12.3456],
  [139.8765, -61.2345],
].map(([ra, dec]) => vectorOf(ra!, dec!));

function wholeOf(edges: readonly Edge[]): PolygonPart {
  const clearance = (place: Vector) => Math.min(...edges.map(({ normal }) => Math.abs(dot(normal, place))));
  const place = REFERENCES.reduce((best, other) => (clearance(other) > clearance(best) ? other : best));
  // The triangles between the edges and the place opposite to the reference cover the part on the left of the edges,
  // less the whole sky where the reference itself is in that part.
  const opposite = scaled(place, -1);
  const area = edges.reduce((total, { from, to }) => total + triangleArea(opposite, from, to), 0);
  const isLeft = area < 0;
  const isLeftInside = area + (isLeft ? 4 * Math.PI : 0) <= 2 * Math.PI;
  return { edges, place, isInside: isLeft === isLeftInside };
}

/** The area of a spherical triangle, steradians, negative where it runs clockwise (Van Oosterom & Strackee, 1983). */
function triangleArea(a: Vector, b: Vector, c: Vector): number {
  return 2 * Math.atan2(dot(a, cross(b, c)), 1 + dot(a, b) + dot(b, c) + dot(c, a));
}

/** Whether a place is inside: as the part's own place, unless an odd number of edges lies between the two. */
function isInsideOf({ edges, place, isInside }: PolygonPart, to: Vector): boolean {
  const normal = crossOf(to, place);
  let inside = isInside;
  for (const edge of edges) if (crosses(edge, to, place, normal)) inside = !inside;
  return inside;
}

/**
 * Whether an edge crosses the shorter way between two places, whose normal is given. A vertex on that way counts as
 * being on its left, so that of two edges which meet there, both or none cross it, or the one that passes.
 */
function crosses({ from, to, normal: edgeNormal }: Edge, a: Vector, b: Vector, normal: Vector): boolean {
  const isFromLeft = dot(normal, difference(from, a)) >= 0;
  if (dot(normal, difference(to, a)) >= 0 === isFromLeft) return false;
  return (
    dot(edgeNormal, difference(b, from)) >= 0 === isFromLeft && dot(edgeNormal, difference(a, from)) >= 0 !== isFromLeft
  );
}

/** Whether some of an edge lies within a radius (radians, less than a quarter of a circle) of a place. */
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
