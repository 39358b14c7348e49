/** Rotates shapes to another frame, for the IVOA's `ivo_geom_transform`. */
import {
  type Frame,
  frameOf as frameNamed,
  GALACTIC,
  ICRS,
  rotated,
  rotationBetween,
} from '@nearsky/astrotables/frames';
import { AdqlError } from './adql_error.ts';
import { isConstant, position } from './positions.ts';
import { constantNumber, double, type Point, polygonShape, type Shape, type Value, value } from './values.ts';

/** The frames by their name in the IVOA's vocabulary. */
const FRAMES: Readonly<Record<string, Frame>> = { ICRS, FK5: frameNamed('FK5'), GALACTIC };

const between = (from: string, to: string) => rotationBetween(FRAMES[from]!, FRAMES[to]!);

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
  if (text === undefined) throw new AdqlError(at, "a frame must be a constant, such as 'GALACTIC'");
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
    const [ra, dec] = rotated(matrix, of.ra.constant!, of.dec.constant!);
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
          shape.vertices.map(([ra, dec]) => rotated(matrix, ra, dec)),
        );
      return {
        ...shape,
        at,
        corners: `flatten(list_transform(adql_pairs(${shape.corners}), lambda k: adql_turned(k[1], k[2], ${own})))`,
      };
    default:
      throw new AdqlError(shape.at, 'IVO_GEOM_TRANSFORM takes a POINT, CIRCLE, BOX or POLYGON (a MOC was given)');
  }
}
