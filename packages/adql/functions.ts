/**
 * Scalar functions: their SQL, and the documentation of those beyond ADQL (the IVOA's catalogue of user-defined functions,
 * EN-UDFCatalogue 1.1, and RegTAP 1.1, section 7). `aggregates.ts` has the aggregate functions.
 */
import { AdqlError } from './adql_error.ts';
import { epochPosition, epochVector } from './epochs.ts';
import { transformed } from './frames.ts';
import { arithmetic, like, stringLiteral } from './operators.ts';
import { position } from './positions.ts';
import { type Shapes, shapeOperand } from './shapes.ts';
import { conversion } from './units.ts';
import {
  arithmeticType,
  as,
  commonType,
  comparable,
  constantNumber,
  double,
  nullIf,
  nullUnless,
  numberOf,
  type Operand,
  plainValue,
  pointOf,
  textLiteral,
  textOf,
  type Value,
  type ValueType,
  value,
} from './values.ts';

/** The documentation of a function: its forms and their meaning. */
export interface Documented {
  readonly forms?: Readonly<Record<string, string>>;
}

export interface RowFunction extends Documented {
  /** Set for ADQL's geometry functions. */
  readonly isShape?: true;
  /** The number of arguments, or the least and the greatest. */
  readonly takes: number | readonly [least: number, most: number];
  /** Set if the value differs at each call. */
  readonly isRandom?: true;
  /** @param row SQL that differs from row to row */
  readonly write: (args: readonly Operand[], at: number, shapes: Shapes, row: () => string) => Operand;
}

/** A function of a double. Outside its domain the result is NULL, so that one row does not fail the query. */
function ofDouble(sql: (x: string) => string): RowFunction {
  return {
    takes: 1,
    write: ([x], at) => value(at, sql(double(numberOf(x!, 'the argument'))), 'float64'),
  };
}

const named = (name: string) => ofDouble(x => `${name}(${x})`);
const where = (condition: (x: string) => string, name: string) =>
  ofDouble(x => nullUnless(condition(x), `${name}(${x})`));
/** The engine fails at an angle that is infinite. */
const ofAngle = (name: string) => where(x => `isfinite(${x})`, name);
const isPositive = (x: string) => `${x} > 0`;
const isSine = (x: string) => `${x} BETWEEN -1 AND 1`;

function rounded(name: 'round' | 'trunc'): RowFunction {
  return {
    takes: [1, 2],
    write([x, places], at) {
      const number = double(numberOf(x!, 'the argument'));
      if (!places) return value(at, `${name}(${number})`, 'float64');
      const count = numberOf(places, 'the number of decimal places');
      if (count.type !== 'int64' || count.constant === undefined || Math.abs(count.constant) > 300)
        throw new AdqlError(places.at, 'the number of decimal places must be an integer that is a constant');
      // PostgreSQL rounds to places as a decimal number, which has no -0; ATAN2 tells -0 from 0.
      const near = `(round(${number}, ${count.constant}) + 0::DOUBLE)`;
      if (name === 'round') return value(at, near, 'float64');
      // Rounds to this many digits, but never away from 0: in floating point, 0.29 * 100 is less than 29.
      const below = `round(${number} - sign(${number}) * power(10::DOUBLE, -(${count.constant})) / 2, ${count.constant}) + 0::DOUBLE`;
      return value(at, `(CASE WHEN abs(${near}) <= abs(${number}) THEN ${near} ELSE ${below} END)`, 'float64');
    },
  };
}

const ofText = (name: string): RowFunction => ({
  takes: 1,
  write: ([x], at) => value(at, `${name}(${textOf(x!, 'the argument').sql})`, 'text'),
});

