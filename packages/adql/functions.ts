/** Functions of one row with plain values. `shapes.ts` has the functions of shapes, `expressions.ts` the functions of many rows. */
import { AdqlError } from './adql_error.ts';
import { arithmetic } from './operators.ts';
import { conversion } from './units.ts';
import {
  arithmeticType,
  as,
  commonType,
  comparable,
  constantNumber,
  double,
  nullIf,
  numberOf,
  type Operand,
  plainValue,
  textLiteral,
  textOf,
  type Value,
  type ValueType,
  value,
} from './values.ts';

interface RowFunction {
  readonly least: number;
  readonly most: number;
  /** Set where it has another value each time. */
  readonly isRandom?: true;
  readonly write: (args: readonly Operand[], at: number) => Value;
}

/** A function of a double. Where it is not defined, the result is NULL, so that one row does not end a query. */
function ofDouble(sql: (x: string) => string): RowFunction {
  return {
    least: 1,
    most: 1,
    write: ([x], at) => value(at, sql(double(numberOf(x!, 'the argument'))), 'float64'),
  };
}

const named = (name: string) => ofDouble(x => `${name}(${x})`);
const where = (condition: (x: string) => string, name: string) =>
  ofDouble(x => `(CASE WHEN ${condition(x)} THEN ${name}(${x}) END)`);
const isPositive = (x: string) => `${x} > 0`;
const isSine = (x: string) => `${x} BETWEEN -1 AND 1`;

function rounded(name: 'round' | 'trunc'): RowFunction {
  return {
    least: 1,
    most: 2,
    write([x, places], at) {
      const number = double(numberOf(x!, 'the argument'));
      if (!places) return value(at, `${name}(${number})`, 'float64');
      const count = numberOf(places, 'the number of decimal places');
      if (count.type !== 'int64' || count.constant === undefined || Math.abs(count.constant) > 300)
        throw new AdqlError(places.at, 'the number of decimal places must be an integer that stands in the query');
      const near = `round(${number}, ${count.constant})`;
      if (name === 'round') return value(at, near, 'float64');
      // The nearest number with so many places, unless that is farther from 0: 0.29 * 100 is less than 29.
      const below = `round(${number} - sign(${number}) * power(10::DOUBLE, -(${count.constant})) / 2, ${count.constant})`;
      return value(at, `(CASE WHEN abs(${near}) <= abs(${number}) THEN ${near} ELSE ${below} END)`, 'float64');
    },
  };
}

const ofText = (name: string): RowFunction => ({
  least: 1,
  most: 1,
  write: ([x], at) => value(at, `${name}(${textOf(x!, 'the argument').sql})`, 'text'),
});

export const FUNCTIONS: Readonly<Record<string, RowFunction>> = {
  ABS: {
    least: 1,
    most: 1,
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
  SIN: named('sin'),
  COS: named('cos'),
  TAN: named('tan'),
  ATAN: named('atan'),
  COT: ofDouble(x => `(1::DOUBLE / ${nullIf(`tan(${x})`, '0')})`),
  LOG: where(isPositive, 'ln'),
  LOG10: where(isPositive, 'log10'),
  SQRT: where(x => `${x} >= 0`, 'sqrt'),
  ACOS: where(isSine, 'acos'),
  ASIN: where(isSine, 'asin'),
  ATAN2: {
    least: 2,
    most: 2,
    write: ([y, x], at) =>
      value(at, `atan2(${double(numberOf(y!, 'the argument'))}, ${double(numberOf(x!, 'the argument'))})`, 'float64'),
  },
  POWER: {
    least: 2,
    most: 2,
    write([x, y], at) {
      const [base, exponent] = [numberOf(x!, 'the base'), numberOf(y!, 'the exponent')];
      return value(at, nullIf(`power(${double(base)}, ${double(exponent)})`, "'NaN'::DOUBLE"), 'float64');
    },
  },
  MOD: {
    least: 2,
    most: 2,
    write: ([x, y], at) => arithmetic(at, '%', x!, y!),
  },
  PI: { least: 0, most: 0, write: (_, at) => constantNumber(at, Math.PI) },
  RAND: { least: 0, most: 1, isRandom: true, write: (_, at) => value(at, 'random()', 'float64') },
  ROUND: rounded('round'),
  TRUNCATE: rounded('trunc'),
  LOWER: ofText('lower'),
  UPPER: ofText('upper'),
  COALESCE: {
    least: 1,
    most: 1000,
    write(args, at) {
      const values = comparable(args.map(each => plainValue(each, 'an argument')));
      const type = commonType(values.map(each => each.type)) as ValueType;
      return value(at, `coalesce(${values.map(each => as(type, each)).join(', ')})`, type);
    },
  },
  NULLIF: {
    least: 2,
    most: 2,
    write(args, at) {
      const [a, b] = comparable(args.map(each => plainValue(each, 'an argument'))) as [Value, Value];
      return value(at, nullIf(a.sql, b.sql), a.type);
    },
  },
  IN_UNIT: {
    least: 2,
    most: 2,
    write([x, unit], at) {
      const number = numberOf(x!, 'the argument');
      const to = textOf(unit!, 'the unit').text;
      if (to === undefined)
        throw new AdqlError(unit!.at, "a unit must stand in the query, as in IN_UNIT(ra, 'arcsec')");
      const about = number.column?.about;
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
      } as const;
      return value(at, sql, 'float64', { column });
    },
  },
};
