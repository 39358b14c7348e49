/**
 * Astrometric solutions at another epoch, as the IVOA's `ivo_epoch_prop` defines them: motion in a straight line at constant speed,
 * without light-travel time (ESA SP-1200, The Hipparcos and Tycho Catalogues, volume 1, section 1.5.5).
 */
import type { Column } from '@nearsky/astrotables';
import { AdqlError, given } from './adql_error.ts';
import { constantNumber, double, numberOf, type Operand, type Point, type Value, value } from './values.ts';

const MAS = (Math.PI / 648_000_000).toPrecision(17);
/** The astronomical unit, km year / s. */
const UNIT = '4.740470463533348e0';

/**
 * The position moves from the unit vector r to r (1 + zeta t) + mu t, which is then normalised. The axes are r, east and north at
 * the source, and right ascensions are relative to the source's.
 */
export const EPOCH_MACROS: readonly string[] = [
  `CREATE MACRO adql_epoch(ra1, dec1, plx, pmra, pmdec, rv, years) AS list_transform([{
    'a': radians(ra1), 'd': radians(dec1), 'plx': plx, 'e': pmra * ${MAS}, 'n': pmdec * ${MAS}, 't': years,
    'z': rv * plx * ${MAS} / ${UNIT}}], lambda s: list_transform([{
    'far': 1 + s.z * s.t,
    'f': 1 / sqrt(1 + 2 * s.z * s.t + (s.e * s.e + s.n * s.n + s.z * s.z) * s.t * s.t),
    'x': cos(s.d) * (1 + s.z * s.t) - sin(s.d) * s.n * s.t,
    'y': s.e * s.t,
    'h': sin(s.d) * (1 + s.z * s.t) + cos(s.d) * s.n * s.t,
    'r': -(s.e * s.e + s.n * s.n) * s.t}], lambda u: list_transform([{
    'da': atan2(u.y, u.x), 'd': atan2(u.h, sqrt(u.x * u.x + u.y * u.y)),
    'x': (cos(s.d) * u.r - sin(s.d) * s.n * u.far) * u.f * u.f * u.f,
    'y': s.e * u.far * u.f * u.f * u.f,
    'h': (sin(s.d) * u.r + cos(s.d) * s.n * u.far) * u.f * u.f * u.f}], lambda v: [
    degrees(s.a + v.da) - 360 * floor(degrees(s.a + v.da) / 360),
    degrees(v.d),
    s.plx * u.f,
    (v.y * cos(v.da) - v.x * sin(v.da)) / ${MAS},
    (v.h * cos(v.d) - sin(v.d) * (v.x * cos(v.da) + v.y * sin(v.da))) / ${MAS},
    CASE WHEN s.plx = 0 THEN rv
      ELSE (s.z + (s.e * s.e + s.n * s.n + s.z * s.z) * s.t) * u.f * ${UNIT} / (s.plx * ${MAS}) END])[1])[1])[1]`,
];

/** The SQL of the six parameters at another epoch. */
function propagated(args: readonly Operand[], at: number): string {
  if (args.length !== 6 && args.length !== 8)
    throw new AdqlError(at, `IVO_EPOCH_PROP_POS takes 6 or 8 arguments (${given(args.length)})`);
  const numbers = args.map(each => numberOf(each, 'a parameter of IVO_EPOCH_PROP'));
  const zero = constantNumber(at, 0);
  const [ra, dec, parallax, pmra, pmdec, rv, from, to] = (
    numbers.length === 8
      ? numbers
      : [numbers[0]!, numbers[1]!, zero, numbers[2]!, numbers[3]!, zero, ...numbers.slice(4)]
  ) as [Value, Value, Value, Value, Value, Value, Value, Value];
  const known = (of: Value) => (of.constant === undefined ? `coalesce(${double(of)}, 0)` : double(of));
  const solution = [double(ra), double(dec), known(parallax), double(pmra), double(pmdec), known(rv)];
  return `adql_epoch(${solution.join(', ')}, ${double(to)} - ${double(from)})`;
}

export function epochVector(args: readonly Operand[], at: number): Value {
  const sql = propagated(args, at);
  const isKnown = `isfinite((${sql})[1])`;
  const about: Column = {
    name: 'ivo_epoch_prop',
    type: 'text',
    description: 'ra, dec (deg), parallax (mas), pmra, pmdec (mas/yr) and radial velocity (km/s) at another epoch',
    numbers: 'float64',
  };
  return value(at, `(CASE WHEN ${isKnown} THEN array_to_string(${sql}, ' ') END)`, 'text', {
    column: { name: 'ivo_epoch_prop', sql: '', type: 'text', about },
  });
}

export function epochPosition(args: readonly Operand[], at: number): Point {
  const sql = propagated(args, at);
  const part = (i: number) => value(at, `(${sql})[${i}]`, 'float64');
  return { kind: 'point', at, ra: part(1), dec: part(2) };
}
