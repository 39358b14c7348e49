/** Translated parts of a query: values with their types, and shapes. */
import type { Column, ColumnType } from '@nearsky/astrotables';
import { AdqlError } from './adql_error.ts';
import { TIME_HINT } from './hints.ts';
import type { PixelRange } from './moc.ts';
import type { Part } from './parts.ts';

/** NULL has a type of its own, which no column has. */
export type ValueType = ColumnType | 'null';

export interface Value {
  readonly kind: 'value';
  readonly at: number;
  /** In parentheses if it has more than one word. */
  readonly sql: string;
  readonly type: ValueType;
  /** The value, if it is a number that is the same for all rows. */
  readonly constant?: number;
  /** The value, if it is a string literal. */
  readonly text?: string;
  readonly column?: ScopeColumn;
  /** If it is no condition, what to write for one. */
  readonly asCondition?: string;
}

/** A column that expressions can name. */
export interface ScopeColumn {
  readonly name: string;
  readonly sql: string;
  readonly type: ValueType;
  /** The unit, UCD and description; undefined for a computed column. */
  readonly about: Column | undefined;
  /** For a computed string: the maximum number of table strings that it concatenates. */
  readonly texts?: number;
  /** For a coordinate of a table's position: which one, and the row's pixel, which also identifies the table. */
  readonly place?: { readonly part: 'ra' | 'dec'; readonly pixel?: string };
  /** The partial table that has it. */
  readonly of?: Part;
  /** For an identifier of a row of a partial table: that row's position. */
  readonly linked?: { readonly schema: string; readonly ra: string; readonly dec: string };
  /** The table that has it; undefined for a merged column of several tables. */
  readonly source?: Source;
}

/** A table of a FROM, as the engine names it. */
export interface Source {
  readonly table: string;
  /** The SQL of its rows. */
  readonly relation: string;
  /** Whether `rowid` is the row number: true for a stored table without a column of that name. */
  readonly isNumbered: boolean;
  /** Added columns with the cells near a position. Each such cell makes a row. */
  readonly cells: { readonly name: string; readonly sql: string }[];
  /** The conditions on its columns alone that each of its rows in the result meets. */
  readonly conditions: string[];
  /** Set if an outer join may replace its rows by NULL, which later conditions may accept. */
  isNullable?: true;
}

export interface Point {
  readonly kind: 'point';
  readonly at: number;
  /** Degrees. */
  readonly ra: Value;
  readonly dec: Value;
}

export type Shape =
  | Point
  | { readonly kind: 'circle'; readonly at: number; readonly centre: Point; readonly radius: Value }
  | {
      readonly kind: 'polygon';
      readonly at: number;
      /** The SQL of a list with ra and dec of each corner; NULL if one is unknown. */
      readonly corners: string;
      /** How many corners it has in every row; undefined if that differs. */
      readonly count?: number;
      /** The corners, if they are the same for all rows. */
      readonly vertices?: readonly (readonly [number, number])[];
    }
  | { readonly kind: 'moc'; readonly at: number; readonly ranges: readonly PixelRange[] };

export type Circle = Shape & { kind: 'circle' };
export type Polygon = Shape & { kind: 'polygon' };

export type Operand = Value | Shape;

/** A polygon that is the same for all rows. */
export function polygonShape(at: number, vertices: readonly (readonly [number, number])[]): Polygon {
  const corners = `[${vertices
    .flat()
    .map(each => constantNumber(at, each).sql)
    .join(', ')}]`;
  return { kind: 'polygon', at, corners, count: vertices.length, vertices };
}

/** A column of shapes, computed or from a table, as one of these shapes. */
function shapeOfColumn({ at, sql, type, column }: Value): Shape | undefined {
  const shape = type === 'text' ? column?.about?.shape : undefined;
  if (shape === 'polygon')
    return {
      kind: 'polygon',
      at,
      corners: `list_transform(string_split(${sql}, ' '), lambda number: CAST(number AS DOUBLE))`,
    };
  if (!shape) return undefined;
  const part = (i: number) => value(at, `CAST(split_part(${sql}, ' ', ${i}) AS DOUBLE)`, 'float64');
  const centre: Point = { kind: 'point', at, ra: part(1), dec: part(2) };
  return shape === 'point' ? centre : { kind: 'circle', at, centre, radius: part(3) };
}

/** A shape, or a column of shapes; undefined for other values. */
export function asShape(operand: Operand): Shape | undefined {
  return operand.kind === 'value' ? shapeOfColumn(operand) : operand;
}

