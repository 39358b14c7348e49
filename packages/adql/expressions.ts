/** Translates the expressions and conditions of a query. */
import { AdqlError, given } from './adql_error.ts';
import { AGGREGATES } from './aggregates.ts';
import { FUNCTIONS, type RowFunction } from './functions.ts';
import { instead, nearest } from './hints.ts';
import { partsOf } from './join_conditions.ts';
import { arithmetic, cast, like, negative, numberLiteral, stringLiteral } from './operators.ts';
import { arePixels, LINKED_REACH_ARCSEC, NO_PARTS, pixelsOfIds } from './parts.ts';
import type { Joined } from './rewrites.ts';
import {
  type Context,
  columnsNamed,
  pathText,
  type Relation,
  type ResultColumn,
  type Scope,
  unknownColumn,
} from './scope.ts';
import { numbersOf, type Shapes } from './shapes.ts';
import type { Expression, Name, Query } from './syntax.ts';
import {
  as,
  commonType,
  comparable,
  conditionOf,
  numberOf,
  type Operand,
  plainValue,
  type ScopeColumn,
  type Source,
  textOf,
  type Value,
  value,
} from './values.ts';

/**
 * The maximum number of strings in one concatenation. The engine makes 2,048 results at a time, and does not count their memory.
 */
const MAX_TEXTS = 1000;

/** The maximum nesting of BETWEEN: at each level the engine plans the compared value twice. */
const MAX_BETWEENS = 8;

/** The maximum nesting of queries in conditions: each level doubles the engine's planning time. */
const MAX_CONDITION_QUERIES = 8;

/** The digits of the lowest integer, which has no positive counterpart. */
const LOWEST = `${2n ** 63n}`;

/** For `Joined.repeatable`: here no table may have several rows for one row of the others. */
export const NONE: ReadonlySet<Source> = new Set();

/** Reads the expressions of one query. */
export class Expressions {
  readonly #query: (query: Query, outer: Scope) => Relation;
  readonly #shapes: Shapes;

