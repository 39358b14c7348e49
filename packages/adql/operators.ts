/** Literals, arithmetic and CAST. */
import type { Column } from '@nearsky/astrotables';
import { AdqlError } from './adql_error.ts';
import type { ArithmeticOperator, CastShape, CastType } from './syntax.ts';
import {
  arithmeticType,
  as,
  comparable,
  constantNumber,
  described,
  divisor,
  double,
  failing,
  numberOf,
  type Operand,
  textLiteral,
  textOf,
  type Value,
  type ValueType,
  value,
} from './values.ts';

const MAX_INTEGER = 2n ** 63n - 1n;

export function numberLiteral(at: number, text: string): Value {
  if (!/^\d+$/.test(text)) return constantNumber(at, Number(text));
  const integer = BigInt(text);
  if (integer <= MAX_INTEGER) return constantNumber(at, Number(integer), `${integer}`);
  const written = text.length <= 40 ? `${text}.0` : 'it with .0';
  throw new AdqlError(at, `an integer must be at most ${MAX_INTEGER}: write ${written} for a number with a fraction`);
}

export function stringLiteral(at: number, text: string): Value {
  if (text.includes('\0')) throw new AdqlError(at, 'a string must not contain the character U+0000');
  return value(at, textLiteral(text.toWellFormed()), 'text', { text });
}

export function negative(at: number, of: Value): Value {
  if (of.constant !== undefined && of.type !== 'int64') return constantNumber(at, -of.constant);
  const type = arithmeticType(of.type, 'null');
  const constant = of.constant === undefined ? {} : { constant: -of.constant };
  return value(at, `(-${as(type, of)})`, type, constant);
}

export function arithmetic(at: number, operator: ArithmeticOperator, left: Operand, right: Operand): Value {
  if (operator === '||') {
    const [a, b] = [textOf(left, 'an operand of ||'), textOf(right, 'an operand of ||')];
    return value(at, `(${a.sql} || ${b.sql})`, 'text');
  }
  const elapsed = operator === '-' ? difference(at, left, right) : undefined;
  if (elapsed) return elapsed;
  const [a, b] = [numberOf(left, `an operand of ${operator}`), numberOf(right, `an operand of ${operator}`)];
  const type = arithmeticType(a.type, b.type);
  const constant = folded(operator, a.constant, b.constant, type);
  if (constant !== undefined && type === 'float64') return constantNumber(at, constant);
  // Integers are divided as SQL does: 7 / 2 is 3.
  const sign = operator === '/' && type === 'int64' ? '//' : operator;
  const isDivision = operator === '/' || operator === '%';
  const [x, y] = type === 'int64' ? [as(type, a), as(type, b)] : [double(a), isDivision ? divisor(b) : double(b)];
  return value(at, `(${x} ${sign} ${y})`, type, constant === undefined ? {} : { constant });
}

/** The days between two times. One may be a string literal. Undefined if neither is a time. */
function difference(at: number, left: Operand, right: Operand): Value | undefined {
  if (left.kind !== 'value' || right.kind !== 'value') return undefined;
  const types = [left.type, right.type];
  if (!types.includes('time') || types.some(type => !['time', 'text', 'null'].includes(type))) return undefined;
  const [a, b] = comparable([left, right]) as [Value, Value];
  const sql = `((epoch_us(${as('time', a)}) - epoch_us(${as('time', b)})) / 86400e6::DOUBLE)`;
  const about: Column = {
    name: 'days',
    type: 'float64',
    unit: 'd',
    ucd: 'time.duration',
    description: 'Days between two times',
  };
  return value(at, sql, 'float64', { column: { name: 'days', sql, type: 'float64', about } });
}

/** The result of arithmetic on two constants; undefined if it is not exact or not finite. */
function folded(operator: string, a: number | undefined, b: number | undefined, type: ValueType): number | undefined {
  if (a === undefined || b === undefined) return undefined;
  const result = { '+': a + b, '-': a - b, '*': a * b, '/': a / b, '%': a % b }[operator] ?? Number.NaN;
  if (!Number.isFinite(result)) return undefined;
  if (type !== 'int64') return result;
  const whole = Math.trunc(result);
  return [a, b, whole].every(Number.isSafeInteger) ? whole : undefined;
}

export function cast(at: number, of: Value, type: Exclude<CastType, CastShape>): Value {
  if (typeof type === 'object') {
    const { characters } = type;
    const text = of.type === 'time' ? `strftime(${of.sql}, '%Y-%m-%dT%H:%M:%S.%f')` : `CAST(${of.sql} AS VARCHAR)`;
    return value(at, characters === undefined ? text : `left(${text}, ${characters})`, 'text');
  }
  const to = {
    SMALLINT: ['SMALLINT', 'int32'],
    INTEGER: ['INTEGER', 'int32'],
    BIGINT: ['BIGINT', 'int64'],
    REAL: ['FLOAT', 'float32'],
    DOUBLE: ['DOUBLE', 'float64'],
    TIMESTAMP: ['TIMESTAMP', 'time'],
  } as const;
  const [name, result] = to[type];
  const isFit = type === 'TIMESTAMP' ? ['text', 'time', 'null'].includes(of.type) : of.type !== 'time';
  if (!isFit) throw new AdqlError(of.at, `${described(of)} cannot be cast to ${type}`);
  const sql = `CAST(${of.sql} AS ${name})`;
  return value(at, result === 'int32' ? `CAST(${sql} AS INTEGER)` : sql, result);
}

/** The longest pattern of LIKE. */
const MAX_PATTERN_LENGTH = 1000;
/**
 * The same for a pattern with % and _, or from a table: each of its characters may be compared with each character of a
 * string, and that cannot be interrupted.
 */
const MAX_MIXED_LENGTH = 200;

export function like(at: number, x: Value, pattern: Value, ignoresCase: boolean, isNot: boolean): Value {
  const [text, of] = [x, pattern].map(({ sql }) => (ignoresCase ? `lower(${sql})` : sql)) as [string, string];
  const own = pattern.text;
  const isSimple = own !== undefined && !(own.includes('%') && own.includes('_'));
  const most = isSimple ? MAX_PATTERN_LENGTH : MAX_MIXED_LENGTH;
  const tooLong = `a pattern ${isSimple ? '' : 'with % and _, or of a table, '}has at most ${most} characters`;
  if (own !== undefined && own.length > most) throw new AdqlError(pattern.at, tooLong);
  const bounded = `CASE WHEN length(${of}) > ${most} THEN ${failing(tooLong)} ELSE ${of} END`;
  const test = isSimple ? `${text} LIKE ${of}` : `adql_like(${text}, ${own === undefined ? bounded : of})`;
  return value(at, isNot ? `(NOT ${test})` : `(${test})`, 'boolean');
}