/**
 * A shape as a value: its numbers with blanks between.
 * @throws AdqlError for a MOC
 */
export function shownValue(operand: Operand): Value {
  const { at } = operand;
  if (operand.kind === 'value') return operand;
  if (operand.kind === 'moc') throw new AdqlError(at, 'a MOC cannot be a column of the result: take its AREA');
  const numbers =
    operand.kind === 'point'
      ? [operand.ra, operand.dec]
      : operand.kind === 'circle'
        ? [operand.centre.ra, operand.centre.dec, operand.radius]
        : [];
  const finite = (each: Value) =>
    each.constant !== undefined ? double(each) : nullUnless(`isfinite(${double(each)})`, double(each));
  const texts = numbers.map(each => `CAST(${finite(each)} AS VARCHAR)`);
  const sql =
    operand.kind === 'polygon' ? `array_to_string(${operand.corners}, ' ')` : `(${texts.join(" || ' ' || ")})`;
  const about: Column = {
    name: operand.kind,
    type: 'text',
    unit: 'deg',
    ucd: operand.kind === 'point' ? 'pos.eq' : 'pos.outline;obs.field',
    description: `A ${operand.kind}, ICRS`,
    numbers: 'float64',
    shape: operand.kind,
  };
  return value(at, sql, 'text', { column: { name: operand.kind, sql, type: 'text', about } });
}

export const ENGINE_TYPES: Readonly<Record<ValueType, string>> = {
  int64: 'BIGINT',
  int32: 'INTEGER',
  float64: 'DOUBLE',
  float32: 'FLOAT',
  boolean: 'BOOLEAN',
  text: 'VARCHAR',
  time: 'TIMESTAMP',
  null: 'VARCHAR',
};

const NAMES: Readonly<Record<ValueType, string>> = {
  int64: 'an integer',
  int32: 'an integer',
  float64: 'a number',
  float32: 'a number',
  boolean: 'a condition',
  text: 'a text',
  time: 'a time',
  null: 'NULL',
};

export function nameOfType(type: ValueType): string {
  return NAMES[type];
}

const isInteger = (type: ValueType) => type === 'int64' || type === 'int32';
export const isNumeric = (type: ValueType) => isInteger(type) || type === 'float64' || type === 'float32';

/** The maximum length of a value's SQL. Some functions repeat their arguments, so nesting would grow it exponentially. */
const MAX_SQL_LENGTH = 2 ** 20;

/** @throws AdqlError if the SQL is too long */
export function value(at: number, sql: string, type: ValueType, more: Partial<Value> = {}): Value {
  if (sql.length > MAX_SQL_LENGTH)
    throw new AdqlError(at, 'this expression is too long, with its functions written out: nest fewer of them');
  return { kind: 'value', at, sql, type, ...more };
}

/** A number literal, or a number computed from literals. */
export function constantNumber(at: number, number: number, text?: string): Value {
  if (text !== undefined) return value(at, `${text}::BIGINT`, 'int64', { constant: number });
  if (!Number.isFinite(number)) throw new AdqlError(at, 'a number must be at most 1.797E308');
  const digits = Object.is(number, -0) ? '-0' : `${number}`;
  const sql = `${digits}${digits.includes('e') ? '' : 'e0'}::DOUBLE`;
  return value(at, number < 0 || digits === '-0' ? `(${sql})` : sql, 'float64', { constant: number });
}

/**
 * NULL if two values are equal, else the first. It is written out so that the length of the SQL reflects the planning
 * effort.
 */
export function nullIf(x: string, y: string): string {
  return `(CASE WHEN ${x} = ${y} THEN NULL ELSE ${x} END)`;
}

/** NULL unless a condition holds. */
export function nullUnless(condition: string, sql: string): string {
  return `(CASE WHEN ${condition} THEN ${sql} END)`;
}

/** Marks the messages of our own failures. */
export const FAILURE_MARK = 'adql: ';

/** An error that ends a running query, with a message for the author of the query. */
export function failing(message: string): string {
  return `error(${textLiteral(FAILURE_MARK + message)})`;
}