export const FUNCTIONS: Readonly<Record<string, RowFunction>> = {
  ABS: {
    takes: 1,
    write([x], at) {
      const number = numberOf(x!, 'the argument');
      const type = arithmeticType(number.type, 'null');
      return value(at, `abs(${as(type, number)})`, type);
    },
  },
  CEILING: named('ceil'),
  FLOOR: named('floor'),
  DEGREES: named('degrees'),
  RADIANS: named('radians'),
  EXP: named('exp'),
  SIN: ofAngle('sin'),
  COS: ofAngle('cos'),
  TAN: ofAngle('tan'),
  ATAN: named('atan'),
  COT: ofDouble(x => nullUnless(`isfinite(${x})`, `1::DOUBLE / ${nullIf(`tan(${x})`, '0')}`)),
  LOG: where(isPositive, 'ln'),
  LOG10: where(isPositive, 'log10'),
  SQRT: where(x => `${x} >= 0`, 'sqrt'),
  ACOS: where(isSine, 'acos'),
  ASIN: where(isSine, 'asin'),
  ATAN2: {
    takes: 2,
    write: ([y, x], at) =>
      value(at, `atan2(${double(numberOf(y!, 'the argument'))}, ${double(numberOf(x!, 'the argument'))})`, 'float64'),
  },
  POWER: {
    takes: 2,
    write([x, y], at) {
      const [base, exponent] = [numberOf(x!, 'the base'), numberOf(y!, 'the exponent')];
      return value(at, nullIf(`power(${double(base)}, ${double(exponent)})`, "'NaN'::DOUBLE"), 'float64');
    },
  },
  MOD: {
    takes: 2,
    write: ([x, y], at) => arithmetic(at, '%', x!, y!),
  },
  PI: { takes: 0, write: (_, at) => constantNumber(at, Math.PI) },
  RAND: {
    takes: [0, 1],
    isRandom: true,
    write([seed], at, _, row) {
      if (!seed) return value(at, 'random()', 'float64');
      const { sql } = numberOf(seed, 'the seed');
      // The upper 53 of 64 bits.
      return value(at, `(CAST(hash(${sql}, ${row()}) >> 11 AS DOUBLE) / ${2 ** 53}::DOUBLE)`, 'float64');
    },
  },
  ROUND: rounded('round'),
  TRUNCATE: rounded('trunc'),
  LOWER: ofText('lower'),
  UPPER: ofText('upper'),
  COALESCE: {
    takes: [1, 1000],
    write(args, at) {
      const values = comparable(args.map(each => plainValue(each, 'an argument')));
      const type = commonType(values.map(each => each.type)) as ValueType;
      return value(at, `coalesce(${values.map(each => as(type, each)).join(', ')})`, type);
    },
  },
  NULLIF: {
    takes: 2,
    write(args, at) {
      const [a, b] = comparable(args.map(each => plainValue(each, 'an argument'))) as [Value, Value];
      return value(at, nullIf(a.sql, b.sql), a.type);
    },
  },
  IN_UNIT: {
    takes: 2,
    write([x, unit], at) {
      const number = numberOf(x!, 'the argument');
      const to = textOf(unit!, 'the unit').text;
      if (to === undefined) throw new AdqlError(unit!.at, "a unit must be a constant, as in IN_UNIT(ra, 'arcsec')");
      const { about, source } = number.column ?? {};
      if (!about?.unit) throw new AdqlError(x!.at, 'IN_UNIT takes a column that has a unit');
      const factor = conversion(about.unit, to);
      if (factor === undefined) {
        const message = `${about.name} has the unit ${about.unit}, which cannot be converted to ${textLiteral(to.slice(0, 40))}`;
        throw new AdqlError(unit!.at, `${message}: give a unit of VOUnits of the same kind`);
      }
      const sql = `(${double(number)} * ${constantNumber(at, factor).sql})`;
      const column = {
        name: about.name,
        sql,
        type: 'float64',
        about: { ...about, type: 'float64', unit: to },
        // Rows near such a position can be looked for, as with the column itself.
        ...(source && { source }),
      } as const;
      return value(at, sql, 'float64', { column });
    },
  },
  SUBSTRING: {
    takes: [2, 3],
    forms: {
      'SUBSTRING(str TEXT, start INTEGER, length INTEGER) -> TEXT':
        'The characters of a string from a position on, counted from 1; to its end if the length is omitted. SUBSTRING(str FROM start FOR length) is the same',
    },
    write([text, start, length], at) {
      const { sql } = textOf(text!, 'the argument of SUBSTRING');
      const [from, count] = [start!, length].map(
        each => each && as('int64', integerOf(each, 'a position in a string')),
      );
      // The engine counts positions below 1 from the end of the string.
      const first = `greatest(${from}, 1)`;
      if (!count) return value(at, `substr(${sql}, ${first})`, 'text');
      return value(at, `substr(${sql}, ${first}, greatest(${from} + ${count} - ${first}, 0))`, 'text');
    },
  },
  IVO_NOCASEMATCH: {
    takes: 2,
    forms: {
      'ivo_nocasematch(value TEXT, pat TEXT) -> INTEGER':
        '1 if a pattern of LIKE matches a string, ignoring case, else 0',
    },
    write([text, pattern], at) {
      const [x, of] = [textOf(text!, 'the text'), textOf(pattern!, 'the pattern')];
      return value(at, `CAST(${like(at, x, of, true, false).sql} AS INTEGER)`, 'int32');
    },
  },
  IVO_HASHLIST_HAS: {
    takes: 2,
    forms: {
      'ivo_hashlist_has(hashlist TEXT, item TEXT) -> INTEGER':
        '1 if a word is in a list of words separated by #, ignoring case, else 0',
    },
    write([list, item], at) {
      const [words, word] = [textOf(list!, 'the list'), textOf(item!, 'the word')];
      return value(
        at,
        `CAST(list_contains(string_split(lower(${words.sql}), '#'), lower(${word.sql})) AS INTEGER)`,
        'int32',
      );
    },
  },
  IVO_TO_MJD: julianDate('ivo_to_mjd', 40587, 'modified Julian date'),
  IVO_TO_JD: julianDate('ivo_to_jd', 2440587.5, 'Julian date'),
  GAVO_TO_MJD: julianDate('gavo_to_mjd', 40587, 'modified Julian date'),
  GAVO_TO_JD: julianDate('gavo_to_jd', 2440587.5, 'Julian date'),
  IVO_EPOCH_PROP: {
    takes: 8,
    forms: {
      'ivo_epoch_prop(ra DOUBLE, dec DOUBLE, parallax DOUBLE, pmra DOUBLE, pmdec DOUBLE, rv DOUBLE, ref_epoch DOUBLE, out_epoch DOUBLE) -> DOUBLE[]':
        'The six parameters of an astrometric solution at another epoch: deg, deg, mas, mas/yr, mas/yr, km/s; epochs are Julian years. A parallax or radial velocity of NULL counts as 0',
    },
    write: (args, at) => epochVector(args, at),
  },
  IVO_EPOCH_PROP_POS: {
    takes: [6, 8],
    forms: {
      'ivo_epoch_prop_pos(ra DOUBLE, dec DOUBLE, parallax DOUBLE, pmra DOUBLE, pmdec DOUBLE, rv DOUBLE, ref_epoch DOUBLE, out_epoch DOUBLE) -> POINT':
        'The position of a source at another epoch, from the parameters of ivo_epoch_prop',
      'ivo_epoch_prop_pos(ra DOUBLE, dec DOUBLE, pmra DOUBLE, pmdec DOUBLE, ref_epoch DOUBLE, out_epoch DOUBLE) -> POINT':
        'The same without parallax and radial velocity',
    },
    write: (args, at) => epochPosition(args, at),
  },
  IVO_GEOM_TRANSFORM: {
    takes: 3,
    forms: {
      'ivo_geom_transform(from_sys TEXT, to_sys TEXT, geo GEOMETRY) -> GEOMETRY':
        'A POINT, CIRCLE, BOX or POLYGON in another frame: ICRS, FK5 (equinox J2000) or GALACTIC, which must be a constant. There is no FK4',
    },
    write: ([from, to, shape], at) =>
      transformed(at, textOf(from!, 'a frame'), textOf(to!, 'a frame'), shapeOperand('IVO_GEOM_TRANSFORM', shape!)),
  },
  ...Object.fromEntries(
    ['POINT', 'CIRCLE', 'BOX', 'POLYGON', 'CENTROID'].map((name): [string, RowFunction] => [
      name,
      { takes: [0, 1000], isShape: true, write: (args, at, shapes) => shapes.shape({ at, name }, args) },
    ]),
  ),
  ...Object.fromEntries(
    ['CONTAINS', 'INTERSECTS'].map((name): [string, RowFunction] => [
      name,
      {
        takes: 2,
        isShape: true,
        write: (args, at, shapes) =>
          value(at, `CAST(${shapes.predicate({ at, name }, args, undefined)} AS INTEGER)`, 'int32', {
            asCondition: `1 = ${name}(...)`,
          }),
      },
    ]),
  ),
  DISTANCE: {
    takes: [2, 4],
    isShape: true,
    write(args, at, shapes) {
      const [a, b] = shapes.points(at, args);
      return value(at, `adql_distance(${position(a)}, ${position(b)})`, 'float64');
    },
  },
  AREA: { takes: 1, isShape: true, write: ([shape], at, shapes) => shapes.area(at, shape!) },
  COORD1: coordinate('COORD1', 'ra'),
  COORD2: coordinate('COORD2', 'dec'),
  COORDSYS: {
    takes: 1,
    isShape: true,
    write([shape], at) {
      shapeOperand('COORDSYS', shape!);
      return stringLiteral(at, 'ICRS');
    },
  },
  MOC: {
    takes: [1, 2],
    forms: {
      'MOC(ascii TEXT) -> MOC':
        'The MOC of a constant string such as 4/0-3,5 6/100, for CONTAINS and INTERSECTS with a POINT, and for AREA',
      'MOC(hpxOrder INTEGER, shape GEOMETRY) -> MOC':
        'The MOC of the pixels of an order that a POINT, CIRCLE, BOX, POLYGON or MOC touches. Arguments must be constants; for shapes other than POINT and MOC, the order is at most 13',
    },
    write: ([operand, shape], at, shapes) => shapes.moc(at, [operand!, shape]),
  },
  IVO_HEALPIX_INDEX: {
    takes: [2, 3],
    forms: {
      'ivo_healpix_index(hpxOrder INTEGER, long DOUBLE, lat DOUBLE) -> BIGINT':
        'The HEALPix pixel of a position, NESTED; the order is 0 to 29 and must be a constant',
      'ivo_healpix_index(hpxOrder INTEGER, p POINT) -> BIGINT': 'The HEALPix pixel of a point',
    },
    write: (args, at, shapes) => shapes.healpixIndex(at, args as [Operand, ...Operand[]]),
  },
  IVO_HEALPIX_CENTER: {
    takes: 2,
    forms: {
      'ivo_healpix_center(hpxOrder INTEGER, hpxIndex BIGINT) -> POINT':
        'The centre of a pixel, NESTED; the order is 0 to 29 and must be a constant',
    },
    write: (args, at, shapes) => shapes.healpixCentre(at, args as [Operand, Operand]),
  },
};

function coordinate(name: string, part: 'ra' | 'dec'): RowFunction {
  return {
    takes: 1,
    isShape: true,
    write([operand]) {
      const own = pointOf(operand!, `the argument of ${name}`)[part];
      return { ...own, sql: double(own), type: 'float64' };
    },
  };
}

function integerOf(operand: Operand, role: string): Value {
  const number = numberOf(operand, role);
  if (number.type.startsWith('float')) throw new AdqlError(number.at, `${role} must be an integer`);
  return number;
}

function julianDate(name: string, epoch: number, what: string): RowFunction {
  return {
    takes: 1,
    forms: { [`${name}(d TIMESTAMP) -> DOUBLE`]: `A time as ${what}, in its own time scale` },
    write([time], at) {
      const own = plainValue(time!, `the argument of ${name.toUpperCase()}`);
      const [, x] = comparable([TIME, own]) as [Value, Value];
      return value(at, `(${constantNumber(at, epoch).sql} + epoch_us(${as('time', x)}) / 86400e6::DOUBLE)`, 'float64');
    },
  };
}

/** A time, for strings that are compared to it. */
const TIME = value(0, 'NULL', 'time');
