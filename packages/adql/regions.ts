/** Tests between shapes that differ from row to row: polygons, circles and boxes as lists of corners. */
import { position } from './positions.ts';
import { type Circle, double, type Point, type Polygon } from './values.ts';

/** Positions closer to an edge than this are on it, radians: 2 microarcseconds. */
const EDGE = '1e-11::DOUBLE';

/**
 * `v` is the list of a polygon's corners as unit vectors; `p` and `a` to `d` are unit vectors. Parameters that occur several times
 * must be names or their elements.
 */
export const REGION_MACROS: readonly string[] = [
  'CREATE MACRO adql_vector(ra1, dec1) AS [cos(radians(dec1)) * cos(radians(ra1)), cos(radians(dec1)) * sin(radians(ra1)), sin(radians(dec1))]',
  // From a list of coordinates: ra, dec, ra, dec, ...
  'CREATE MACRO adql_vectors(c) AS list_transform(range(1, len(c), 2), lambda k: adql_vector(c[k], c[k + 1]))',
  'CREATE MACRO adql_dot(a, b) AS a[1] * b[1] + a[2] * b[2] + a[3] * b[3]',
  'CREATE MACRO adql_triple(a, b, c) AS a[1] * (b[2] * c[3] - b[3] * c[2]) + a[2] * (b[3] * c[1] - b[1] * c[3]) + a[3] * (b[1] * c[2] - b[2] * c[1])',
  'CREATE MACRO adql_normal(a, b) AS sqrt(power(a[2] * b[3] - a[3] * b[2], 2) + power(a[3] * b[1] - a[1] * b[3], 2) + power(a[1] * b[2] - a[2] * b[1], 2))',
  // Half the area on the left of the edges, summed over a fan of triangles, modulo whole turns.
  `CREATE MACRO adql_half_area(v) AS list_sum(list_transform(range(2, len(v)), lambda i: atan2(adql_triple(v[1], v[i], v[i + 1]),
    1 + adql_dot(v[1], v[i]) + adql_dot(v[i], v[i + 1]) + adql_dot(v[i + 1], v[1]))))`,
  `CREATE MACRO adql_polygon_area(c) AS list_transform([abs(2 * adql_half_area(adql_vectors(c))) % (4 * pi())],
    lambda s: degrees(degrees(least(s, 4 * pi() - s))))[1]`,
  // Whether the smaller part is on the left: seen from inside, the corners go around once, counterclockwise.
  `CREATE MACRO adql_inside(p, v) AS sign(sin(adql_half_area(v))) * list_sum(list_transform(range(1, len(v) + 1), lambda i:
    atan2(adql_triple(p, v[i], v[i % len(v) + 1]), adql_dot(v[i], v[i % len(v) + 1]) - adql_dot(v[i], p) * adql_dot(p, v[i % len(v) + 1])))) > pi()`,
  'CREATE MACRO adql_angle(a, b) AS 2 * asin(least(1, sqrt(power(a[1] - b[1], 2) + power(a[2] - b[2], 2) + power(a[3] - b[3], 2)) / 2))',
  // The distance to an edge. It is the distance to the edge's great circle if the nearest point of that circle lies
  // between the ends.
  `CREATE MACRO adql_to_edge(p, a, b) AS CASE WHEN adql_normal(a, b) > 1e-14 AND adql_dot(b, p) >= adql_dot(a, p) * adql_dot(a, b)
    AND adql_dot(a, p) >= adql_dot(b, p) * adql_dot(a, b) THEN asin(least(1, abs(adql_triple(p, a, b)) / adql_normal(a, b)))
    ELSE least(adql_angle(p, a), adql_angle(p, b)) END`,
  'CREATE MACRO adql_to_edges(p, v) AS list_min(list_transform(range(1, len(v) + 1), lambda i: adql_to_edge(p, v[i], v[i % len(v) + 1])))',
  `CREATE MACRO adql_signed(a, b, p) AS adql_triple(a, b, p) / greatest(adql_normal(a, b), 1e-300)`,
  // Whether two edges cross, beyond rounding: the ends of each lie on both sides of the other, in one hemisphere.
  `CREATE MACRO adql_cross(a, b, c, d) AS adql_signed(a, b, c) * adql_signed(a, b, d) < -1e-22
    AND adql_signed(c, d, a) * adql_signed(c, d, b) < -1e-22 AND adql_signed(a, b, c) * adql_signed(c, d, b) > 0`,
  `CREATE MACRO adql_edges_cross(v, w) AS list_bool_or(list_transform(range(1, len(v) + 1), lambda i: list_bool_or(list_transform(range(1, len(w) + 1),
    lambda j: adql_cross(v[i], v[i % len(v) + 1], w[j], w[j % len(w) + 1])))))`,
  `CREATE MACRO adql_polygons_meet(v, w) AS list_bool_or(list_transform(v, lambda p: adql_inside(p, w) OR adql_to_edges(p, w) <= ${EDGE}))
    OR list_bool_or(list_transform(w, lambda p: adql_inside(p, v))) OR adql_edges_cross(v, w)`,
  `CREATE MACRO adql_polygon_in(v, w) AS list_bool_and(list_transform(v, lambda p: adql_inside(p, w) OR adql_to_edges(p, w) <= ${EDGE}))
    AND NOT adql_edges_cross(v, w)`,
  // A circle of up to 90 degrees contains every edge whose ends it contains. A larger one is the complement of the opposite circle.
  `CREATE MACRO adql_in_circle(v, p, r) AS CASE WHEN r <= pi() / 2
    THEN list_max(list_transform(v, lambda a: adql_angle(p, a))) <= r + ${EDGE}
    ELSE list_transform([[-p[1], -p[2], -p[3]]], lambda q: adql_to_edges(q, v) >= pi() - r - ${EDGE} AND NOT adql_inside(q, v))[1] END`,
  // The corners of a box: on its meridians and parallels, or beyond a pole on great circles through its centre. Other
  // sizes are not a box.
  `CREATE MACRO adql_box(ra1, dec1, width, height) AS CASE
    WHEN ra1 + dec1 + width + height IS NULL OR NOT (width > 0 AND height > 0 AND width < 180 AND height < 180) THEN NULL
    WHEN abs(dec1) + height / 2 <= 90 THEN [ra1 - width / 2, dec1 - height / 2, ra1 + width / 2, dec1 - height / 2,
      ra1 + width / 2, dec1 + height / 2, ra1 - width / 2, dec1 + height / 2]
    ELSE flatten(list_transform([[-1, -1], [1, -1], [1, 1], [-1, 1]], lambda k: list_transform([[
      cos(radians(dec1)) - k[2] * tan(radians(height / 2)) * sin(radians(dec1)), k[1] * tan(radians(width / 2)),
      sin(radians(dec1)) + k[2] * tan(radians(height / 2)) * cos(radians(dec1))]],
      lambda p: [ra1 + degrees(atan2(p[2], p[1])), degrees(atan2(p[3], sqrt(p[1] * p[1] + p[2] * p[2])))])[1])) END`,
];