export function textLiteral(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** A name as an SQL identifier. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** @throws AdqlError for a shape, or a value that is not a number */
export function numberOf(operand: Operand, role: string): Value {
  if (operand.kind === 'value' && (isNumeric(operand.type) || operand.type === 'null')) return operand;
  throw new AdqlError(operand.at, `${role} must be a number (${described(operand)} was given)`);
}

export function textOf(operand: Operand, role: string): Value {
  if (operand.kind === 'value' && (operand.type === 'text' || operand.type === 'null')) return operand;
  throw new AdqlError(operand.at, `${role} must be a text (${described(operand)} was given)`);
}

export function conditionOf(operand: Operand, role: string): Value {
  if (operand.kind === 'value' && operand.type === 'boolean') return operand;
  const instead = operand.kind === 'value' && operand.asCondition ? `: write ${operand.asCondition}` : '';
  throw new AdqlError(operand.at, `${role} must be a condition (${described(operand)} was given)${instead}`);
}

export function plainValue(operand: Operand, role: string): Value {
  if (operand.kind === 'value') return operand;
  throw new AdqlError(
    operand.at,
    `${role} must be a value (${described(operand)} was given): take COORD1 and COORD2 of points`,
  );
}

export function pointOf(operand: Operand, role: string): Point {
  const shape = asShape(operand);
  if (shape?.kind === 'point') return shape;
  throw new AdqlError(operand.at, `${role} must be a POINT (${described(operand)} was given)`);
}

export function described(operand: Operand): string {
  if (operand.kind === 'value') return nameOfType(operand.type);
  return operand.kind === 'moc' ? 'a MOC' : `a ${operand.kind}`;
}

export function double({ sql, type, constant, at }: Value): string {
  if (constant !== undefined) return constantNumber(at, constant).sql;
  return type === 'float64' ? sql : `CAST(${sql} AS DOUBLE)`;
}

/** The SQL of a divisor as a double; NULL instead of 0, because 1 / 0 is infinite in the engine. */
export function divisor(number: Value): string {
  return number.constant ? double(number) : nullIf(double(number), '0');
}

/** The SQL of a value as another type. */
export function as(type: ValueType, { sql, type: own }: Value): string {
  return own === type ? sql : `CAST(${sql} AS ${ENGINE_TYPES[type]})`;
}

/** The type of a sum, product or difference. */
export function arithmeticType(a: ValueType, b: ValueType): 'int64' | 'float64' {
  return [a, b].every(type => isInteger(type) || type === 'null') ? 'int64' : 'float64';
}

/** The type that can hold all of the values; undefined if there is none. */
export function commonType(types: readonly ValueType[]): ValueType | undefined {
  const known = [...new Set(types)].filter(type => type !== 'null');
  if (known.length <= 1) return known[0] ?? 'null';
  if (known.every(isInteger)) return 'int64';
  return known.every(isNumeric) ? 'float64' : undefined;
}

/** DALI 1.1, section 3.3.3. */
const TIMESTAMP = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?)Z?)?$/;

/** Converts a string literal to the type that it is compared with. */
function literalAs(type: ValueType, { at, text, constant, type: own }: Value): Value | undefined {
  if (type === 'time' && text !== undefined) {
    const [, date, time = '00:00'] = TIMESTAMP.exec(text.trim()) ?? [];
    if (!date || Number.isNaN(Date.parse(`${date}T${time}Z`)))
      throw new AdqlError(at, `a time is written as '2026-01-31T12:00:00', not as ${textLiteral(text.slice(0, 40))}`);
    return value(at, `TIMESTAMP '${date} ${time}'`, 'time');
  }
  if (type === 'boolean') {
    const word =
      own === 'text'
        ? text?.toLowerCase()
        : own === 'int64'
          ? ({ 0: 'false', 1: 'true' } as Record<number, string>)[constant ?? -1]
          : undefined;
    if (word === 'true' || word === 'false') return value(at, word.toUpperCase(), 'boolean');
  }
  return undefined;
}

/**
 * Converts literals to the type of the values that they are compared with.
 * @throws AdqlError at the first value whose type does not fit
 */
export function comparable(values: readonly Value[]): Value[] {
  const lead = values.find(
    ({ type, text, constant }) => type !== 'null' && text === undefined && constant === undefined,
  );
  const fitted = lead ? values.map(each => (each === lead ? each : (literalAs(lead.type, each) ?? each))) : [...values];
  if (commonType(fitted.map(({ type }) => type)) !== undefined) return fitted;
  const first = fitted.find(({ type }) => type !== 'null')!;
  const other = fitted.find(({ type }) => commonType([first.type, type]) === undefined)!;
  const isOfTime =
    [first, other].some(({ type }) => type === 'time') && [first, other].some(({ type }) => isNumeric(type));
  throw new AdqlError(
    other.at,
    `${described(other)} cannot be compared with ${described(first)}${isOfTime ? TIME_HINT : ''}`,
  );
}
