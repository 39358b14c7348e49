/** Expressions and conditions of a query, in the place where they stand. */
import { AdqlError, given } from './adql_error.ts';
import { FUNCTIONS } from './functions.ts';
import { partsOf } from './join_conditions.ts';
import { arithmetic, cast, like, negative, numberLiteral, stringLiteral } from './operators.ts';
import { AGGREGATES } from './parser.ts';
import { position } from './positions.ts';
import type { Joined } from './rewrites.ts';
import type { Column } from './schema.ts';
import {
  type Context,
  columnsNamed,
  pathText,
  type Relation,
  type ResultColumn,
  type Scope,
  unknownColumn,
} from './scope.ts';
import { constantOf, fixed, numbersOf, type Shapes, shapeOperand } from './shapes.ts';
import type { Expression, Name, Query } from './syntax.ts';
import {
  arithmeticType,
  as,
  commonType,
  comparable,
  conditionOf,
  constantNumber,
  double,
  numberOf,
  type Operand,
  plainValue,
  pointOf,
  type ScopeColumn,
  type Source,
  textLiteral,
  textOf,
  type Value,
  value,
} from './values.ts';

/**
 * The maximum number of strings in one concatenation: the engine makes 2,048 results at a time, of any length, and does
 * not count them as memory.
 */
const MAX_TEXTS = 1000;

/** The engine plans what is compared twice at each level. */
const MAX_BETWEENS = 8;

/** The time in which the engine plans queries in conditions doubles with each level. */
const MAX_CONDITION_QUERIES = 8;

/** No table: each row is kept as often as it is there. */
export const NONE: ReadonlySet<Source> = new Set();

/** Reads the expressions of one query. */
export class Expressions {
  readonly #query: (query: Query, outer: Scope) => Relation;
  readonly #shapes: Shapes;

  /** The comparisons of several columns so far: those of tables that are joined, and others. */
  compared = 0;
  /** The texts of tables in the expression that is being read. */
  texts = 0;
  /** The table of each column that was read so far, and undefined for each subquery and random number. */
  readonly #references: (Source | undefined)[] = [];
  /** The BETWEEN, and the queries in conditions, that are being read. */
  #betweens = 0;
  #conditionQueries = 0;

  /** @param query reads a query within a condition */
  constructor(query: (query: Query, outer: Scope) => Relation, shapes: Shapes) {
    this.#query = query;
    this.#shapes = shapes;
  }

  operand(expression: Expression, context: Context): Operand {
    const { groups } = context;
    if (
      groups &&
      expression.kind !== 'column' &&
      groups.size > 0 &&
      !hasAggregate(expression) &&
      !hasQuery(expression)
    ) {
      // The whole may be an expression of GROUP BY whose parts are none.
      const { groups: _, ...ungrouped } = context;
      const whole = this.#expression(expression, ungrouped);
      if (whole.kind === 'value' && groups.has(whole.sql)) return whole;
    }
    return this.#expression(expression, context);
  }

