/**
 * A query of ADQL as SQL for DuckDB. Everything is written anew: names are those of the described tables or made here,
 * numbers and texts are the engine's literals, and functions are of a list. No part of a query is passed through.
 */

import { pixel29, pixelOf as pixelAt, pixelCentre, circle as skyCircle } from '@nearsky/sky-index';
import { AdqlError, given } from './adql_error.ts';
import { FUNCTIONS } from './functions.ts';
import {
  boxVertices,
  checkedPosition,
  isConstant,
  type Joined,
  pixelOf,
  polygonArea,
  polygonCentroid,
  polygonOf,
  position,
  Sky,
  withCells,
} from './geometry.ts';
import { degraded, mocArea, mocRanges, type PixelRange } from './moc.ts';
import { arithmetic, cast, like, negative, numberLiteral, stringLiteral } from './operators.ts';
import { AGGREGATES, parse } from './parser.ts';
import { type Column, type DescribedTable, tableName } from './schema.ts';
import {
  checked,
  columnsNamed,
  type From,
  isNamed,
  isSame,
  isTable,
  pathText,
  type Scope,
  sharedNames,
  tableOf,
  unknownColumn,
} from './scope.ts';
import type { Body, Expression, Item, Join, Name, Query, Select, TableReference } from './syntax.ts';
import {
  arithmeticType,
  as,
  commonType,
  comparable,
  conditionOf,
  constantNumber,
  described,
  double,
  ENGINE_TYPES,
  nameOfType,
  numberOf,
  type Operand,
  type Point,
  plainValue,
  pointOf,
  quoted,
  type ScopeColumn,
  type Shape,
  type Source,
  textLiteral,
  textOf,
  type Value,
  type ValueType,
  value,
} from './values.ts';

export interface Translated {
  /** For the engine; times are microseconds since 1970. */
  readonly sql: string;
  /** Parallel to the columns of the result. Several may have one name, as in the query. */
  readonly columns: readonly Column[];
}

/** The longest query, in UTF-16 code units. */
export const MAX_QUERY_LENGTH = 200_000;

/**
 * @param maxRows the most rows that are wanted
 * @param icrsHint what to take instead of a coordinate that is not in ICRS, for messages
 * @throws AdqlError
 */
export function translate(
  query: string,
  tables: readonly DescribedTable[],
  maxRows: number,
  { icrsHint }: { readonly icrsHint?: string } = {},
): Translated {
  if (query.length > MAX_QUERY_LENGTH)
    throw new AdqlError(
      0,
      `a query has at most ${MAX_QUERY_LENGTH} characters (this one has ${query.length}): ask in parts`,
    );
  return new Translator(tables, maxRows, icrsHint).translate(parse(query));
}

/** The place of an expression in its query. */
interface Context {
  readonly scope: Scope;
  /** Whether functions of many rows may stand here; the reason why not. */
  readonly aggregates: true | string;
  /** The SQL of the expressions of GROUP BY, in a query whose rows are groups; undefined for others and in functions of many rows. */
  readonly groups?: ReadonlySet<string>;
}

/** A query as its users see it. */
interface Relation {
  readonly sql: string;
  /** Named c1, c2, ... in the SQL. */
  readonly columns: readonly ResultColumn[];
}

interface ResultColumn {
  readonly name: string;
  readonly at: number;
  readonly type: ValueType;
  readonly about: Column | undefined;
  readonly texts: number;
}

interface Output {
  readonly column: ResultColumn;
  readonly sql: string;
}

/** ORDER BY, LIMIT and OFFSET, which stand after a query. */
interface Tail {
  readonly orderBy: Query['orderBy'];
  readonly offset: string | undefined;
  /** Whether its columns are the result's: in the types that are read. */
  readonly isResult: boolean;
}

const NO_TAIL: Tail = { orderBy: [], offset: undefined, isResult: false };

/** The most tables of a query: the engine plans 40 in a second, and 100 in more than a minute, which nothing ends. */
const MAX_TABLES = 40;

/** The most columns of a query: the engine makes 2,048 rows of all of them at a time. */
const MAX_COLUMNS = 500;

/** The most texts that one is joined of: the engine makes 2,048 at a time, of any length, and counts none of them as memory. */
const MAX_TEXTS = 1000;

/** The engine plans what is compared twice at each level. */
const MAX_BETWEENS = 8;

/** The time in which the engine plans queries in conditions doubles with each level. */
const MAX_CONDITION_QUERIES = 8;

/** The longest SQL: expressions that are written several times make it much longer than the query. */
const MAX_SQL_LENGTH = 2 ** 21;

/** A row number of the engine. */
const MAX_COUNT = 2n ** 62n;