/** Binds the parts to names in SQL, so that each part is written once. */
function once(parts: Readonly<Record<string, string>>, sql: string): string {
  return Object.entries(parts).reduce(
    (inner, [name, of]) => `list_transform([${of}], lambda ${name}: ${inner})[1]`,
    sql,
  );
}

/** NULL if any of the parts is NULL, else `sql`. */
function known(parts: readonly string[], sql: string): string {
  return `(CASE WHEN ${parts.map(each => `${each} IS NOT NULL`).join(' AND ')} THEN ${sql} END)`;
}

const vector = (point: Point) => `adql_vector(${position(point)})`;
const places = ({ ra, dec }: Point) => [ra, dec].filter(({ constant }) => constant === undefined).map(double);
const vectors = ({ corners }: Polygon) => `adql_vectors(${corners})`;

export function inPolygonOfRow(point: Point, polygon: Polygon): string {
  return known(
    [...places(point), polygon.corners],
    once({ v: vectors(polygon), p: vector(point) }, 'adql_inside(p, v)'),
  );
}

/** The condition that a polygon touches or holds another shape. */
export function polygonAnd(polygon: Polygon, other: Circle | Polygon, does: 'touches' | 'holds'): string {
  const { corners } = polygon;
  if (other.kind === 'polygon') {
    const test = does === 'touches' ? 'adql_polygons_meet(v, w)' : 'adql_polygon_in(w, v)';
    return known([corners, other.corners], once({ v: vectors(polygon), w: vectors(other) }, test));
  }
  const near = `adql_to_edges(p, v)`;
  const test =
    does === 'touches' ? `adql_inside(p, v) OR ${near} <= r + ${EDGE}` : `adql_inside(p, v) AND ${near} >= r - ${EDGE}`;
  const radius = double(other.radius);
  const parts = { v: vectors(polygon), p: vector(other.centre), r: `radians(${radius})` };
  return known([corners, ...places(other.centre), radius], once(parts, test));
}

export function circleHolds({ centre, radius }: Circle, polygon: Polygon): string {
  const own = double(radius);
  const parts = { v: vectors(polygon), p: vector(centre), r: `radians(${own})` };
  return known([polygon.corners, ...places(centre), own], once(parts, 'adql_in_circle(v, p, r)'));
}

/** The corners of a box beyond a pole, as the engine's `adql_box` has them. */
export function boxOverPole(ra: number, dec: number, width: number, height: number): [number, number][] {
  const [d, w, h] = [dec, width / 2, height / 2].map(each => (each * Math.PI) / 180) as [number, number, number];
  return (
    [
      [-1, -1],
      [1, -1],
      [1, 1],
      [-1, 1],
    ] as const
  ).map(([east, north]) => {
    const x = Math.cos(d) - north * Math.tan(h) * Math.sin(d);
    const y = east * Math.tan(w);
    const z = Math.sin(d) + north * Math.tan(h) * Math.cos(d);
    const degrees = (radians: number) => (radians * 180) / Math.PI;
    return [(((ra + degrees(Math.atan2(y, x))) % 360) + 360) % 360, degrees(Math.atan2(z, Math.hypot(x, y)))];
  });
}