  #value(expression: Expression, context: Context, role: string): Value {
    return plainValue(this.operand(expression, context), role);
  }

  #expression(expression: Expression, context: Context): Operand {
    const { at } = expression;
    switch (expression.kind) {
      case 'number':
        return numberLiteral(at, expression.text);
      case 'string':
        return stringLiteral(at, expression.text);
      case 'boolean':
        return value(at, expression.value ? 'TRUE' : 'FALSE', 'boolean');
      case 'null':
        return value(at, 'NULL', 'null');
      case 'column':
        return this.#column(expression.path, at, context);
      case 'countAll':
        requireAggregates(context, at);
        return value(at, 'count(*)', 'int64');
      case 'call':
        return this.#call(expression, context);
      case 'signed': {
        const of = numberOf(this.operand(expression.of, context), 'what has a sign');
        return expression.sign === '-' ? negative(at, of) : of;
      }
      case 'arithmetic': {
        const [left, right] = expression.of.map(each => this.operand(each, context)) as [Operand, Operand];
        return arithmetic(at, expression.operator, left, right);
      }
      case 'cast': {
        const of = this.#value(expression.of, context, 'what is cast');
        const { type } = expression;
        return type === 'POINT' || type === 'CIRCLE' || type === 'POLYGON'
          ? this.#shapes.shapeOf(at, type, numbersOf(of))
          : cast(at, of, type);
      }
      case 'case':
        return this.#case(expression, context);
      case 'comparison':
        return this.#comparison(expression, context);
      case 'between': {
        if (++this.#betweens > MAX_BETWEENS)
          throw new AdqlError(at, `BETWEEN stands in BETWEEN at most ${MAX_BETWEENS} times: compare with <= instead`);
        const before = this.#references.length;
        const values = comparable(expression.of.map(each => this.#value(each, context, 'what is compared')));
        this.#betweens--;
        const [x, low, high] = values as [Value, Value, Value];
        this.#countColumns(before);
        return value(at, `(${x.sql}${not(expression)} BETWEEN ${low.sql} AND ${high.sql})`, 'boolean');
      }
      case 'inList': {
        const before = this.#references.length;
        const of = [expression.of, ...expression.list].map(each => this.#value(each, context, 'what is compared'));
        this.#countColumns(before);
        const [x, ...list] = comparable(of) as [Value, ...Value[]];
        return value(at, `(${x.sql}${not(expression)} IN (${list.map(each => each.sql).join(', ')}))`, 'boolean');
      }
      case 'inQuery': {
        const x = this.#value(expression.of, context, 'what is compared');
        const { sql, columns } = this.#conditionQuery(expression.query, context);
        const [column] = columns as [ResultColumn];
        if (columns.length !== 1)
          throw new AdqlError(
            expression.query.at,
            `a query after IN must have one column (this one has ${columns.length})`,
          );
        comparable([x, value(expression.query.at, '', column.type)]);
        return value(at, `(${x.sql}${not(expression)} IN (${sql}))`, 'boolean');
      }
      case 'like': {
        const [x, pattern] = expression.of.map(each => textOf(this.operand(each, context), 'what LIKE compares'));
        return like(at, x!, pattern!, expression.ignoresCase, expression.isNot);
      }
      case 'isNull': {
        const x = this.#value(expression.of, context, 'what is compared with NULL');
        return value(at, `(${x.sql} IS${not(expression)} NULL)`, 'boolean');
      }
      case 'exists':
        return value(at, `EXISTS (${this.#conditionQuery(expression.query, context).sql})`, 'boolean');
      case 'logic':
        return logic(expression, (each, role) => conditionOf(this.operand(each, context), role));
      case 'not':
        return value(
          at,
          `(NOT ${conditionOf(this.operand(expression.of, context), 'what NOT negates').sql})`,
          'boolean',
        );
    }
  }

  /** The condition of the rows that are kept: where it is NULL it may be FALSE as well, which makes tests of positions fast. */
  filter(expression: Expression, context: Context, filtered: Joined, role: string): Value {
    if (expression.kind === 'logic') {
      const { all } = filtered;
      // Where a part of OR is false the row may be kept all the same, as often as it is repeated.
      const own = expression.operator === 'AND' ? filtered : { all, repeatable: NONE };
      return logic(expression, (each, part) => this.filter(each, context, own, part));
    }
    const before = this.#references.length;
    const condition =
      expression.kind === 'comparison'
        ? this.#comparison(expression, context, filtered)
        : conditionOf(this.operand(expression, context), role);
    const { kept } = filtered;
    if (kept && this.#references.slice(before).every(source => source === kept.source))
      kept.conditions.push(condition.sql);
    return condition;
  }

  /** Counts a comparison, if it has several columns. */
  #countColumns(before: number): void {
    if (this.#references.length >= before + 2) this.compared++;
  }

  /** A query in a condition. */
  #conditionQuery(query: Query, { scope }: Context): Relation {
    if (++this.#conditionQueries > MAX_CONDITION_QUERIES)
      throw new AdqlError(
        query.at,
        `queries stand in conditions of one another at most ${MAX_CONDITION_QUERIES} levels deep: join the tables instead`,
      );
    this.#references.push(undefined);
    const relation = this.#query(query, scope);
    this.#conditionQueries--;
    return relation;
  }

  #column(path: readonly Name[], at: number, context: Context): Value {
    const name = path.at(-1)!;
    for (let scope: Scope | undefined = context.scope; scope; scope = scope.outer) {
      const found = columnsNamed(path, scope);
      if (found.length === 0) continue;
      if (found.length > 1)
        throw new AdqlError(
          at,
          `${pathText(path)} is a column of several tables: put the table before it, as in t.${name.text}`,
        );
      const [column] = found as [ScopeColumn];
      this.#references.push(column.source);
      const isOwn = scope === context.scope;
      if (isOwn && context.groups && !context.groups.has(column.sql)) throw notGrouped(at, name.text);
      if (column.type === 'text') this.texts += column.texts ?? 1;
      if (this.texts > MAX_TEXTS)
        throw new AdqlError(
          at,
          `a string may be concatenated from at most ${MAX_TEXTS} strings; those of a subquery count each time it is used`,
        );
      return value(at, column.sql, column.type, { column });
    }
    throw new AdqlError(at, unknownColumn(path, context.scope));
  }

  #case({ at, subject, cases, otherwise }: Expression & { kind: 'case' }, context: Context): Value {
    const of = subject && this.#value(subject, context, 'what CASE compares');
    const whens = cases.map(({ when }) => {
      if (!of) return conditionOf(this.operand(when, context), 'WHEN').sql;
      const [a, b] = comparable([of, this.#value(when, context, 'what WHEN compares')]) as [Value, Value];
      return `${a.sql} = ${b.sql}`;
    });
    const results = [...cases.map(({ result }) => result), ...(otherwise ? [otherwise] : [])];
    const values = comparable(results.map(each => this.#value(each, context, 'a result of CASE')));
    const type = commonType(values.map(each => each.type))!;
    const sql = whens.map((when, i) => ` WHEN ${when} THEN ${as(type, values[i]!)}`).join('');
    const rest = otherwise ? ` ELSE ${as(type, values.at(-1)!)}` : '';
    return value(at, `(CASE${sql}${rest} END)`, type);
  }

  #comparison({ at, operator, of }: Expression & { kind: 'comparison' }, context: Context, filtered?: Joined): Value {
    const before = this.#references.length;
    const test = this.#shapeTest(of, operator, context, filtered);
    if (test) {
      this.#countColumns(before);
      return value(at, test, 'boolean');
    }
    const values = of.map(each => this.#value(each, context, 'what is compared'));
    this.#countColumns(before);
    const [left, right] = comparable(values) as [Value, Value];
    return value(at, `(${left.sql} ${operator} ${right.sql})`, 'boolean');
  }

  /** CONTAINS and INTERSECTS compared with 1 or 0, and a DISTANCE of points that is less than a number. */
  #shapeTest(
    of: readonly [Expression, Expression],
    operator: string,
    context: Context,
    filtered: Joined | undefined,
  ): string | undefined {
    if (context.groups) return undefined;
    const mirrored = { '=': '=', '<': '>', '<=': '>=', '>': '<', '>=': '<=' }[operator];
    for (const [call, other, sign] of [
      [of[0], of[1], operator],
      [of[1], of[0], mirrored],
    ] as const) {
      if (call.kind !== 'call') continue;
      const isTest = call.name === 'CONTAINS' || call.name === 'INTERSECTS';
      if (isTest && sign === '=' && other.kind === 'number' && /^[01]$/.test(other.text)) {
        const isOne = other.text === '1';
        const test = this.#shapes.predicate(call, this.#arguments(call, 2, 2, context), isOne ? filtered : undefined);
        return isOne ? test : `(NOT ${test})`;
      }
      if (call.name === 'DISTANCE' && (sign === '<' || sign === '<=')) {
        const radius = numberOf(this.operand(other, context), 'what is compared');
        const [a, b] = this.#shapes.points(call, this.#arguments(call, 2, 4, context));
        return this.#shapes.sky.within(a, b, radius, filtered, sign);
      }
    }
    return undefined;
  }

  #call(call: Expression & { kind: 'call' }, context: Context): Operand {
    const { at, name } = call;
    if (AGGREGATES.has(name)) return this.#aggregate(call, context);
    switch (name) {
      case 'POINT':
      case 'CIRCLE':
      case 'BOX':
      case 'POLYGON':
      case 'CENTROID':
        return this.#shapes.shape(
          call,
          call.of.map(each => this.operand(each, context)),
        );
      case 'MOC':
        return this.#shapes.moc(call, this.#arguments(call, 1, 2, context) as [Operand, Operand?]);
      case 'CONTAINS':
      case 'INTERSECTS':
        return value(
          at,
          `CAST(${this.#shapes.predicate(call, this.#arguments(call, 2, 2, context), undefined)} AS INTEGER)`,
          'int32',
        );
      case 'DISTANCE': {
        const [a, b] = this.#shapes.points(call, this.#arguments(call, 2, 4, context));
        return value(at, `adql_distance(${position(a)}, ${position(b)})`, 'float64');
      }
      case 'AREA':
        return this.#shapes.area(call, this.#arguments(call, 1, 1, context)[0]!);
      case 'COORD1':
      case 'COORD2': {
        const [operand] = this.#arguments(call, 1, 1, context) as [Operand];
        const point = pointOf(operand, `the argument of ${name}`);
        const coordinate = name === 'COORD1' ? point.ra : point.dec;
        return { ...coordinate, sql: double(coordinate), type: 'float64' };
      }
      case 'COORDSYS':
        shapeOperand(name, this.#arguments(call, 1, 1, context)[0]!);
        return stringLiteral(at, 'ICRS');
      case 'IVO_HEALPIX_INDEX':
        return this.#shapes.healpixIndex(call, this.#arguments(call, 2, 3, context) as [Operand, ...Operand[]]);
      case 'IVO_HEALPIX_CENTER':
        return this.#shapes.healpixCentre(call, this.#arguments(call, 2, 2, context) as [Operand, Operand]);
    }
    const known = Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : undefined;
    if (!known) {
      const reason = name === 'REGION' ? ': write the shape as CIRCLE or POLYGON' : '';
      throw new AdqlError(at, `there is no function ${name}${reason}`);
    }
    if (known.isRandom) this.#references.push(undefined);
    return known.write(this.#arguments(call, known.least, known.most, context), at);
  }

  #arguments(
    { at, name, of }: Expression & { kind: 'call' },
    least: number,
    most: number,
    context: Context,
  ): Operand[] {
    if (of.length < least || of.length > most) {
      const counts = least === most ? `${least}` : `${least} to ${most}`;
      throw new AdqlError(at, `${name} takes ${counts} argument${counts === '1' ? '' : 's'} (${given(of.length)})`);
    }
    return of.map(each => this.operand(each, context));
  }

  #aggregate({ at, name, of, isDistinct }: Expression & { kind: 'call' }, context: Context): Value {
    requireAggregates(context, at);
    const { groups: _, ...outer } = context;
    const inner: Context = { ...outer, aggregates: 'functions of many rows cannot stand in one another' };
    const takes = { IVO_STRING_AGG: 2, IVO_HISTOGRAM: 4 }[name] ?? 1;
    if (of.length !== takes)
      throw new AdqlError(at, `${name} takes ${takes} argument${takes === 1 ? '' : 's'} (${given(of.length)})`);
    const operand = this.operand(of[0]!, inner);
    const distinct = isDistinct ? 'DISTINCT ' : '';
    switch (name) {
      case 'COUNT':
        return value(at, `count(${distinct}${plainValue(operand, 'what COUNT counts').sql})`, 'int64');
      case 'IVO_STRING_AGG': {
        const { text } = textOf(this.operand(of[1]!, inner), 'the delimiter');
        if (text === undefined) throw new AdqlError(of[1]!.at, 'the delimiter must stand in the query');
        const { sql } = textOf(operand, 'what IVO_STRING_AGG joins');
        return value(at, `string_agg(${distinct}${sql}, ${textLiteral(text)} ORDER BY ${sql})`, 'text');
      }
      case 'IVO_HISTOGRAM': {
        const bounds = of.slice(1).map(each => numberOf(this.operand(each, inner), 'a bound, or the number of bins'));
        return histogram(at, numberOf(operand, 'what IVO_HISTOGRAM counts'), bounds.map(fixed), distinct);
      }
      case 'MIN':
      case 'MAX': {
        const x = plainValue(operand, `what ${name} compares`);
        if (x.type === 'boolean') throw new AdqlError(of[0]!.at, `${name} takes numbers, texts and times`);
        const column = x.column && { name: name.toLowerCase(), sql: '', type: x.type, about: x.column.about };
        return value(at, `${name.toLowerCase()}(${x.sql})`, x.type, column && { column });
      }
      default: {
        const x = numberOf(operand, `what ${name} adds`);
        const isInteger = name === 'SUM' && arithmeticType(x.type, 'null') === 'int64';
        const sql = `${name.toLowerCase()}(${distinct}${isInteger ? x.sql : double(x)})`;
        return isInteger ? value(at, `CAST(${sql} AS BIGINT)`, 'int64') : value(at, sql, 'float64');
      }
    }
  }
}

/** The most bins of a histogram. */
const MAX_BINS = 10_000;

/**
 * Counts the rows below a range, in each of its equal parts, and at or above its end (the IVOA's catalogue of functions,
 * 1.0).
 */
function histogram(at: number, x: Value, [lower, upper, bins]: readonly Value[], distinct: string): Value {
  const [low, high, count] = [lower!, upper!, bins!].map(constantOf) as [number, number, number];
  if (!(low < high)) throw new AdqlError(upper!.at, 'the end of a histogram must be greater than its begin');
  if (!(Number.isInteger(count) && count >= 1 && count <= MAX_BINS))
    throw new AdqlError(bins!.at, `the number of bins of a histogram must be 1 to ${MAX_BINS} (${count} was given)`);
  const place = `floor((${double(x)} - ${double(lower!)}) / ${constantNumber(at, high - low).sql} * ${count})`;
  const inside = `1 + CAST(least(${place}, ${count - 1}) AS INTEGER)`;
  const bin = `CASE WHEN ${double(x)} < ${double(lower!)} THEN 0 WHEN ${double(x)} < ${double(upper!)} THEN ${inside} WHEN isnan(${double(x)}) THEN NULL WHEN ${double(x)} IS NOT NULL THEN ${count + 1} END`;
  const counts = `list_transform(range(0, ${count + 2}), lambda bin: coalesce(histogram(${distinct}${bin})[bin], 0))`;
  const about: Column = { name: 'ivo_histogram', type: 'text', description: '', isIntegers: true };
  const column: ScopeColumn = { name: 'ivo_histogram', sql: '', type: 'text', about };
  return value(at, `array_to_string(${counts}, ' ')`, 'text', { column });
}

function logic(
  { at, operator, of }: Expression & { kind: 'logic' },
  read: (each: Expression, role: string) => Value,
): Value {
  const parts = of.map(each => read(each, `a part of ${operator}`).sql);
  return value(at, `(${parts.join(` ${operator} `)})`, 'boolean');
}

function requireAggregates({ aggregates }: Context, at: number): void {
  if (aggregates !== true) throw new AdqlError(at, aggregates);
}

/** Whether an expression has a function of many rows outside its subqueries. */
export function hasAggregate(expression: Expression): boolean {
  if (expression.kind === 'countAll') return true;
  if (expression.kind === 'call' && AGGREGATES.has(expression.name)) return true;
  return partsOf(expression).some(hasAggregate);
}

function hasQuery(expression: Expression): boolean {
  return 'query' in expression || partsOf(expression).some(hasQuery);
}

const not = ({ isNot }: { readonly isNot: boolean }) => (isNot ? ' NOT' : '');

export function notGrouped(at: number, name: string): AdqlError {
  return new AdqlError(at, `${name} must be in GROUP BY, or in a function of many rows such as MAX`);
}
