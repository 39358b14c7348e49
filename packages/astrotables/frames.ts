/**
 * Celestial reference frames, and the conversion of positions to ICRS. All angles are degrees. Proper motion and
 * parallax are ignored: positions lie on the unit sphere, as seen from the Solar System's barycentre.
 */

/** The systems that are converted. `FK4` includes the E-terms of aberration, as catalogs of that time do. */
export type FrameSystem = 'ICRS' | 'FK5' | 'FK4' | 'GALACTIC';

export interface Frame {
  readonly system: FrameSystem;
  /** A Julian year for FK5, a Besselian year for FK4; undefined for the other systems. */
  readonly equinox?: number;
  /** The Julian year at which FK4 positions were observed, because FK4 rotates; undefined for the equinox. */
  readonly obstime?: number;
}

export const ICRS: Frame = { system: 'ICRS' };
export const GALACTIC: Frame = { system: 'GALACTIC' };
/** The equinoxes of frames named without an equinox. */
const J2000 = 2000;
const B1950 = 1950;
/** Equinoxes outside these years are refused, because the precession polynomials are not valid there. */
const EQUINOXES = { min: 1700, max: 2200 };

/** A frame that cannot be converted. The message names it. */
export class FrameError extends Error {
  override name = 'FrameError';
}

/** A system, and an equinox with or without parentheses; one of the two may be missing. */
const NAME =
  /^(?:eq_)?(icr[sf]|fk5|fk4|gal(?:actic)?(?:_ii)?)?(?:(?:^|\s*[,(\s]\s*)(?:equinox\s*=\s*)?([bj]?\d{4}(?:\.\d*)?)\s*\)?)?$/;
const EQUINOX = /^([bj]?)(\d{4}(?:\.\d*)?)$/;

/**
 * The frame that a string names: `ICRS`, `FK5`, `FK5 J1975`, `fk4(B1875.0)`, `J2000`, `B1950`, `eq_FK4`, `galactic`.
 * FK5 without an equinox means J2000, FK4 means B1950.
 * @param equinox a separate equinox: `B1950`, `J2000.0`, `1975`; an equinox within the text takes precedence
 * @throws FrameError for any other text
 */
export function frameOf(text: string, equinox = ''): Frame {
  const [name, system = '', own] = NAME.exec(text.trim().toLowerCase()) ?? [];
  if (!name) throw unknown(text);
  if (system.startsWith('icr') || system.startsWith('gal')) {
    if (own !== undefined) throw unknown(text);
    return system.startsWith('icr') ? ICRS : GALACTIC;
  }
  const stated = own ?? equinox.trim().toLowerCase();
  const [, letter = '', year] = EQUINOX.exec(stated) ?? [];
  if (stated !== '' && year === undefined)
    throw new FrameError(`the equinox ${shown(stated)} of its positions must be a year such as J2000 or B1950`);
  const isFk4 = system === 'fk4' || (system === '' && letter === 'b');
  if (letter === (isFk4 ? 'j' : 'b') || (system === '' && letter === ''))
    throw new FrameError(
      `the frame ${shown(`${text} ${equinox}`)} is not converted: send FK4 of B1950, for example, or FK5 of J2000`,
    );
  const value = year === undefined ? (isFk4 ? B1950 : J2000) : Number(year);
  if (value < EQUINOXES.min || value > EQUINOXES.max)
    throw new FrameError(`the equinox of its positions must be ${EQUINOXES.min} to ${EQUINOXES.max} (got ${value})`);
  return { system: isFk4 ? 'FK4' : 'FK5', equinox: value };
}

const shown = (text: string) => text.trim().slice(0, 64);

function unknown(text: string): FrameError {
  return new FrameError(
    `the frame ${shown(text) || 'without a name'} is not converted: send ICRS, FK5, FK4 (both with an equinox, such as FK5 J1975 or FK4 B1950) or galactic positions`,
  );
}

