/**
 * Translates an ADQL query to SQL for DuckDB. No part of the query is passed through: names come from the described tables or are made
 * here, numbers and strings become literals of the engine, and functions come from a list.
 */
import type { Column } from '@nearsky/astrotables';
import { AdqlError } from './adql_error.ts';
import { Expressions, hasAggregate, notGrouped } from './expressions.ts';
import { FromClauses, partsOf, sourcesOf, useColumn } from './from_clause.ts';
import { parse } from './parser.ts';
import { describeParts, type KeptRows, type TablePart } from './parts.ts';
import type { DescribedTable } from './schema.ts';
import {
  type Context,
  columnsNamed,
  isNamed,
  isSame,
  pathText,
  type Relation,
  type ResultColumn,
  type Scope,
  tableOf,
} from './scope.ts';
import { Shapes } from './shapes.ts';
import type { Body, Expression, Item, Name, Query, Select } from './syntax.ts';
import {
  commonType,
  conditionOf,
  ENGINE_TYPES,
  nameOfType,
  plainValue,
  type ScopeColumn,
  shownValue,
} from './values.ts';

export interface Translated {
  /** The SQL. Times in results are microseconds since 1970. */
  readonly sql: string;
  /** Parallel to the columns of the result. Names may repeat, as in the query. */
  readonly columns: readonly Column[];
  /** The rows of partial tables that the SQL needs. */
  readonly parts: readonly TablePart[];
  /** The rows that must be stored before `sql` runs. */
  readonly kept: readonly KeptRows[];
  /**
   * Returns SQL for the first rows, up to `rows` of them. With fewer than `rows`, these are all rows of the query.
   * Returns undefined if the query may have more, and its first rows may cost as much as all.
   */
  readonly few: (rows: number) => string | undefined;
  /** Warnings for the author of the query, such as a division of integers that is 0. */
  readonly warnings: readonly AdqlError[];
}

/** The longest query, in UTF-16 code units. */
export const MAX_QUERY_LENGTH = 200_000;

/**
 * @param maxRows the maximum number of rows to return
 * @param icrsHint for messages: what to use instead of a coordinate that is not in ICRS
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
      `a query has at most ${MAX_QUERY_LENGTH} characters (this one has ${query.length}): split the query`,
    );
  return new Translator(tables, maxRows, icrsHint).translate(parse(query));
}

interface Output {
  readonly column: ResultColumn;
  readonly sql: string;
}

/** ORDER BY, LIMIT and OFFSET, which stand after a query. */
interface Tail {
  readonly orderBy: Query['orderBy'];
  readonly offset: string | undefined;
  /** Whether this is the outermost query. Its columns are converted to the types of results. */
  readonly isResult: boolean;
}

const NO_TAIL: Tail = { orderBy: [], offset: undefined, isResult: false };

/** The maximum number of columns in a query: the engine makes 2,048 rows of all columns at a time. */
const MAX_COLUMNS = 500;

/** The maximum length of the SQL. Repeated expressions make it much longer than the query. */
const MAX_SQL_LENGTH = 2 ** 21;

/**
 * The maximum of comparisons between columns, times the square of the number of tables. Up to this limit, for example
 * 39 comparisons between 40 tables or 490 between 8, the engine plans a query within a second. Planning 160 comparisons
 * between 40 tables takes 16 s and cannot be interrupted; 1,170 take 260 MiB that the engine does not count.
 */
const MAX_PLANNED = 64_000;

/** The maximum of TOP and OFFSET, which is the engine's limit on row numbers. */
const MAX_COUNT = 2n ** 62n;

class Translator {
  readonly #maxRows: number;
  readonly #expressions: Expressions;
  readonly #from: FromClauses;

  constructor(tables: readonly DescribedTable[], maxRows: number, icrsHint: string | undefined) {
    this.#maxRows = maxRows;
    const query = (of: Query, outer: Scope | undefined) => this.#query(of, outer);
    this.#expressions = new Expressions(query, new Shapes(icrsHint));
    this.#from = new FromClauses(tables, this.#expressions, query);
  }