  /** Comparisons between columns so far, in joins and conditions. */
  compared = 0;
  /** Warnings for the author of the query, by position in it. */
  readonly warnings = new Map<number, string>();
  /** Strings from tables in the current expression. */
  texts = 0;
  /** The table of each column read so far; undefined for a subquery or a random number. */
  readonly #references: (Source | undefined)[] = [];
  /** The current nesting of BETWEEN, and of queries in conditions. */
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
      // The whole expression may be in GROUP BY even if its parts are not.
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
        const own = expression.of;
        if (expression.sign === '-' && own.kind === 'number' && own.text === LOWEST)
          return value(at, `(-${LOWEST})::BIGINT`, 'int64');
        const of = numberOf(this.operand(expression.of, context), 'the operand of a sign');
        return expression.sign === '-' ? negative(at, of) : of;
      }
      case 'arithmetic': {
        const { operator } = expression;
        const [left, right] = expression.of.map(each => this.operand(each, context)) as [Operand, Operand];
        const result = arithmetic(at, operator, left, right);
        if (operator === '/' && result.type === 'int64' && result.constant === 0)
          this.#warnOfZero(at, left as Value, right as Value);
        return result;
      }
      case 'cast': {
        const of = this.#value(expression.of, context, 'the value of CAST');
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
          throw new AdqlError(at, `BETWEEN can be nested at most ${MAX_BETWEENS} times: compare with <= instead`);
        const before = this.#references.length;
        const values = comparable(expression.of.map(each => this.#value(each, context, 'the compared value')));
        this.#betweens--;
        const [x, low, high] = values as [Value, Value, Value];
        this.#countColumns(before);
        return value(at, `(${x.sql}${not(expression)} BETWEEN ${low.sql} AND ${high.sql})`, 'boolean');
      }
      case 'inList':
        return this.#inList(expression, context);
      case 'inQuery': {
        const x = this.#value(expression.of, context, 'the compared value');
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
        const [x, pattern] = expression.of.map(each => textOf(this.operand(each, context), 'an operand of LIKE'));
        return like(at, x!, pattern!, expression.ignoresCase, expression.isNot);
      }
      case 'isNull': {
        const x = this.#value(expression.of, context, 'the value compared with NULL');
        return value(at, `(${x.sql} IS${not(expression)} NULL)`, 'boolean');
      }
      case 'exists':
        return value(at, `EXISTS (${this.#conditionQuery(expression.query, context).sql})`, 'boolean');
      case 'logic':
        return logic(expression, (each, role) => conditionOf(this.operand(each, context), role));
      case 'not':
        return value(
          at,
          `(NOT ${conditionOf(this.operand(expression.of, context), 'the operand of NOT').sql})`,
          'boolean',
        );
    }
  }

  /** Integers are divided as SQL does, so that 2/3600 is 0, and a circle of that radius is empty. */
  #warnOfZero(at: number, { constant: of }: Value, { constant: by }: Value): void {
    if (of !== 0)
      this.warnings.set(at, `${of} / ${by} is 0, because both are integers: write ${of}.0 / ${by} for a fraction`);
  }

  /** A condition that filters rows. It may be FALSE instead of NULL, which makes tests of positions fast. */
  filter(expression: Expression, context: Context, filtered: Joined, role: string): Value {
    if (expression.kind === 'logic') {
      const { all } = filtered;
      // A row may be kept even if one part of an OR is false. If the row is repeated, it would be kept several times.
      const either = { all, repeatable: NONE, narrows: NO_PARTS, isStrict: false };
      const own = expression.operator === 'AND' ? filtered : either;
      return logic(expression, (each, part) => this.filter(each, context, own, part));
    }
    const before = this.#references.length;
    const condition =
      expression.kind === 'comparison'
        ? this.#comparison(expression, context, filtered)
        : expression.kind === 'inList'
          ? this.#inList(expression, context, filtered)
          : conditionOf(this.operand(expression, context), role);
    const { kept } = filtered;
    const references = new Set(this.#references.slice(before));
    if (kept && references.isSubsetOf(new Set([kept.source]))) kept.conditions.push(condition.sql);
    const [only] = references;
    if (filtered.isStrict && references.size === 1 && only && !only.isNullable && filtered.all.has(only))
      only.conditions.push(condition.sql);
    return condition;
  }

  /** Counts a comparison if it has several columns. */
  #countColumns(before: number): void {
    if (this.#references.length >= before + 2) this.compared++;
  }

  #conditionQuery(query: Query, { scope }: Context): Relation {
    if (++this.#conditionQueries > MAX_CONDITION_QUERIES)
      throw new AdqlError(
        query.at,
        `queries in conditions can be nested at most ${MAX_CONDITION_QUERIES} levels deep: join the tables instead`,
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
      if (column.of && column.about) column.of.use(column.about.name);
      if (column.type === 'text') this.texts += column.texts ?? 1;
      if (this.texts > MAX_TEXTS)
        throw new AdqlError(
          at,
          `a string may be concatenated from at most ${MAX_TEXTS} strings; those of a subquery count each time it is used`,
        );
      return value(at, column.sql, column.type, { column });
    }
    throw new AdqlError(at, unknownColumn(path, context));
  }

  #case({ at, subject, cases, otherwise }: Expression & { kind: 'case' }, context: Context): Value {
    const of = subject && this.#value(subject, context, 'the value of CASE');
    const whens = cases.map(({ when }) => {
      if (!of) return conditionOf(this.operand(when, context), 'WHEN').sql;
      const [a, b] = comparable([of, this.#value(when, context, 'a value of WHEN')]) as [Value, Value];
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
    const values = of.map(each => this.#value(each, context, 'the compared value'));
    this.#countColumns(before);
    const [left, right] = comparable(values) as [Value, Value];
    if (filtered && operator === '=') {
      narrowById(left, [right], filtered);
      narrowById(right, [left], filtered);
    }
    return value(at, `(${left.sql} ${operator} ${right.sql})`, 'boolean');
  }

  #inList(expression: Expression & { kind: 'inList' }, context: Context, filtered?: Joined): Value {
    const { at } = expression;
    const before = this.#references.length;
    const of = [expression.of, ...expression.list].map(each => this.#value(each, context, 'the compared value'));
    this.#countColumns(before);
    const [x, ...list] = comparable(of) as [Value, ...Value[]];
    if (filtered && !expression.isNot) narrowById(x, list, filtered);
    return value(at, `(${x.sql}${not(expression)} IN (${list.map(each => each.sql).join(', ')}))`, 'boolean');
  }

  /** CONTAINS and INTERSECTS compared with 1 or 0, and DISTANCE between points compared with a number. */
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
        const test = this.#shapes.predicate(call, this.#arguments(call, 2, context), isOne ? filtered : undefined);
        return isOne ? test : `(NOT ${test})`;
      }
      if (call.name === 'DISTANCE' && (sign === '<' || sign === '<=')) {
        const radius = numberOf(this.operand(other, context), 'the compared value');
        const [a, b] = this.#shapes.points(call.at, this.#arguments(call, [2, 4], context));
        return this.#shapes.sky.within(a, b, radius, filtered, sign);
      }
    }
    return undefined;
  }

  #call(call: Expression & { kind: 'call' }, context: Context): Operand {
    const { at, name } = call;
    if (Object.hasOwn(AGGREGATES, name)) return this.#aggregate(call, context);
    const known = Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : undefined;
    if (!known) {
      const reason =
        name === 'REGION'
          ? ': write the shape as CIRCLE or POLYGON'
          : instead(name) || nearest(name, [...Object.keys(FUNCTIONS), ...Object.keys(AGGREGATES)]);
      throw new AdqlError(at, `there is no function ${name}${reason}`);
    }
    if (known.isRandom) this.#references.push(undefined);
    const args = this.#arguments(call, known.takes, context);
    return known.write(args, at, this.#shapes, () => rowOf(context));
  }

  #arguments(
    { at, name, of }: Expression & { kind: 'call' },
    takes: RowFunction['takes'],
    context: Context,
  ): Operand[] {
    const [least, most] = typeof takes === 'number' ? [takes, takes] : takes;
    if (of.length < least || of.length > most) {
      const counts = least === most ? `${least}` : `${least} to ${most}`;
      throw new AdqlError(at, `${name} takes ${counts} argument${counts === '1' ? '' : 's'} (${given(of.length)})`);
    }
    return of.map(each => this.operand(each, context));
  }

  #aggregate(call: Expression & { kind: 'call' }, context: Context): Value {
    const { at, name, isDistinct } = call;
    requireAggregates(context, at);
    const { groups: _, ...outer } = context;
    const inner: Context = { ...outer, aggregates: 'aggregate functions cannot be nested' };
    const { takes, write } = AGGREGATES[name]!;
    return write(this.#arguments(call, takes, inner), at, isDistinct ? 'DISTINCT ' : '');
  }
}