class Translator {
  readonly #tables: readonly DescribedTable[];
  readonly #maxRows: number;
  readonly #icrsHint: string | undefined;
  readonly #named: {
    readonly name: Name;
    readonly sql: string;
    readonly relation: Relation;
    readonly joined: number;
  }[] = [];
  readonly #sky = new Sky();
  #lastTable = 0;
  /** The tables that the engine joins, those of a named query at each of its uses. */
  #joined = 0;

  /** The table of each column that was read so far, and undefined for each subquery and random number. */
  readonly #references: (Source | undefined)[] = [];

  /** The texts of tables in the expression that is being read. */
  #texts = 0;
  /** The BETWEEN, and the queries in conditions, that are being read. */
  #betweens = 0;
  #conditionQueries = 0;

  constructor(tables: readonly DescribedTable[], maxRows: number, icrsHint: string | undefined) {
    this.#tables = tables;
    this.#maxRows = maxRows;
    this.#icrsHint = icrsHint;
  }

  translate(query: Query): Translated {
    for (const { name, query: of } of query.named) {
      if (this.#named.some(each => isSame(each.name, name)))
        throw new AdqlError(name.at, `two queries of WITH have the name ${name.text}`);
      const before = this.#joined;
      const relation = this.#query(of, undefined);
      this.#named.push({ name, sql: `q${this.#named.length + 1}`, relation, joined: this.#joined - before });
    }
    const { sql, columns } = this.#query(query, undefined, true);
    const named = this.#named.map(each => `${each.sql} AS (${each.relation.sql})`);
    const withClause = named.length > 0 ? `WITH ${named.join(', ')} ` : '';
    const length = withClause.length + sql.length;
    if (length > MAX_SQL_LENGTH)
      throw new AdqlError(0, 'the query is too long, with its functions written out: ask in parts');
    return { sql: `${withClause}${sql}`, columns: columns.map(resultColumn) };
  }

  #query({ body, orderBy, offset }: Query, outer: Scope | undefined, isResult = false): Relation {
    return this.#body(body, outer, { orderBy, offset, isResult });
  }

  #body(body: Body, outer: Scope | undefined, tail: Tail = NO_TAIL): Relation {
    if (body.kind === 'select') return this.#select(body, outer, tail);
    if (body.kind === 'query' && tail === NO_TAIL) return this.#query(body, outer);
    const { sql, columns } = body.kind === 'query' ? this.#query(body, outer) : this.#setOperation(body, outer);
    if (tail === NO_TAIL) return { sql, columns };
    const table = this.#newTable();
    const own = columns.map((column, i) => ({ ...column, sql: `${table}.c${i + 1}` }));
    const outputs = own.map(column => ({ column, sql: column.sql }));
    const scope: Scope = { tables: [], columns: own, outer };
    const context: Context = { scope, aggregates: 'ORDER BY after UNION, INTERSECT and EXCEPT takes columns' };
    const text = `SELECT ${this.#outputList(outputs, tail)} FROM (${sql}) AS ${table}${this.#tail(tail, outputs, context, undefined)}`;
    return { sql: text, columns };
  }

  #setOperation(body: Body & { kind: 'set' }, outer: Scope | undefined): Relation {
    const [left, right] = [this.#body(body.left, outer), this.#body(body.right, outer)];
    if (left.columns.length !== right.columns.length) {
      const counts = `${left.columns.length} columns on the left and ${right.columns.length} on the right`;
      throw new AdqlError(
        body.at,
        `the queries of ${body.operator} must have equally many columns: there are ${counts}`,
      );
    }
    const columns = left.columns.map((column, i): ResultColumn => {
      const other = right.columns[i]!;
      const type = commonType([column.type, other.type]);
      if (!type) {
        const types = `${nameOfType(column.type)} on the left and ${nameOfType(other.type)} on the right`;
        throw new AdqlError(other.at, `column ${i + 1} of ${body.operator} is ${types}: they must be alike`);
      }
      const isAlike = column.about?.isIntegers === other.about?.isIntegers;
      const texts = Math.max(column.texts, other.texts);
      return { ...column, type, texts, about: isAlike ? column.about : undefined };
    });
    const cast = ({ sql, columns: own }: Relation) => {
      const table = this.#newTable();
      const list = columns.map(({ type }, i) =>
        type === own[i]!.type ? `${table}.c${i + 1}` : `CAST(${table}.c${i + 1} AS ${ENGINE_TYPES[type]}) AS c${i + 1}`,
      );
      return `SELECT ${list.join(', ')} FROM (${sql}) AS ${table}`;
    };
    const operator = `${body.operator}${body.isAll ? ' ALL' : ''}`;
    return { sql: `(${cast(left)}) ${operator} (${cast(right)})`, columns };
  }

  #select(select: Select, outer: Scope | undefined, tail: Tail): Relation {
    const from = this.#fromList(select.from, outer);
    const scope: Scope = { tables: from.tables, columns: from.columns, outer };
    const noAggregate = (part: string) => `functions of many rows cannot stand in ${part}`;
    const whereContext: Context = { scope, aggregates: `${noAggregate('WHERE')}: put the condition into HAVING` };
    this.#texts = 0;
    const sources = sourcesOf(from);
    const filtered = { all: sources, repeatable: sources, ...(from.kept && { kept: from.kept }) };
    const where = select.where && this.#filter(select.where, whereContext, filtered, 'WHERE');
    const groupContext: Context = { scope, aggregates: noAggregate('GROUP BY') };
    const groups = select.groupBy.map(each => plainValue(this.#operand(each, groupContext), 'a term of GROUP BY').sql);
    const isGrouped =
      groups.length > 0 ||
      select.having !== undefined ||
      [
        ...select.items.map(item => item.kind === 'one' && item.expression),
        ...tail.orderBy.map(each => each.expression),
      ].some(each => each && hasAggregate(each));
    const context: Context = { scope, aggregates: true, ...(isGrouped && { groups: new Set(groups) }) };
    const outputs: Output[] = [];
    for (const item of select.items) {
      outputs.push(...this.#outputs(item, context));
      if (outputs.length > MAX_COLUMNS)
        throw new AdqlError(item.at, `a query has at most ${MAX_COLUMNS} columns: name those that are needed`);
    }
    const having = select.having && conditionOf(this.#operand(select.having, context), 'HAVING');
    const sql = [
      `SELECT${select.isDistinct ? ' DISTINCT' : ''} ${this.#outputList(outputs, tail)}`,
      ` FROM ${from.sql()}`,
      where && ` WHERE ${where.sql}`,
      groups.length > 0 && ` GROUP BY ${groups.join(', ')}`,
      having && ` HAVING ${having.sql}`,
      this.#tail(tail, outputs, context, select),
    ];
    return { sql: sql.filter(Boolean).join(''), columns: outputs.map(({ column }) => column) };
  }

  #outputs(item: Item, context: Context): Output[] {
    if (item.kind === 'all') {
      const columns = this.#allColumns(item, context.scope);
      return columns.map(({ name, sql, type, about, texts = 1 }) => {
        if (context.groups && !context.groups.has(sql)) throw notGrouped(item.at, name);
        return { sql, column: { name, at: item.at, type, about, texts } };
      });
    }
    const { expression, name, at } = item;
    const before = this.#texts;
    this.#texts = 0;
    const { sql, type, column } = plainValue(this.#operand(expression, context), 'a column of the result');
    const texts = Math.max(1, this.#texts);
    this.#texts = before;
    const own = name?.text ?? column?.name ?? (expression.kind === 'call' ? expression.name.toLowerCase() : undefined);
    return [{ sql, column: { name: own ?? nameOf(expression), at, type, about: column?.about, texts } }];
  }

  #allColumns({ qualifier, at }: Item & { kind: 'all' }, scope: Scope): readonly ScopeColumn[] {
    if (qualifier.length === 0) return scope.columns;
    const table = tableOf(qualifier, scope.tables);
    if (!table) throw new AdqlError(at, `${pathText(qualifier)} is no table of this FROM`);
    return table.columns;
  }

  /** The columns, named c1, c2, ...; those of the result in the types that are read. */
  #outputList(outputs: readonly Output[], { isResult }: Tail): string {
    const list = outputs.map(({ sql, column: { type } }, i) => {
      const read = type === 'time' ? `epoch_us(${sql})` : `CAST(${sql} AS ${ENGINE_TYPES[type]})`;
      return `${isResult ? read : sql} AS c${i + 1}`;
    });
    return list.join(', ');
  }

  #tail(
    { orderBy, offset, isResult }: Tail,
    outputs: readonly Output[],
    context: Context,
    select: Select | undefined,
  ): string {
    const order = orderBy.map(({ expression, isDescending }) => {
      return `${this.#orderTerm(expression, outputs, context, select)}${isDescending ? ' DESC' : ''}`;
    });
    const top = select?.top === undefined ? undefined : BigInt(select.top);
    const limits = [top, isResult ? BigInt(this.#maxRows) : undefined].filter(each => each !== undefined);
    const limit = limits.length > 0 ? limits.reduce((a, b) => (a < b ? a : b)) : undefined;
    const count = (number: bigint) => (number < MAX_COUNT ? number : MAX_COUNT);
    const parts = [
      order.length > 0 && ` ORDER BY ${order.join(', ')}`,
      limit !== undefined && ` LIMIT ${count(limit)}`,
      offset !== undefined && ` OFFSET ${count(BigInt(offset))}`,
    ];
    return parts.filter(Boolean).join('');
  }

  /** A number or name of a column of the result, or another expression. */
  #orderTerm(expression: Expression, outputs: readonly Output[], context: Context, select: Select | undefined): string {
    const { at } = expression;
    if (expression.kind === 'number') {
      const number = Number(expression.text);
      if (Number.isInteger(number) && number >= 1 && number <= outputs.length) return `${number}`;
      throw new AdqlError(at, `ORDER BY ${expression.text} names no column: there are ${outputs.length}`);
    }
    if (expression.kind === 'column' && expression.path.length === 1) {
      const [name] = expression.path as [Name];
      const found = outputs.findIndex(({ column }) => isNamed(column.name, name));
      if (found >= 0) return `${found + 1}`;
    }
    const { sql } = plainValue(this.#operand(expression, context), 'a term of ORDER BY');
    const same = outputs.findIndex(each => each.sql === sql);
    if (same >= 0) return `${same + 1}`;
    if (select?.isDistinct) throw new AdqlError(at, 'ORDER BY of SELECT DISTINCT takes columns of the result');
    return sql;
  }

  #newTable(): string {
    return `t${++this.#lastTable}`;
  }

  #fromList(references: readonly TableReference[], outer: Scope | undefined): From {
    const parts = references.map(each => this.#from(each, outer));
    if (parts.length === 1) return checked(parts[0]!);
    return checked({
      sql: () => parts.map(({ sql }) => sql()).join(', '),
      tables: parts.flatMap(({ tables }) => tables),
      columns: parts.flatMap(({ columns }) => columns),
    });
  }

  #from(reference: TableReference, outer: Scope | undefined): From {
    switch (reference.kind) {
      case 'table':
        return this.#table(reference);
      case 'derived':
        return this.#derived(this.#query(reference.query, outer), reference.alias);
      case 'join':
        return this.#join(reference, outer);
    }
  }

  #table({ path, alias, at }: TableReference & { kind: 'table' }): From {
    const named = path.length === 1 ? this.#named.find(({ name }) => isSame(name, path[0]!)) : undefined;
    this.#joined += named?.joined ?? 1;
    if (this.#joined > MAX_TABLES)
      throw new AdqlError(at, `a query joins at most ${MAX_TABLES} tables, those of WITH at each use: ask in parts`);
    if (named) return this.#derived(named.relation, alias ?? path[0]!, named.sql);
    const found = this.#tables.filter(table => isTable(table, path));
    if (found.length === 0) {
      const known = this.#tables.map(tableName).join(', ');
      throw new AdqlError(at, `there is no table ${pathText(path)}: there are ${known}`);
    }
    if (found.length > 1)
      throw new AdqlError(
        at,
        `${pathText(path)} is one of ${found.map(tableName).join(', ')}: put the schema before it`,
      );
    const [described] = found as [DescribedTable];
    const { position, relation = `${quoted(described.schema)}.${quoted(described.name)}` } = described;
    const table = this.#newTable();
    const isNumbered = described.columns.every(({ name }) => name.toLowerCase() !== 'rowid');
    const source: Source = { table, relation, isNumbered, cells: [] };
    const columns = described.columns.map((about): ScopeColumn => {
      const { name, type } = about;
      const part = position?.ra === name ? 'ra' : position?.dec === name ? 'dec' : undefined;
      const column = { name, type, about, source, sql: `${table}.${quoted(name)}` };
      return part ? { ...column, place: { part, pixel: `${table}.${quoted(position!.pixel)}` } } : column;
    });
    const tables = [{ alias, of: alias ? undefined : described, columns }];
    return { sql: () => withCells(source), source, columns, tables };
  }

  #derived({ sql, columns: own }: Relation, alias: Name, relation = `(${sql})`): From {
    const table = this.#newTable();
    const source: Source = { table, relation, isNumbered: false, cells: [] };
    const columns = own.map((column, i): ScopeColumn => ({ ...column, source, sql: `${table}.c${i + 1}` }));
    return { sql: () => withCells(source), source, columns, tables: [{ alias, of: undefined, columns }] };
  }

  #join(join: Join, outer: Scope | undefined): From {
    const [left, right] = [this.#from(join.left, outer), this.#from(join.right, outer)];
    const tables = [...left.tables, ...right.tables];
    const sql = (condition: string) => () => `(${left.sql()} ${join.type} JOIN ${right.sql()} ON ${condition})`;
    if (join.by.kind === 'on') {
      const columns = [...left.columns, ...right.columns];
      const scope: Scope = { ...checked({ sql: () => '', tables, columns }), outer };
      const context: Context = { scope, aggregates: 'functions of many rows cannot stand in ON' };
      const all = sourcesOf({ tables });
      // A query within a condition may refer to the tables around it, which pairs cannot.
      const paired = outer ? undefined : pairedSides(join.type, left, right);
      // An outer join would keep a repeated row that matches nothing several times, but pairs are an inner join.
      const filtered = { all, repeatable: join.type === 'INNER' || paired ? all : NONE };
      const condition = this.#filter(join.by.condition, context, filtered, 'ON');
      if (paired?.some(({ cells }) => cells.length > 0)) {
        const conditions = [condition.sql];
        const kept = { source: paired[0], conditions };
        return { sql: joinWithPairs(paired, conditions), tables, columns, kept };
      }
      return { sql: sql(condition.sql), tables, columns };
    }
    const shared = join.by.kind === 'natural' ? sharedNames(left, right, join.at) : join.by.names;
    const pairs = shared.map(name => {
      const pair = [left, right].map(({ columns }) => {
        const found = columns.filter(column => isNamed(column.name, name));
        if (found.length === 1) return found[0]!;
        throw new AdqlError(name.at, `${name.text} must be one column of each of the two tables that are joined`);
      });
      const [a, b] = pair as [ScopeColumn, ScopeColumn];
      if (commonType([a.type, b.type])) return { a, b };
      const types = `${nameOfType(a.type)} in one table and ${nameOfType(b.type)} in the other`;
      throw new AdqlError(name.at, `${name.text} is ${types}: join them ON a condition`);
    });
    const merged = pairs.map(({ a, b }) => {
      if (join.type !== 'FULL') return join.type === 'RIGHT' ? b : a;
      const { source: _, ...both } = a;
      return { ...both, sql: `coalesce(${a.sql}, ${b.sql})` };
    });
    const used = new Set(pairs.flatMap(({ a, b }) => [a, b]));
    const rest = [...left.columns, ...right.columns].filter(column => !used.has(column));
    const condition = pairs.map(({ a, b }) => `${a.sql} = ${b.sql}`).join(' AND ');
    return { sql: sql(condition), tables, columns: [...merged, ...rest] };
  }

  #operand(expression: Expression, context: Context): Operand {
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
    return plainValue(this.#operand(expression, context), role);
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
        const of = numberOf(this.#operand(expression.of, context), 'what has a sign');
        return expression.sign === '-' ? negative(at, of) : of;
      }
      case 'arithmetic': {
        const [left, right] = expression.of.map(each => this.#operand(each, context)) as [Operand, Operand];
        return arithmetic(at, expression.operator, left, right);
      }
      case 'cast': {
        const of = this.#value(expression.of, context, 'what is cast');
        const { type } = expression;
        return type === 'POINT' || type === 'CIRCLE' || type === 'POLYGON'
          ? this.#shapeOf(at, type, numbersOf(of))
          : cast(at, of, type);
      }
      case 'case':
        return this.#case(expression, context);
      case 'comparison':
        return this.#comparison(expression, context);
      case 'between': {
        if (++this.#betweens > MAX_BETWEENS)
          throw new AdqlError(at, `BETWEEN stands in BETWEEN at most ${MAX_BETWEENS} times: compare with <= instead`);
        const values = comparable(expression.of.map(each => this.#value(each, context, 'what is compared')));
        this.#betweens--;
        const [x, low, high] = values as [Value, Value, Value];
        return value(at, `(${x.sql}${not(expression)} BETWEEN ${low.sql} AND ${high.sql})`, 'boolean');
      }
      case 'inList': {
        const of = [expression.of, ...expression.list].map(each => this.#value(each, context, 'what is compared'));
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
        const [x, pattern] = expression.of.map(each => textOf(this.#operand(each, context), 'what LIKE compares'));
        return like(at, x!, pattern!, expression.ignoresCase, expression.isNot);
      }
      case 'isNull': {
        const x = this.#value(expression.of, context, 'what is compared with NULL');
        return value(at, `(${x.sql} IS${not(expression)} NULL)`, 'boolean');
      }
      case 'exists':
        return value(at, `EXISTS (${this.#conditionQuery(expression.query, context).sql})`, 'boolean');
      case 'logic':
        return logic(expression, (each, role) => conditionOf(this.#operand(each, context), role));
      case 'not':
        return value(
          at,
          `(NOT ${conditionOf(this.#operand(expression.of, context), 'what NOT negates').sql})`,
          'boolean',
        );
    }
  }

  /** The condition of the rows that are kept: where it is NULL it may be FALSE as well, which makes tests of positions fast. */
  #filter(expression: Expression, context: Context, filtered: Joined, role: string): Value {
    if (expression.kind === 'logic') {
      const { all } = filtered;
      // Where a part of OR is false the row may be kept all the same, as often as it is repeated.
      const own = expression.operator === 'AND' ? filtered : { all, repeatable: NONE };
      return logic(expression, (each, part) => this.#filter(each, context, own, part));
    }
    const before = this.#references.length;
    const condition =
      expression.kind === 'comparison'
        ? this.#comparison(expression, context, filtered)
        : conditionOf(this.#operand(expression, context), role);
    const { kept } = filtered;
    if (kept && this.#references.slice(before).every(source => source === kept.source))
      kept.conditions.push(condition.sql);
    return condition;
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
      if (column.type === 'text') this.#texts += column.texts ?? 1;
      if (this.#texts > MAX_TEXTS)
        throw new AdqlError(at, `a text is joined of at most ${MAX_TEXTS} texts, those of subqueries at each use`);
      return value(at, column.sql, column.type, { column });
    }
    throw new AdqlError(at, unknownColumn(path, context.scope));
  }

  #case({ at, subject, cases, otherwise }: Expression & { kind: 'case' }, context: Context): Value {
    const of = subject && this.#value(subject, context, 'what CASE compares');
    const whens = cases.map(({ when }) => {
      if (!of) return conditionOf(this.#operand(when, context), 'WHEN').sql;
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
    const test = this.#shapeTest(of, operator, context, filtered);
    if (test) return value(at, test, 'boolean');
    const values = of.map(each => this.#value(each, context, 'what is compared'));
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
        const test = this.#shapePredicate(call, context, isOne ? filtered : undefined);
        return isOne ? test : `(NOT ${test})`;
      }
      if (call.name === 'DISTANCE' && (sign === '<' || sign === '<=')) {
        const radius = numberOf(this.#operand(other, context), 'what is compared');
        const [a, b] = this.#points(call, context);
        return this.#sky.within(a, b, radius, filtered, sign);
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
      case 'MOC':
        return this.#shape(call, context);
      case 'CONTAINS':
      case 'INTERSECTS':
        return value(at, `CAST(${this.#shapePredicate(call, context, undefined)} AS INTEGER)`, 'int32');
      case 'DISTANCE': {
        const [a, b] = this.#points(call, context);
        return value(at, `adql_distance(${position(a)}, ${position(b)})`, 'float64');
      }
      case 'AREA':
        return this.#area(call, context);
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
        return this.#healpixIndex(call, context);
      case 'IVO_HEALPIX_CENTER':
        return this.#healpixCentre(call, context);
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
    return of.map(each => this.#operand(each, context));
  }

  #aggregate({ at, name, of, isDistinct }: Expression & { kind: 'call' }, context: Context): Value {
    requireAggregates(context, at);
    const { groups: _, ...outer } = context;
    const inner: Context = { ...outer, aggregates: 'functions of many rows cannot stand in one another' };
    const takes = { IVO_STRING_AGG: 2, IVO_HISTOGRAM: 4 }[name] ?? 1;
    if (of.length !== takes)
      throw new AdqlError(at, `${name} takes ${takes} argument${takes === 1 ? '' : 's'} (${given(of.length)})`);
    const operand = this.#operand(of[0]!, inner);
    const distinct = isDistinct ? 'DISTINCT ' : '';
    switch (name) {
      case 'COUNT':
        return value(at, `count(${distinct}${plainValue(operand, 'what COUNT counts').sql})`, 'int64');
      case 'IVO_STRING_AGG': {
        const { text } = textOf(this.#operand(of[1]!, inner), 'the delimiter');
        if (text === undefined) throw new AdqlError(of[1]!.at, 'the delimiter must stand in the query');
        const { sql } = textOf(operand, 'what IVO_STRING_AGG joins');
        return value(at, `string_agg(${distinct}${sql}, ${textLiteral(text)} ORDER BY ${sql})`, 'text');
      }
      case 'IVO_HISTOGRAM': {
        const bounds = of.slice(1).map(each => numberOf(this.#operand(each, inner), 'a bound, or the number of bins'));
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

  /** The arguments of a shape after its coordinate system, which must be ICRS where there is one. */
  #shapeArguments({ of }: Expression & { kind: 'call' }, context: Context): Operand[] {
    const operands = of.map(each => this.#operand(each, context));
    const [first] = operands;
    if (first?.kind !== 'value' || first.text === undefined) return operands;
    if (!COORDINATE_SYSTEM.test(first.text.trim()))
      throw new AdqlError(first.at, "positions are in ICRS: leave the coordinate system out, or write 'ICRS'");
    return operands.slice(1);
  }

  #shape(call: Expression & { kind: 'call' }, context: Context): Shape {
    if (call.name === 'MOC') {
      const [operand, shape] = this.#arguments(call, 1, 2, context) as [Operand, Operand?];
      if (shape) return this.#mocOf(call, healpixOrder(operand), shape);
      const { text, at } = textOf(operand, 'the argument of MOC');
      if (text === undefined) throw new AdqlError(at, "a MOC must stand in the query, as in MOC('4/0-3,5 6/100')");
      return { kind: 'moc', at: call.at, ranges: mocRanges(text, at) };
    }
    return this.#shapeOf(call.at, call.name, this.#shapeArguments(call, context));
  }

  /** The pixels of an order that a shape touches. */
  #mocOf({ at, name }: Expression & { kind: 'call' }, order: number, operand: Operand): Shape {
    const shape = shapeOperand(name, operand);
    const pixels = (ranges: readonly PixelRange[]): Shape => ({ kind: 'moc', at, ranges });
    if (shape.kind === 'moc') return pixels(degraded(shape.ranges, order, at));
    const centreOf = ({ ra, dec }: Point) => checkedPosition(fixed(ra), fixed(dec));
    if (shape.kind === 'point') {
      const { ra, dec } = centreOf(shape);
      const pixel = pixel29(ra, dec);
      return pixels(degraded([[pixel, pixel + 1n]], order, at));
    }
    if (order > MAX_CONSTANT_ORDER)
      throw new AdqlError(at, `the MOC of a shape has an order of at most ${MAX_CONSTANT_ORDER} (${order} was given)`);
    if (shape.kind === 'polygon') return pixels(this.#sky.moc(polygonOf(shape.vertices, at), order, at));
    const { ra, dec } = centreOf(shape.centre);
    return pixels(this.#sky.moc(skyCircle(ra, dec, constantOf(shape.radius) * 3600), order, at));
  }

  #shapeOf(at: number, name: string, args: readonly Operand[]): Shape {
    const wrong = (takes: string) => new AdqlError(at, `${name} takes ${takes}`);
    if (name === 'POINT') {
      if (args.length !== 2) throw wrong('a right ascension and a declination, degrees');
      return this.#pointAt(at, args[0]!, args[1]!);
    }
    if (name === 'CENTROID') {
      if (args.length !== 1) throw wrong('a shape');
      const of = shapeOperand(name, args[0]!);
      if (of.kind === 'point') return of;
      if (of.kind === 'circle') return of.centre;
      if (of.kind === 'moc') throw wrong('a POINT, CIRCLE, BOX or POLYGON');
      const { ra, dec } = polygonCentroid(of.vertices);
      return { kind: 'point', at, ra: constantNumber(at, ra), dec: constantNumber(at, dec) };
    }
    if (name === 'POLYGON') return this.#polygon(at, args, wrong);
    const [centre, ...sizes] =
      args[0]?.kind === 'point'
        ? (args as [Point, ...Operand[]])
        : args.length > 1
          ? [this.#pointAt(at, args[0]!, args[1]!), ...args.slice(2)]
          : [];
    if (name === 'CIRCLE') {
      if (!centre || sizes.length !== 1) throw wrong('a centre and a radius, degrees');
      const radius = numberOf(sizes[0]!, 'the radius');
      if (radius.constant !== undefined && !(radius.constant >= 0 && radius.constant <= 180))
        throw new AdqlError(radius.at, `a radius must be 0 to 180 degrees (${radius.constant} was given)`);
      return { kind: 'circle', at, centre, radius };
    }
    if (!centre || sizes.length !== 2) throw wrong('a centre, a width and a height, degrees');
    const [width, height] = sizes.map(each => constantOf(numberOf(each, 'the size')));
    const { ra, dec } = checkedPosition(fixed(centre.ra), fixed(centre.dec));
    return { kind: 'polygon', at, vertices: boxVertices(at, ra, dec, width!, height!) };
  }

  #polygon(at: number, args: readonly Operand[], wrong: (takes: string) => AdqlError): Shape {
    const points = args.some(each => each.kind === 'point')
      ? args.map(each => pointOf(each, 'a vertex'))
      : Array.from({ length: Math.ceil(args.length / 2) }, (_, i) => {
          if (!args[2 * i + 1]) throw wrong('a right ascension and a declination a vertex');
          return this.#pointAt(at, args[2 * i]!, args[2 * i + 1]!);
        });
    if (points.length > MAX_VERTICES) throw wrong(`at most ${MAX_VERTICES} vertices (${given(points.length)})`);
    const vertices = points.map(({ ra, dec }) => {
      const place = checkedPosition(fixed(ra), fixed(dec));
      return [place.ra, place.dec] as const;
    });
    polygonOf(vertices, at);
    return { kind: 'polygon', at, vertices };
  }

  #pointAt(at: number, ra: Operand, dec: Operand): Point {
    const hint = this.#icrsHint === undefined ? '' : `: ${this.#icrsHint}`;
    for (const operand of [ra, dec]) {
      const about = operand.kind === 'value' ? operand.column?.about : undefined;
      if (about?.frame !== undefined)
        throw new AdqlError(
          operand.at,
          `positions are in ICRS, and ${about.name.slice(0, 64)} is a coordinate in ${about.frame}${hint}`,
        );
    }
    const point: Point = {
      kind: 'point',
      at,
      ra: numberOf(ra, 'a right ascension'),
      dec: numberOf(dec, 'a declination'),
    };
    if (point.dec.constant !== undefined) checkedPosition(constantNumber(at, 0), point.dec);
    return point;
  }

  /** Two points, or the four numbers of two. */
  #points(call: Expression & { kind: 'call' }, context: Context): [Point, Point] {
    const args = this.#arguments(call, 2, 4, context);
    if (args.length === 2) return args.map(each => pointOf(each, 'what DISTANCE measures')) as [Point, Point];
    if (args.length === 3) throw new AdqlError(call.at, 'DISTANCE takes two points, or four numbers');
    return [this.#pointAt(call.at, args[0]!, args[1]!), this.#pointAt(call.at, args[2]!, args[3]!)];
  }

  #shapePredicate(call: Expression & { kind: 'call' }, context: Context, filtered: Joined | undefined): string {
    const { at, name } = call;
    const shapes = this.#arguments(call, 2, 2, context).map(each => shapeOperand(name, each));
    const [first, second] = shapes as [Shape, Shape];
    const isMutual = name === 'INTERSECTS';
    if (first.kind === 'point') return this.#holds(second, first, filtered);
    if (isMutual && second.kind === 'point') return this.#holds(first, second, filtered);
    if (first.kind === 'circle' && second.kind === 'circle') {
      const reach = isMutual ? arithmetic(at, '+', second.radius, first.radius) : innerReach(at, second, first);
      return this.#sky.within(first.centre, second.centre, reach, filtered);
    }
    throw new AdqlError(at, `${name} takes a POINT and a shape, or two CIRCLEs`);
  }

  #holds(shape: Shape, point: Point, filtered: Joined | undefined): string {
    if (shape.kind === 'polygon') return this.#sky.inPolygon(point, shape, filtered !== undefined);
    if (shape.kind === 'moc') return this.#sky.inMoc(point, shape.ranges, filtered !== undefined);
    const [centre, radius] =
      shape.kind === 'circle' ? [shape.centre, shape.radius] : [shape, constantNumber(shape.at, 0)];
    return this.#sky.within(point, centre, radius, filtered);
  }

  #area(call: Expression & { kind: 'call' }, context: Context): Value {
    const { at, name } = call;
    const shape = shapeOperand(name, this.#arguments(call, 1, 1, context)[0]!);
    if (shape.kind === 'point') return constantNumber(at, 0);
    if (shape.kind === 'polygon') return constantNumber(at, polygonArea(shape.vertices));
    if (shape.kind === 'moc') return constantNumber(at, mocArea(shape.ranges));
    const sphere = constantNumber(at, 4 * Math.PI * (180 / Math.PI) ** 2).sql;
    return value(at, `(${sphere} * power(sin(radians(${double(shape.radius)}) / 2), 2))`, 'float64');
  }

  /** The pixel of the position of a table, which is stored, or of a constant. */
  #healpixIndex(call: Expression & { kind: 'call' }, context: Context): Value {
    const { at } = call;
    const [order, ...place] = this.#arguments(call, 2, 3, context) as [Operand, ...Operand[]];
    const level = healpixOrder(order);
    const point = place.length === 1 ? pointOf(place[0]!, 'the position') : this.#pointAt(at, place[0]!, place[1]!);
    const pixel = pixelOf(point);
    // Rows without a position have the pixel -1.
    if (pixel) return value(at, `(nullif(${pixel}, -1) >> ${2 * (29 - level)})`, 'int64');
    if (!isConstant(point) || level > MAX_CONSTANT_ORDER) {
      const takes = `the position of a table, or a constant position and an order of at most ${MAX_CONSTANT_ORDER}`;
      throw new AdqlError(at, `IVO_HEALPIX_INDEX takes ${takes}`);
    }
    const { ra, dec } = checkedPosition(point.ra, point.dec);
    const index = pixelAt(level, ra, dec);
    return constantNumber(at, index, `${index}`);
  }

  #healpixCentre(call: Expression & { kind: 'call' }, context: Context): Point {
    const { at } = call;
    const [order, pixel] = this.#arguments(call, 2, 2, context) as [Operand, Operand];
    const level = healpixOrder(order);
    const index = constantOf(numberOf(pixel, 'the pixel'));
    if (level > MAX_CONSTANT_ORDER || !Number.isInteger(index) || index < 0 || index >= 12 * 4 ** level)
      throw new AdqlError(
        at,
        `IVO_HEALPIX_CENTER takes an order of at most ${MAX_CONSTANT_ORDER} and the number of a pixel`,
      );
    const { ra, dec } = pixelCentre(level, index);
    return { kind: 'point', at, ra: constantNumber(at, ra), dec: constantNumber(at, dec) };
  }
}

const NONE: ReadonlySet<Source> = new Set();

/** The name of a column with the number of a row. */
const ROW = '"row\t"';

/** The tables of an outer join that can be a join with pairs: the one of which all rows are kept comes first, and has numbered rows. */
function pairedSides(type: Join['type'], left: From, right: From): readonly [Source, Source] | undefined {
  if (type !== 'LEFT' && type !== 'RIGHT') return undefined;
  const [kept, other] = type === 'LEFT' ? [left.source, right.source] : [right.source, left.source];
  return kept?.isNumbered && other ? [kept, other] : undefined;
}

/**
 * Writes an outer join as one with its pairs, by the number of the row. The pairs are an inner join. DuckDB compares all rows of
 * both tables in an outer join whose condition is more than equal values.
 * @param conditions of the pairs; read when the SQL is asked for
 */
function joinWithPairs([kept, other]: readonly [Source, Source], conditions: readonly string[]): () => string {
  // The cells so far are the inner join's. The lists are emptied, so that later ones are the outer join's.
  const [ofKept, ofOther] = [kept.cells.splice(0), other.cells.splice(0)];
  const numbered = { ...kept, relation: `(SELECT *, rowid AS ${ROW} FROM ${kept.relation})` };
  return () => {
    const inner = `${withCells({ ...numbered, cells: ofKept })}, ${withCells({ ...other, cells: ofOther })}`;
    const columns = `${kept.table}.${ROW}, ${other.table}.*`;
    const pairs = { ...other, relation: `(SELECT ${columns} FROM ${inner} WHERE ${conditions.join(' AND ')})` };
    const equal = `${kept.table}.${ROW} = ${other.table}.${ROW}`;
    return `(${withCells(numbered)} LEFT JOIN ${withCells(pairs)} ON ${equal})`;
  };
}

function sourcesOf({ tables }: Pick<From, 'tables'>): ReadonlySet<Source> {
  return new Set(tables.flatMap(({ columns }) => columns.flatMap(({ source }) => source ?? [])));
}

/** The systems of ADQL 2.0 (TAP 1.0, section 6) that can be ICRS in spherical coordinates. Nothing here depends on the position of the observer. */
const COORDINATE_SYSTEM =
  /^((ICRS|UNKNOWNFRAME)(\s+(BARYCENTER|GEOCENTER|HELIOCENTER|LSR|TOPOCENTER|RELOCATABLE|UNKNOWNREFPOS))?(\s+SPHERICAL2)?)?$/i;

/** The most bins of a histogram. */
const MAX_BINS = 10_000;

/** The rows below a range, in each of the equal parts of it, and not below its end (the IVOA's catalogue of functions, 1.0). */
function histogram(at: number, x: Value, [lower, upper, bins]: readonly Value[], distinct: string): Value {
  const [low, high, count] = [lower!, upper!, bins!].map(constantOf) as [number, number, number];
  if (!(low < high)) throw new AdqlError(upper!.at, 'the end of a histogram must be greater than its begin');
  if (!(Number.isInteger(count) && count >= 1 && count <= MAX_BINS))
    throw new AdqlError(bins!.at, `a histogram has 1 to ${MAX_BINS} bins (${count} was given)`);
  const place = `floor((${double(x)} - ${double(lower!)}) / ${constantNumber(at, high - low).sql} * ${count})`;
  const inside = `1 + CAST(least(${place}, ${count - 1}) AS INTEGER)`;
  const bin = `CASE WHEN ${double(x)} < ${double(lower!)} THEN 0 WHEN ${double(x)} < ${double(upper!)} THEN ${inside} WHEN isnan(${double(x)}) THEN NULL WHEN ${double(x)} IS NOT NULL THEN ${count + 1} END`;
  const counts = `list_transform(range(0, ${count + 2}), lambda bin: coalesce(histogram(${distinct}${bin})[bin], 0))`;
  const about: Column = { name: 'ivo_histogram', type: 'text', description: '', isIntegers: true };
  const column: ScopeColumn = { name: 'ivo_histogram', sql: '', type: 'text', about };
  return value(at, `array_to_string(${counts}, ' ')`, 'text', { column });
}

type Circle = Shape & { kind: 'circle' };

/** The farthest that the centre of a circle may be from that of another which holds it; a circle of 180 degrees holds everything. */
function innerReach(at: number, { radius }: Circle, { radius: inner }: Circle): Value {
  const rest = arithmetic(at, '-', radius, inner);
  if (radius.constant !== undefined) return radius.constant < 180 ? rest : radius;
  return value(at, `(CASE WHEN ${radius.sql} < 180 THEN ${double(rest)} ELSE ${double(radius)} END)`, 'float64');
}

const MAX_VERTICES = 200;
/** The highest order of pixels that are computed here. */
const MAX_CONSTANT_ORDER = 13;

function healpixOrder(operand: Operand): number {
  const order = constantOf(numberOf(operand, 'the order'));
  if (Number.isInteger(order) && order >= 0 && order <= 29) return order;
  throw new AdqlError(operand.at, `an order of HEALPix is 0 to 29 (${order} was given)`);
}

/** The numbers of a text of the query, with blanks between. */
function numbersOf({ at, text = '' }: Value): Value[] {
  const numbers = text.trim().split(/\s+/).map(Number);
  if (text.trim() === '' || numbers.some(Number.isNaN))
    throw new AdqlError(at, "a shape is cast from a text of numbers in the query, such as '12.3 45.6'");
  return numbers.map(number => constantNumber(at, number));
}

function fixed(number: Value): Value {
  constantOf(number);
  return number;
}

function constantOf({ constant, at }: Value): number {
  if (constant !== undefined) return constant;
  throw new AdqlError(at, 'a number must stand here, and no column: the shape must be the same for all rows');
}

function shapeOperand(name: string, operand: Operand): Shape {
  if (operand.kind !== 'value') return operand;
  throw new AdqlError(operand.at, `${name} takes shapes, and ${described(operand)} stands here`);
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

/** Whether a function of many rows is in an expression, but for those of its subqueries. */
function hasAggregate(expression: Expression): boolean {
  if (expression.kind === 'countAll') return true;
  if (expression.kind === 'call' && AGGREGATES.has(expression.name)) return true;
  return partsOf(expression).some(hasAggregate);
}

function hasQuery(expression: Expression): boolean {
  return 'query' in expression || partsOf(expression).some(hasQuery);
}

function partsOf(expression: Expression): readonly Expression[] {
  const parts: Expression[] = [];
  if ('of' in expression) parts.push(...(Array.isArray(expression.of) ? expression.of : [expression.of as Expression]));
  if (expression.kind === 'inList') parts.push(...expression.list);
  if (expression.kind !== 'case') return parts;
  const { subject, cases, otherwise } = expression;
  return [
    ...cases.flatMap(({ when, result }) => [when, result]),
    ...[subject, otherwise].filter(each => each !== undefined),
  ];
}

const not = ({ isNot }: { readonly isNot: boolean }) => (isNot ? ' NOT' : '');

function notGrouped(at: number, name: string): AdqlError {
  return new AdqlError(at, `${name} must be in GROUP BY, or in a function of many rows such as MAX`);
}

const nameOf = ({ kind }: Expression) => (kind === 'countAll' ? 'count' : kind === 'column' ? 'column' : 'value');

/** A column of the result. A column without a type of its own is a text. */
function resultColumn({ name, type, about }: ResultColumn): Column {
  const { type: _, name: __, isAscii, ...more } = about ?? { description: '', type: 'text', name: '' };
  const own = type === 'null' ? 'text' : type;
  const column = { ...more, name, type: own };
  return isAscii && own === 'text' ? { ...column, isAscii } : column;
}