  translate(query: Query): Translated {
    for (const { name, query: of } of query.named) {
      if (this.#from.named.some(each => isSame(each.name, name)))
        throw new AdqlError(name.at, `two queries of WITH have the name ${name.text}`);
      const before = { joined: this.#from.joined, compared: this.#expressions.compared };
      const relation = this.#query(of, undefined);
      const sql = `q${this.#from.named.length + 1}`;
      this.#from.named.push({
        name,
        sql,
        relation,
        joined: this.#from.joined - before.joined,
        compared: this.#expressions.compared - before.compared,
      });
      this.#from.parts.push(`${sql} AS (${relation.sql})`);
    }
    const relation = this.#query(query, undefined, true);
    this.#requirePlannable();
    const { parts: clauses, partial } = this.#from;
    const select = query.body.kind === 'select' ? query.body : undefined;
    const limit = this.#limit({ isResult: true }, select)!;
    const { sql: unlimited, parts, kept } = describeParts(partial, relation.sql, clauses);
    const sql = `${unlimited} LIMIT ${count(limit)}`;
    const isScan = select !== undefined && this.#from.joined === 1 && isPlain(select, query.orderBy);
    const few = (rows: number) => (limit < rows ? sql : isScan ? `${unlimited} LIMIT ${rows}` : undefined);
    if (sql.length > MAX_SQL_LENGTH)
      throw new AdqlError(0, 'the query is too long, with its functions written out: split the query');
    const warnings = Array.from(this.#expressions.warnings, ([at, message]) => new AdqlError(at, message));
    return { sql, columns: relation.columns.map(resultColumn), parts, kept, few, warnings };
  }

  #requirePlannable(): void {
    const { joined } = this.#from;
    const { compared } = this.#expressions;
    const most = Math.floor(MAX_PLANNED / joined ** 2);
    if (compared > most)
      throw new AdqlError(
        0,
        `a query of ${joined} tables has at most ${most} comparisons between columns, with those of NATURAL and USING (this one has ${compared}): split the query`,
      );
  }

