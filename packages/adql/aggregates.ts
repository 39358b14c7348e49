/** Aggregate functions: their SQL, and the documentation of those that ADQL lacks. */
import type { Column } from '@nearsky/astrotables';
import { AdqlError } from './adql_error.ts';
import type { Documented } from './functions.ts';
import { constantOf, fixed } from './shapes.ts';
import {
  arithmeticType,
  constantNumber,
  double,
  numberOf,
  type Operand,
  plainValue,
  type ScopeColumn,
  textLiteral,
  textOf,
  type Value,
  value,
} from './values.ts';

interface Aggregate extends Documented {
  readonly takes: number;
  /** @param distinct `DISTINCT ` or nothing */
  readonly write: (args: readonly Operand[], at: number, distinct: string) => Value;
}

function extreme(name: 'min' | 'max'): Aggregate {
  return {
    takes: 1,
    write([operand], at) {
      const x = plainValue(operand!, `the argument of ${name.toUpperCase()}`);
      if (x.type === 'boolean') throw new AdqlError(x.at, `${name.toUpperCase()} takes numbers, texts and times`);
      const column = x.column && { name, sql: '', type: x.type, about: x.column.about };
      return value(at, `${name}(${x.sql})`, x.type, column && { column });
    },
  };
}

const ofDoubles = (name: string, does: string): Aggregate => ({
  takes: 1,
  write: ([x], at, distinct) => value(at, `${name}(${distinct}${double(numberOf(x!, does))})`, 'float64'),
});

/** The aggregate functions by name. MEDIAN and STDDEV are in no standard. The others with `forms` are in the IVOA's catalogue of functions. */
export const AGGREGATES: Readonly<Record<string, Aggregate>> = {
  COUNT: {
    takes: 1,
    write: ([x], at, distinct) =>
      value(at, `count(${distinct}${plainValue(x!, 'the argument of COUNT').sql})`, 'int64'),
  },
  SUM: {
    takes: 1,
    write([operand], at, distinct) {
      const x = numberOf(operand!, 'the argument of SUM');
      if (arithmeticType(x.type, 'null') === 'int64')
        return value(at, `CAST(sum(${distinct}${x.sql}) AS BIGINT)`, 'int64');
      return value(at, `sum(${distinct}${double(x)})`, 'float64');
    },
  },
  AVG: ofDoubles('avg', 'the argument of AVG'),
  MIN: extreme('min'),
  MAX: extreme('max'),
  MEDIAN: {
    ...ofDoubles('median', 'the argument of MEDIAN'),
    forms: {
      'MEDIAN(x DOUBLE) -> DOUBLE':
        'The median of the rows of a group; for an even number of rows, the mean of the middle two',
    },
  },
  STDDEV: {
    ...ofDoubles('stddev_samp', 'the argument of STDDEV'),
    forms: {
      'STDDEV(x DOUBLE) -> DOUBLE':
        'The standard deviation of a sample, with n - 1 in the denominator; NULL for one row',
    },
  },
  IVO_STRING_AGG: {
    takes: 2,
    forms: {
      'ivo_string_agg(expr TEXT, delim TEXT) -> TEXT':
        'The strings of all rows of a group, ascending, joined by a delimiter, which must be a constant',
    },
    write([operand, delimiter], at, distinct) {
      const { text } = textOf(delimiter!, 'the delimiter');
      if (text === undefined) throw new AdqlError(delimiter!.at, 'the delimiter must be a constant');
      const { sql } = textOf(operand!, 'the argument of IVO_STRING_AGG');
      return value(at, `string_agg(${distinct}${sql}, ${textLiteral(text)} ORDER BY ${sql})`, 'text');
    },
  },
  IVO_HISTOGRAM: {
    takes: 4,
    forms: {
      'ivo_histogram(val DOUBLE, lower DOUBLE, upper DOUBLE, nbins INTEGER) -> BIGINT[]':
        'The number of values below lower, in each of nbins equal parts from there to upper (exclusive), and from upper on. Bounds must be constants; NULL is not counted',
    },
    write([x, ...args], at, distinct) {
      const bounds = args.map(each => numberOf(each, 'a bound, or the number of bins'));
      return histogram(at, numberOf(x!, 'the argument of IVO_HISTOGRAM'), bounds.map(fixed), distinct);
    },
  },
};

/** The maximum number of bins in a histogram. */
const MAX_BINS = 10_000;

/**
 * Counts the rows below a range, in each of its equal parts, and at or above its end (the IVOA's catalogue of functions,
 * 1.0).
 */
function histogram(at: number, x: Value, [lower, upper, bins]: readonly Value[], distinct: string): Value {
  const [low, high, count] = [lower!, upper!, bins!].map(constantOf) as [number, number, number];
  if (!(low < high)) throw new AdqlError(upper!.at, 'the end of a histogram must be greater than its start');
  if (!(Number.isInteger(count) && count >= 1 && count <= MAX_BINS))
    throw new AdqlError(bins!.at, `the number of bins of a histogram must be 1 to ${MAX_BINS} (${count} was given)`);
  const place = `floor((${double(x)} - ${double(lower!)}) / ${constantNumber(at, high - low).sql} * ${count})`;
  const inside = `1 + CAST(least(${place}, ${count - 1}) AS INTEGER)`;
  const bin = `CASE WHEN ${double(x)} < ${double(lower!)} THEN 0 WHEN ${double(x)} < ${double(upper!)} THEN ${inside} WHEN isnan(${double(x)}) THEN NULL WHEN ${double(x)} IS NOT NULL THEN ${count + 1} END`;
  const counts = `list_transform(range(0, ${count + 2}), lambda bin: coalesce(histogram(${distinct}${bin})[bin], 0))`;
  const about: Column = { name: 'ivo_histogram', type: 'text', description: '', numbers: 'int64' };
  const column: ScopeColumn = { name: 'ivo_histogram', sql: '', type: 'text', about };
  return value(at, `array_to_string(${counts}, ' ')`, 'text', { column });
}
