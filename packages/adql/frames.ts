/**
 * Shapes in another frame, for the IVOA's `ivo_geom_transform`: rotations, with the constants of the Explanatory Supplement (FK5 beside
 * ICRS) and of the IAU's galactic frame in FK5.
 */
import { wrapRa } from '@nearsky/sky-index';
import { AdqlError } from './adql_error.ts';
import { isConstant, position } from './positions.ts';
import { constantNumber, double, type Point, polygonShape, type Shape, type Value, value } from './values.ts';

type Matrix = readonly (readonly [number, number, number])[];

const times = (a: Matrix, b: Matrix): Matrix =>
  a.map(row => [0, 1, 2].map(j => row[0] * b[0]![j]! + row[1] * b[1]![j]! + row[2] * b[2]![j]!)) as unknown as Matrix;
const transposed = (m: Matrix): Matrix => [0, 1, 2].map(i => m.map(row => row[i]!)) as unknown as Matrix;

/** The axes turned by an angle, degrees, around one of them. */
function turn(degrees: number, axis: 0 | 1 | 2): Matrix {
  const [c, s] = [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)];
  if (axis === 0)
    return [
      [1, 0, 0],
      [0, c, s],
      [0, -s, c],
    ];
  if (axis === 1)
    return [
      [c, 0, -s],
      [0, 1, 0],
      [s, 0, c],
    ];
  return [
    [c, s, 0],
    [-s, c, 0],
    [0, 0, 1],
  ];
}

const MAS = 1 / 3_600_000;
const FK5 = times(turn(19.9 * MAS, 0), times(turn(9.1 * MAS, 1), turn(-22.9 * MAS, 2)));
const GALACTIC_OF_FK5 = times(
  turn(180 - 122.9319185680026, 2),
  times(turn(90 - 27.12825118085622, 1), turn(192.8594812065348, 2)),
);

/** From ICRS, by the names of the IVOA's vocabulary of frames. */
const FRAMES: Readonly<Record<string, Matrix>> = {
  ICRS: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  FK5,
  GALACTIC: times(GALACTIC_OF_FK5, FK5),
};

const between = (from: string, to: string) => times(FRAMES[to]!, transposed(FRAMES[from]!));

export const FRAME_MACROS: readonly string[] = [
  ...Object.keys(FRAMES).flatMap(from =>
    Object.keys(FRAMES).map(
      to =>
        `CREATE MACRO ${rotation(from, to)} AS [${between(from, to)
          .flat()
          .map(each => double(constantNumber(0, each)))
          .join(', ')}]`,
    ),
  ),
  `CREATE MACRO adql_turned(ra1, dec1, m) AS list_transform([list_transform([0, 3, 6], lambda i:
    cos(radians(dec1)) * (cos(radians(ra1)) * m[i + 1] + sin(radians(ra1)) * m[i + 2]) + sin(radians(dec1)) * m[i + 3])],
    lambda p: [degrees(atan2(p[2], p[1])) + CASE WHEN atan2(p[2], p[1]) < 0 THEN 360 ELSE 0 END,
      degrees(atan2(p[3], sqrt(p[1] * p[1] + p[2] * p[2])))])[1]`,
];

/** The engine's matrix from one frame to another. */
function rotation(from: string, to: string): string {
  return `adql_${from}_${to}()`;
}

function frameOf({ text, at }: Value): string {
  if (text === undefined) throw new AdqlError(at, "a frame must stand in the query, as in 'GALACTIC'");
  const name = text.trim().toUpperCase();
  if (Object.hasOwn(FRAMES, name)) return name;
  throw new AdqlError(at, `a frame is one of ${Object.keys(FRAMES).join(', ')}`);
}

export function transformed(at: number, from: Value, to: Value, shape: Shape): Shape {
  const frames = [frameOf(from), frameOf(to)] as const;
  const matrix = between(...frames);
  const own = rotation(...frames);
  const point = (of: Point): Point => {
    const part = (index: number) => value(of.at, `adql_turned(${position(of)}, ${own})[${index}]`, 'float64');
    if (!isConstant(of)) return { kind: 'point', at: of.at, ra: part(1), dec: part(2) };
    const [ra, dec] = turned([of.ra.constant!, of.dec.constant!], matrix);
    return { kind: 'point', at: of.at, ra: constantNumber(at, ra), dec: constantNumber(at, dec) };
  };
  switch (shape.kind) {
    case 'point':
      return point(shape);
    case 'circle':
      return { ...shape, centre: point(shape.centre) };
    case 'polygon':
      if (shape.vertices)
        return polygonShape(
          at,
          shape.vertices.map(each => turned(each, matrix)),
        );
      return {
        kind: 'polygon',
        at,
        corners: `flatten(list_transform(range(1, len(${shape.corners}), 2), lambda k: adql_turned(${shape.corners}[k], ${shape.corners}[k + 1], ${own})))`,
      };
    default:
      throw new AdqlError(shape.at, 'IVO_GEOM_TRANSFORM takes a POINT, CIRCLE, BOX or POLYGON, and a MOC stands here');
  }
}

function turned([ra, dec]: readonly [number, number], matrix: Matrix): [number, number] {
  const [a, d] = [(ra * Math.PI) / 180, (dec * Math.PI) / 180];
  const place = [Math.cos(d) * Math.cos(a), Math.cos(d) * Math.sin(a), Math.sin(d)] as const;
  const [x, y, z] = matrix.map(row => row[0] * place[0] + row[1] * place[1] + row[2] * place[2]) as [
    number,
    number,
    number,
  ];
  return [wrapRa((Math.atan2(y, x) * 180) / Math.PI), (Math.atan2(z, Math.hypot(x, y)) * 180) / Math.PI];
}