  #query({ body, orderBy, offset }: Query, outer: Scope | undefined, isResult = false): Relation {
    return this.#body(body, outer, { orderBy, offset, isResult });
  }

  #body(body: Body, outer: Scope | undefined, tail: Tail = NO_TAIL): Relation {
    if (body.kind === 'select') return this.#select(body, outer, tail);
    if (body.kind === 'query' && tail === NO_TAIL) return this.#query(body, outer);
    const { sql, columns } = body.kind === 'query' ? this.#query(body, outer) : this.#setOperation(body, outer);
    if (tail === NO_TAIL) return { sql, columns };
    const table = this.#from.newTable();
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
        `the queries of ${body.operator} must have the same number of columns: there are ${counts}`,
      );
    }
    const columns = left.columns.map((column, i): ResultColumn => {
      const other = right.columns[i]!;
      const type = commonType([column.type, other.type]);
      if (!type) {
        const types = `${nameOfType(column.type)} on the left and ${nameOfType(other.type)} on the right`;
        throw new AdqlError(other.at, `column ${i + 1} of ${body.operator} is ${types}: the types must match`);
      }
      const isAlike = column.about?.numbers === other.about?.numbers && column.about?.shape === other.about?.shape;
      const texts = Math.max(column.texts, other.texts);
      return { ...column, type, texts, about: isAlike ? column.about : undefined };
    });
    const cast = ({ sql, columns: own }: Relation) => {
      const table = this.#from.newTable();
      const list = columns.map(({ type }, i) =>
        type === own[i]!.type ? `${table}.c${i + 1}` : `CAST(${table}.c${i + 1} AS ${ENGINE_TYPES[type]}) AS c${i + 1}`,
      );
      return `SELECT ${list.join(', ')} FROM (${sql}) AS ${table}`;
    };
    const operator = `${body.operator}${body.isAll ? ' ALL' : ''}`;
    return { sql: `(${cast(left)}) ${operator} (${cast(right)})`, columns };
  }

  #select(select: Select, outer: Scope | undefined, tail: Tail): Relation {
    const from = this.#from.read(select.from, outer);
    const scope: Scope = { tables: from.tables, columns: from.columns, outer };
    const noAggregate = (part: string) => `aggregate functions are not allowed in ${part}`;
    const results = select.items.flatMap(item => (item.kind === 'one' && item.name ? item.name : []));
    const whereContext: Context = {
      scope,
      aggregates: `${noAggregate('WHERE')}: put the condition into HAVING`,
      results,
    };
    this.#expressions.texts = 0;
    const sources = sourcesOf(from);
    const narrows = partsOf(from);
    const filtered = {
      all: sources,
      repeatable: sources,
      narrows,
      isStrict: true,
      ...(from.kept && { kept: from.kept }),
    };
    const where = select.where && this.#expressions.filter(select.where, whereContext, filtered, 'WHERE');
    const groupContext: Context = { scope, aggregates: noAggregate('GROUP BY') };
    const groups = select.groupBy.map(
      each =>
        plainValue(this.#expressions.operand(this.#aliased(each, select, scope), groupContext), 'a term of GROUP BY')
          .sql,
    );
    const grouped = isGrouped(select, tail.orderBy) && { groups: new Set(groups) };
    const context: Context = { scope, aggregates: true, ...grouped };
    const outputs: Output[] = [];
    for (const item of select.items) {
      outputs.push(...this.#outputs(item, context));
      if (outputs.length > MAX_COLUMNS)
        throw new AdqlError(item.at, `a query has at most ${MAX_COLUMNS} columns: name those that are needed`);
    }
    const limit = this.#limit(tail, select);
    if (!select.where && limit !== undefined && narrows.size === 1 && isPlain(select, tail.orderBy))
      for (const part of narrows) part.rows = Number(limit + BigInt(tail.offset ?? 0));
    const having =
      select.having && conditionOf(this.#expressions.operand(select.having, { ...context, results }), 'HAVING');
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

  /** The expression of a term of GROUP BY, which may be a name that the query gives one of its columns. */
  #aliased(term: Expression, { items }: Select, scope: Scope): Expression {
    const [name, ...others] = term.kind === 'column' ? term.path : [];
    if (!name || others.length > 0 || columnsNamed([name], scope).length > 0) return term;
    for (const item of items) if (item.kind === 'one' && item.name && isSame(item.name, name)) return item.expression;
    return term;
  }

  #outputs(item: Item, context: Context): Output[] {
    if (item.kind === 'all') {
      const columns = this.#allColumns(item, context.scope);
      for (const column of columns) useColumn(column);
      return columns.map(({ name, sql, type, about, texts = 1 }) => {
        if (context.groups && !context.groups.has(sql)) throw notGrouped(item.at, name);
        return { sql, column: { name, at: item.at, type, about, texts } };
      });
    }
    const { expression, name, at } = item;
    const before = this.#expressions.texts;
    this.#expressions.texts = 0;
    const { sql, type, column } = shownValue(this.#expressions.operand(expression, context));
    const texts = Math.max(1, this.#expressions.texts);
    this.#expressions.texts = before;
    const own = name?.text ?? column?.name ?? (expression.kind === 'call' ? expression.name.toLowerCase() : undefined);
    return [{ sql, column: { name: own ?? nameOf(expression), at, type, about: column?.about, texts } }];
  }

  #allColumns({ qualifier, at }: Item & { kind: 'all' }, scope: Scope): readonly ScopeColumn[] {
    if (qualifier.length === 0) return scope.columns;
    const table = tableOf(qualifier, scope.tables);
    if (!table) throw new AdqlError(at, `${pathText(qualifier)} is not a table of this FROM`);
    return table.columns;
  }

  /** The columns, named c1, c2, ...; in the outermost query with the types of results. */
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
    // The limit of the result is added last.
    const limit = isResult ? undefined : this.#limit({ isResult }, select);
    const parts = [
      order.length > 0 && ` ORDER BY ${order.join(', ')}`,
      limit !== undefined && ` LIMIT ${count(limit)}`,
      offset !== undefined && ` OFFSET ${count(BigInt(offset))}`,
    ];
    return parts.filter(Boolean).join('');
  }

  /** Maximum rows of a query. */
  #limit({ isResult }: Pick<Tail, 'isResult'>, select: Select | undefined): bigint | undefined {
    const top = select?.top === undefined ? undefined : BigInt(select.top);
    const limits = [top, isResult ? BigInt(this.#maxRows) : undefined].filter(each => each !== undefined);
    return limits.length > 0 ? limits.reduce((a, b) => (a < b ? a : b)) : undefined;
  }

  /** The number or name of a result column, or another expression. */
  #orderTerm(expression: Expression, outputs: readonly Output[], context: Context, select: Select | undefined): string {
    const { at } = expression;
    if (expression.kind === 'number') {
      const number = Number(expression.text);
      if (Number.isInteger(number) && number >= 1 && number <= outputs.length) return `${number}`;
      throw new AdqlError(at, `ORDER BY ${expression.text} is not a column: the query has ${outputs.length}`);
    }
    if (expression.kind === 'column' && expression.path.length === 1) {
      const [name] = expression.path as [Name];
      const found = outputs.findIndex(({ column }) => isNamed(column.name, name));
      if (found >= 0) return `${found + 1}`;
    }
    const { sql } = plainValue(this.#expressions.operand(expression, context), 'a term of ORDER BY');
    const same = outputs.findIndex(each => each.sql === sql);
    if (same >= 0) return `${same + 1}`;
    if (select?.isDistinct) throw new AdqlError(at, 'ORDER BY of SELECT DISTINCT takes columns of the result');
    return sql;
  }
}

const count = (number: bigint) => (number < MAX_COUNT ? number : MAX_COUNT);

function isGrouped({ groupBy, having, items }: Select, orderBy: Query['orderBy']): boolean {
  if (groupBy.length > 0 || having !== undefined) return true;
  const shown = items.flatMap(item => (item.kind === 'one' ? [item.expression] : []));
  return [...shown, ...orderBy.map(({ expression }) => expression)].some(hasAggregate);
}

/** Whether each row of the result is a row of one table, in any order. */
function isPlain(select: Select, orderBy: Query['orderBy']): boolean {
  const isOne = select.from.length === 1 && select.from[0]!.kind === 'table';
  return isOne && !select.isDistinct && orderBy.length === 0 && !isGrouped(select, orderBy);
}

const nameOf = ({ kind }: Expression) => (kind === 'countAll' ? 'count' : kind === 'column' ? 'column' : 'value');

/** A result column; text if its type is unknown. */
function resultColumn({ name, type, about }: ResultColumn): Column {
  const { type: _, name: __, isAscii, ...more } = about ?? { description: '', type: 'text', name: '' };
  const own = type === 'null' ? 'text' : type;
  const column = { ...more, name, type: own };
  return isAscii && own === 'text' ? { ...column, isAscii } : column;
}