/** SQL that is constant within a group, and may differ between rows. */
function rowOf({ scope, groups }: Context): string {
  const sources = new Set(scope.tables.flatMap(({ columns }) => columns.flatMap(({ source }) => source ?? [])));
  if (groups) return '0';
  return ['0', ...Array.from(sources, ({ table, isNumbered }) => (isNumbered ? `${table}.rowid` : table))].join(', ');
}

function logic(
  { at, operator, of }: Expression & { kind: 'logic' },
  read: (each: Expression, role: string) => Value,
): Value {
  const parts = of.map(each => read(each, `a part of ${operator}`).sql);
  return value(at, `(${parts.join(` ${operator} `)})`, 'boolean');
}

const INTEGER = /^(\d+)::BIGINT$/;

/** Narrows a partial table to the rows of some identifiers, if these contain the position. */
function narrowById({ column }: Value, ids: readonly Value[], { narrows }: Joined): void {
  const part = column?.of;
  const { id, idPixel } = part?.table.partial ?? {};
  if (!part || !narrows.has(part) || column.about?.name !== id) return;
  const { linked, source } = (ids.length === 1 && ids[0]!.column) || {};
  if (linked?.schema === part.table.schema && source)
    part.isNear(source, linked.ra, linked.dec, `${LINKED_REACH_ARCSEC / 3600}`);
  const numbers = ids.map(({ sql }) => INTEGER.exec(sql)?.[1]);
  if (!idPixel || !numbers.every(each => each !== undefined)) return;
  const named = numbers.map(BigInt);
  if (arePixels(named, idPixel)) part.isWithin(() => pixelsOfIds(named, idPixel));
}

function requireAggregates({ aggregates }: Context, at: number): void {
  if (aggregates !== true) throw new AdqlError(at, aggregates);
}

/** Whether an expression has an aggregate function outside its subqueries. */
export function hasAggregate(expression: Expression): boolean {
  if (expression.kind === 'countAll') return true;
  if (expression.kind === 'call' && Object.hasOwn(AGGREGATES, expression.name)) return true;
  return partsOf(expression).some(hasAggregate);
}

function hasQuery(expression: Expression): boolean {
  return 'query' in expression || partsOf(expression).some(hasQuery);
}

const not = ({ isNot }: { readonly isNot: boolean }) => (isNot ? ' NOT' : '');

export function notGrouped(at: number, name: string): AdqlError {
  return new AdqlError(at, `${name} must be in GROUP BY, or in an aggregate function such as MAX`);
}
