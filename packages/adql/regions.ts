/** Tests between shapes that differ from row to row: polygons, circles and boxes as lists of corners. */
import { position } from './positions.ts';
import { type Circle, double, failing, type Point, type Polygon } from './values.ts';

/** Positions closer to an edge than this are on it, radians: 2 microarcseconds. */
const EDGE = '1e-11::DOUBLE';

/**
 * `v` is the list of a polygon's corners as unit vectors, `e` the list of its edges, and `s` its turn: 1 if the smaller
 * part is on the left of the edges, else -1. `p` and `a` to `d` are unit vectors. Parameters that occur several times must
 * be names or their elements. A lambda must not use a list from outside it: the engine copies such a list for each element.
 */
export const REGION_MACROS: readonly string[] = [
  'CREATE MACRO adql_vector(ra1, dec1) AS row(cos(radians(dec1)) * cos(radians(ra1)), cos(radians(dec1)) * sin(radians(ra1)), sin(radians(dec1)))',
  // From a list of coordinates: ra, dec, ra, dec, ...
  'CREATE MACRO adql_pairs(c) AS list_zip(c[1:-1:2], c[2:-1:2])',
  'CREATE MACRO adql_vectors(c) AS list_transform(adql_pairs(c), lambda k: adql_vector(k[1], k[2]))',
  'CREATE MACRO adql_edges(v) AS list_zip(v, list_concat(v[2:], v[:1]))',
  'CREATE MACRO adql_dot(a, b) AS a[1] * b[1] + a[2] * b[2] + a[3] * b[3]',
  'CREATE MACRO adql_triple(a, b, c) AS a[1] * (b[2] * c[3] - b[3] * c[2]) + a[2] * (b[3] * c[1] - b[1] * c[3]) + a[3] * (b[1] * c[2] - b[2] * c[1])',
  'CREATE MACRO adql_normal(a, b) AS sqrt(power(a[2] * b[3] - a[3] * b[2], 2) + power(a[3] * b[1] - a[1] * b[3], 2) + power(a[1] * b[2] - a[2] * b[1], 2))',
  // Half the area on the left of the edges, summed over a fan of triangles, modulo whole turns.
  `CREATE MACRO adql_half_area(v) AS list_transform([v[1]], lambda a: list_sum(list_transform(list_zip(v[2:-2], v[3:]), lambda k:
    atan2(adql_triple(a, k[1], k[2]), 1 + adql_dot(a, k[1]) + adql_dot(k[1], k[2]) + adql_dot(k[2], a)))))[1]`,
  'CREATE MACRO adql_turn(v) AS sign(sin(adql_half_area(v)))',
  `CREATE MACRO adql_polygon_area(c) AS list_transform([abs(2 * adql_half_area(adql_vectors(c))) % (4 * pi())],
    lambda s: degrees(degrees(least(s, 4 * pi() - s))))[1]`,
  // Seen from inside, the corners go around once, counterclockwise.
  `CREATE MACRO adql_around(p, e, s) AS s * list_sum(list_transform(e, lambda k:
    atan2(adql_triple(p, k[1], k[2]), adql_dot(k[1], k[2]) - adql_dot(k[1], p) * adql_dot(p, k[2])))) > pi()`,
  'CREATE MACRO adql_inside(p, v) AS adql_around(p, adql_edges(v), adql_turn(v))',
  'CREATE MACRO adql_angle(a, b) AS 2 * asin(least(1, sqrt(power(a[1] - b[1], 2) + power(a[2] - b[2], 2) + power(a[3] - b[3], 2)) / 2))',
  // The distance to an edge. It is the distance to the edge's great circle if the nearest point of that circle lies
  // between the ends.
  `CREATE MACRO adql_to_edge(p, a, b) AS CASE WHEN adql_normal(a, b) > 1e-14 AND adql_dot(b, p) >= adql_dot(a, p) * adql_dot(a, b)
    AND adql_dot(a, p) >= adql_dot(b, p) * adql_dot(a, b) THEN asin(least(1, abs(adql_triple(p, a, b)) / adql_normal(a, b)))
    ELSE least(adql_angle(p, a), adql_angle(p, b)) END`,
  'CREATE MACRO adql_to_edges(p, e) AS list_min(list_transform(e, lambda k: adql_to_edge(p, k[1], k[2])))',
  `CREATE MACRO adql_signed(a, b, p) AS adql_triple(a, b, p) / greatest(adql_normal(a, b), 1e-300)`,
  // Whether two edges cross, beyond rounding: the ends of each lie on both sides of the other, in one hemisphere.
  `CREATE MACRO adql_cross(a, b, c, d) AS adql_signed(a, b, c) * adql_signed(a, b, d) < -1e-22
    AND adql_signed(c, d, a) * adql_signed(c, d, b) < -1e-22 AND adql_signed(a, b, c) * adql_signed(c, d, b) > 0`,
  // Each lambda copies the lists of the other polygon, so the number of copies is the number of pairs of corners.
  `CREATE MACRO adql_edges_cross(e, f) AS list_bool_or(list_transform(e, lambda k: list_bool_or(list_transform(f,
    lambda m: adql_cross(k[1], k[2], m[1], m[2])))))`,
  `CREATE MACRO adql_all_edges(v, w) AS row(adql_edges(v), adql_edges(w), adql_turn(v), adql_turn(w))`,
  `CREATE MACRO adql_polygons_meet(v, w) AS list_transform([adql_all_edges(v, w)], lambda e:
    list_bool_or(list_transform(v, lambda p: adql_around(p, e[2], e[4]) OR adql_to_edges(p, e[2]) <= ${EDGE}))
    OR list_bool_or(list_transform(w, lambda p: adql_around(p, e[1], e[3]))) OR adql_edges_cross(e[1], e[2]))[1]`,
  `CREATE MACRO adql_polygon_in(v, w) AS list_transform([adql_all_edges(v, w)], lambda e:
    list_bool_and(list_transform(v, lambda p: adql_around(p, e[2], e[4]) OR adql_to_edges(p, e[2]) <= ${EDGE}))
    AND NOT adql_edges_cross(e[1], e[2]))[1]`,
  // A circle of up to 90 degrees contains every edge whose ends it contains. A larger one is the complement of the opposite circle.
  `CREATE MACRO adql_in_circle(v, p, r) AS CASE WHEN r <= pi() / 2
    THEN list_max(list_transform(v, lambda a: adql_angle(p, a))) <= r + ${EDGE}
    ELSE list_transform([row(-p[1], -p[2], -p[3])], lambda q: adql_to_edges(q, adql_edges(v)) >= pi() - r - ${EDGE} AND NOT adql_inside(q, v))[1] END`,
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

/**
 * The maximum number of pairs of corners that a query compares for each row. The engine ignores interrupts for 2,048
 * rows, which take a second with so many.
 */
export const MAX_PAIRS = 256;
/**
 * The maximum for a test of polygons whose number of corners differs from row to row. Most have few, so such a test counts
 * as fewer.
 */
const MAX_PAIRS_OF_ROW = 128;
export const COUNTED_PAIRS_OF_ROW = 64;

/** The number of pairs of corners that a test compares; undefined if it differs from row to row. */
export function pairsOf(polygons: readonly Polygon[], others = 1): number | undefined {
  return polygons.reduce<number | undefined>(
    (pairs, { count }) => (pairs === undefined || count === undefined ? undefined : pairs * count),
    others,
  );
}

/** A test that fails if a row has too many pairs of corners. */
function bounded(polygons: readonly Polygon[], others: number, sql: string): string {
  if (pairsOf(polygons) !== undefined) return sql;
  const pairs = [...polygons.map(({ corners }) => `(len(${corners}) // 2)`), others].join(' * ');
  const failure = failing(
    `polygons from a column are compared if they have at most ${MAX_PAIRS_OF_ROW} pairs of corners (a position has one, a circle two)`,
  );
  return `(CASE WHEN ${pairs} > ${MAX_PAIRS_OF_ROW} THEN ${failure} ELSE ${sql} END)`;
}

export function areaOfRow(polygon: Polygon): string {
  return bounded([polygon], 1, `adql_polygon_area(${polygon.corners})`);
}

export function inPolygonOfRow(point: Point, polygon: Polygon): string {
  return known(
    [...places(point), polygon.corners],
    bounded([polygon], 1, once({ v: vectors(polygon), p: vector(point) }, 'adql_inside(p, v)')),
  );
}

/** The condition that a polygon touches or holds another shape. */
export function polygonAnd(polygon: Polygon, other: Circle | Polygon, does: 'touches' | 'holds'): string {
  const { corners } = polygon;
  if (other.kind === 'polygon') {
    const test = does === 'touches' ? 'adql_polygons_meet(v, w)' : 'adql_polygon_in(w, v)';
    const parts = { v: vectors(polygon), w: vectors(other) };
    return known([corners, other.corners], bounded([polygon, other], 1, once(parts, test)));
  }
  const near = `adql_to_edges(p, adql_edges(v))`;
  const test =
    does === 'touches' ? `adql_inside(p, v) OR ${near} <= r + ${EDGE}` : `adql_inside(p, v) AND ${near} >= r - ${EDGE}`;
  const radius = double(other.radius);
  const parts = { v: vectors(polygon), p: vector(other.centre), r: `radians(${radius})` };
  return known([corners, ...places(other.centre), radius], bounded([polygon], 2, once(parts, test)));
}

export function circleHolds({ centre, radius }: Circle, polygon: Polygon): string {
  const own = double(radius);
  const parts = { v: vectors(polygon), p: vector(centre), r: `radians(${own})` };
  const sql = bounded([polygon], 2, once(parts, 'adql_in_circle(v, p, r)'));
  return known([polygon.corners, ...places(centre), own], sql);
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