/** The frame's name, as `frameOf` reads it: `ICRS`, `FK5 J2000`, `FK4 B1950`, `GALACTIC`. */
export function describeFrame({ system, equinox }: Frame): string {
  if (equinox === undefined) return system;
  return `${system} ${system === 'FK4' ? 'B' : 'J'}${equinox}`;
}

/** Whether positions are the same in both frames. */
export function isSameFrame(a: Frame, b: Frame): boolean {
  return a.system === b.system && a.equinox === b.equinox && a.obstime === b.obstime;
}

/** Units in degrees. A number may precede a unit: astropy writes hours as `15deg`. */
const SCALES: readonly (readonly [unit: RegExp, factor: number])[] = [
  // Not a square or a rate, such as deg2, deg**2 and deg/yr.
  [/^$|^(?:deg|°)[^\d*^/]*$/, 1],
  [/^rad(?:ians?)?$/, 180 / Math.PI],
  [/^(?:h|hr|hours?|hourangle)$/, 15],
  [/^arcmin(?:ute)?s?$/, 1 / 60],
  [/^(?:arcsec(?:ond)?s?|")$/, 1 / 3600],
  [/^(?:mas|m(?:illi[ -]?)?arcsec(?:ond)?s?)$/, 1 / 3_600_000],
  [/^(?:[uµμ]as|(?:[uµμ]|micro[ -]?)arcsec(?:ond)?s?)$/, 1 / 3_600_000_000],
];

/**
 * The degrees of a unit, as programs and archives spell it; undefined if it is not known as an angle. Hours are 15
 * degrees. FITS writes powers of ten as in `10**-6 arcsec`.
 */
export function degreesIn(unit: string): number | undefined {
  const plain = unit
    .trim()
    .toLowerCase()
    .replace(/^10\*\*/, '1e');
  const [, scale, base] = /^(\d[\d.]*(?:e[+-]?\d+)?)?\s*(.*)$/.exec(plain)!;
  const factor = SCALES.find(([pattern]) => pattern.test(base!))?.[1];
  return factor === undefined || scale === undefined ? factor : Number(scale) * factor;
}

/** Converts a longitude and a latitude, degrees, to right ascension (0 to 360) and declination in ICRS. */
export type ToIcrs = (lon: number, lat: number) => readonly [ra: number, dec: number];

/**
 * The conversion of a frame. It agrees with `SkyCoord.icrs` of astropy to a microarcsecond. Positions in ICRS stay as
 * they are, bit for bit. NaN and infinite coordinates become NaN.
 */
export function toIcrs(frame: Frame): ToIcrs {
  if (frame.system === 'ICRS') return (ra, dec) => [ra, dec];
  const matrix = matrixToIcrs(frame);
  const eTerms = frame.system === 'FK4' ? eTermsOf(frame.equinox!) : undefined;
  return (lon, lat) => {
    // A latitude beyond a pole is invalid, and must not become a valid position.
    if (!(Math.abs(lat) <= 90)) return [Number.NaN, Number.NaN];
    const place = vectorOf(lon, lat);
    return positionOf(times(matrix, eTerms ? withoutETerms(place, eTerms) : place));
  };
}

type Vector = readonly [x: number, y: number, z: number];
/** Rows of the matrix, one after the other. */
export type Matrix = readonly [Vector, Vector, Vector];

/**
 * The rotation from one frame to another.
 * @param from neither this nor `to` may be FK4, because its E-terms are not a rotation
 */
export function rotationBetween(from: Frame, to: Frame): Matrix {
  return product(transposed(matrixToIcrs(to)), matrixToIcrs(from));
}

/** A position, degrees, after a rotation; the longitude is 0 to 360. */
export function rotated(matrix: Matrix, lon: number, lat: number): readonly [number, number] {
  return positionOf(times(matrix, vectorOf(lon, lat)));
}

const RADIANS_PER_DEGREE = Math.PI / 180;
const RADIANS_PER_ARCSEC = RADIANS_PER_DEGREE / 3600;

function vectorOf(lon: number, lat: number): Vector {
  const cosLat = Math.cos(lat * RADIANS_PER_DEGREE);
  const angle = lon * RADIANS_PER_DEGREE;
  return [cosLat * Math.cos(angle), cosLat * Math.sin(angle), Math.sin(lat * RADIANS_PER_DEGREE)];
}

function positionOf([x, y, z]: Vector): readonly [number, number] {
  const ra = Math.atan2(y, x) / RADIANS_PER_DEGREE;
  // A tiny negative angle plus 360 rounds to 360, which is right ascension 0 as well.
  return [ra < 0 ? ra + 360 : ra, Math.atan2(z, Math.hypot(x, y)) / RADIANS_PER_DEGREE];
}

const dot = (a: Vector, b: Vector) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const times = (matrix: Matrix, vector: Vector): Vector => [
  dot(matrix[0], vector),
  dot(matrix[1], vector),
  dot(matrix[2], vector),
];

function transposed([a, b, c]: Matrix): Matrix {
  return [
    [a[0], b[0], c[0]],
    [a[1], b[1], c[1]],
    [a[2], b[2], c[2]],
  ];
}

const IDENTITY: Matrix = [
  [1, 0, 0],
  [0, 1, 0],
  [0, 0, 1],
];

/** The product of matrices; the last one is applied first. */
function product(...matrices: readonly Matrix[]): Matrix {
  return matrices.reduce((left, right) => {
    const columns = transposed(right);
    return left.map(row => columns.map(column => dot(row, column))) as unknown as Matrix;
  });
}

/** Rotates the axes by an angle in radians about one of them: 0 is x, 1 is y, 2 is z. */
function rotation(axis: 0 | 1 | 2, angle: number): Matrix {
  const [c, s] = [Math.cos(angle), Math.sin(angle)];
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

function matrixToIcrs({ system, equinox, obstime }: Frame): Matrix {
  switch (system) {
    case 'GALACTIC':
      return product(FK5_TO_ICRS, transposed(FK5_TO_GALACTIC));
    case 'FK5':
      return product(FK5_TO_ICRS, transposed(precessionFromJ2000(equinox!)));
    case 'FK4':
      return product(FK5_TO_ICRS, fk4ToFk5(obstime ?? julianYear(equinox!)), newcombPrecession(equinox!, B1950));
    default:
      return IDENTITY;
  }
}

/** The orientation of FK5 in ICRS: Mignard & Froeschle (2000, A&A 354, 732), as in USNO Circular 179, section 3.5. */
const FK5_TO_ICRS = transposed(
  product(
    rotation(0, 0.0199 * RADIANS_PER_ARCSEC),
    rotation(1, 0.0091 * RADIANS_PER_ARCSEC),
    rotation(2, -0.0229 * RADIANS_PER_ARCSEC),
  ),
);

/**
 * The galactic system of the IAU (Blaauw et al. 1960, MNRAS 121, 123) in FK5 J2000: the position of its north pole, and
 * the galactic longitude of the north celestial pole. These are the values defined at B1950, moved to J2000 without
 * E-terms (Murray 1989, A&A 218, 325).
 */
const GALACTIC_POLE = { ra: 192.8594812065348, dec: 27.12825118085622, longitude: 122.9319185680026 };
const FK5_TO_GALACTIC = product(
  rotation(2, (180 - GALACTIC_POLE.longitude) * RADIANS_PER_DEGREE),
  rotation(1, (90 - GALACTIC_POLE.dec) * RADIANS_PER_DEGREE),
  rotation(2, GALACTIC_POLE.ra * RADIANS_PER_DEGREE),
);

const polynomial = (t: number, coefficients: readonly number[]) =>
  coefficients.reduceRight((sum, coefficient) => sum * t + coefficient, 0);

/** Capitaine, Wallace & Chapront (2003, A&A 412, 567), equation 40: IAU 2006. */
function precessionFromJ2000(equinox: number): Matrix {
  const t = (equinox - J2000) / 100;
  const of = (...coefficients: number[]) => polynomial(t, coefficients) * RADIANS_PER_ARCSEC;
  const zeta = of(2.650545, 2306.083227, 0.2988499, 0.01801828, -5.971e-6, -3.173e-7);
  const z = of(-2.650545, 2306.077181, 1.0927348, 0.01826837, -2.8596e-5, -2.904e-7);
  const theta = of(0, 2004.191903, -0.4294934, -0.04182264, -7.089e-6, -1.274e-7);
  return product(rotation(2, -z), rotation(1, theta), rotation(2, -zeta));
}

/** From one Besselian equinox to another: Newcomb's precession (Explanatory Supplement, 1961, section 2B). */
function newcombPrecession(from: number, to: number): Matrix {
  const t = (from - 1850) / 1000;
  const dt = (to - from) / 1000;
  const of = (first: number, second: number, third: number) =>
    polynomial(dt, [0, first, second, third]) * RADIANS_PER_ARCSEC;
  const first = polynomial(t, [23035.545, 139.72, 0.06]);
  const zeta = of(first, 30.24 - 0.27 * t, 17.995);
  const z = of(first, 109.48 + 0.39 * t, 18.325);
  const theta = of(polynomial(t, [20051.12, -85.29, -0.37]), -42.65 - 0.37 * t, -41.8);
  return product(rotation(2, -z), rotation(1, theta), rotation(2, -zeta));
}

/**
 * From B1950 without E-terms to J2000, at the Julian year of the observation: FK4 rotates (Murray 1989, A&A 218, 325,
 * equations 28 and 29).
 */
function fk4ToFk5(obstime: number): Matrix {
  const t = (obstime - 1950) / 100;
  const matrix: Matrix = [
    [0.9999256794956877, -0.0111814832204662, -0.0048590038153592],
    [0.0111814832391717, 0.9999374848933135, -0.0000271625947142],
    [0.0048590037723143, -0.000027170293744, 0.9999881946023742],
  ];
  const change: Matrix = [
    [-0.0026455262e-6, -1.1539918689e-6, 2.111134619e-6],
    [1.1540628161e-6, -0.0129042997e-6, 0.0236021478e-6],
    [-2.1112979048e-6, -0.0056024448e-6, 0.0102587734e-6],
  ];
  return matrix.map((row, i) => row.map((value, j) => value + change[i]![j]! * t)) as unknown as Matrix;
}

const JD_J2000 = 2_451_545;
/** B1900.0, and the length of the tropical year then (Lieske 1979, A&A 73, 282). */
const JD_B1900 = 2_415_020.31352;
const TROPICAL_YEAR_DAYS = 365.242198781;
const CENTURY_DAYS = 36_525;

const julianDate = (besselianYear: number) => JD_B1900 + (besselianYear - 1900) * TROPICAL_YEAR_DAYS;
const julianYear = (besselianYear: number) => 2000 + (julianDate(besselianYear) - JD_J2000) / 365.25;

/** The E-terms of aberration at a Besselian equinox (Explanatory Supplement, 1992, section 3.53; obliquity of IAU 1980). */
function eTermsOf(equinox: number): Vector {
  const t = (julianDate(equinox) - julianDate(B1950)) / CENTURY_DAYS;
  const eccentricity = polynomial(t, [0.01673011, -0.00004193, -0.000000126]);
  const size = 0.0056932 * RADIANS_PER_DEGREE * eccentricity;
  const perigee = polynomial(t, [1_015_489.951, 6190.67, 1.65, 0.012]) * RADIANS_PER_ARCSEC;
  const centuries = (julianDate(equinox) - JD_J2000) / CENTURY_DAYS;
  const obliquity = polynomial(centuries, [84_381.448, -46.815, -0.00059, 0.001813]) * RADIANS_PER_ARCSEC;
  const across = -size * Math.cos(perigee);
  return [size * Math.sin(perigee), across * Math.cos(obliquity), across * Math.sin(obliquity)];
}

/** The conversion to ICRS does not depend on the vector's length. */
function withoutETerms(place: Vector, eTerms: Vector): Vector {
  const along = dot(eTerms, place);
  return place.map((value, i) => value - eTerms[i]! + along * value) as unknown as Vector;
}
