/** The tables of a query and their joins. */
import { AdqlError } from './adql_error.ts';
import { type Expressions, NONE } from './expressions.ts';
import { nearest } from './hints.ts';
import { type OuterType, outerCondition, type Side } from './join_conditions.ts';
import { Part } from './parts.ts';
import { joinWithPairs, numberedRows, withCells } from './rewrites.ts';
import { type DescribedTable, tableName } from './schema.ts';
import {
  type Context,
  checked,
  columnsNamed,
  type From,
  isNamed,
  isSame,
  isTable,
  pathText,
  type Relation,
  type Scope,
  sharedNames,
} from './scope.ts';
import type { Expression, Join, Name, Query, TableReference } from './syntax.ts';
import { commonType, nameOfType, quoted, type ScopeColumn, type Source } from './values.ts';

/** The maximum number of tables in a query. The engine plans 40 in a second, but 100 take over a minute and cannot be interrupted. */
const MAX_TABLES = 40;

interface NamedQuery {
  readonly name: Name;
  /** The name of the table in the SQL. */
  readonly sql: string;
  readonly relation: Relation;
  readonly joined: number;
  readonly compared: number;
}

/** Reads the FROM clauses of one query. */
export class FromClauses {
  readonly #tables: readonly DescribedTable[];
  readonly #expressions: Expressions;
  readonly #query: (query: Query, outer: Scope | undefined) => Relation;
  readonly named: NamedQuery[] = [];
  /** The parts of the WITH clause. A part may use the parts before it. */
  readonly parts: string[] = [];
  /** The partial tables, at each of their uses. */
  readonly partial: Part[] = [];
  /** The number of tables that the engine joins. The tables of a named query count at each of its uses. */
  joined = 0;
  #lastTable = 0;

  /** @param query reads a query in a FROM */
  constructor(
    tables: readonly DescribedTable[],
    expressions: Expressions,
    query: (query: Query, outer: Scope | undefined) => Relation,
  ) {
    this.#tables = tables;
    this.#expressions = expressions;
    this.#query = query;
  }

  /** Returns a name that no other table has in the engine. */
  newTable(): string {
    return `t${++this.#lastTable}`;
  }

  /** Reads the tables of one FROM. */
  read(references: readonly TableReference[], outer: Scope | undefined): From {
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
    const named = path.length === 1 ? this.named.find(({ name }) => isSame(name, path[0]!)) : undefined;
    this.joined += named?.joined ?? 1;
    this.#expressions.compared += named?.compared ?? 0;
    if (this.joined > MAX_TABLES)
      throw new AdqlError(at, `a query joins at most ${MAX_TABLES} tables, those of WITH at each use: split the query`);
    if (named) return this.#derived(named.relation, alias ?? path[0]!, named.sql);
    const found = this.#tables.filter(table => isTable(table, path));
    if (found.length === 0) {
      const known = this.#tables.map(tableName).join(', ');
      const names = this.#tables.map(table => (path.length === 1 ? table.name : tableName(table)));
      const near = nearest(pathText(path), names);
      throw new AdqlError(at, `there is no table ${pathText(path)}${near ? `${near} There` : ': there'} are ${known}`);
    }
    if (found.length > 1)
      throw new AdqlError(
        at,
        `${pathText(path)} is one of ${found.map(tableName).join(', ')}: put the schema before it`,
      );
    const [described] = found as [DescribedTable];
    const { position, linked, relation = `${quoted(described.schema)}.${quoted(described.name)}` } = described;
    const table = this.newTable();
    const of = described.partial && new Part(described, this.partial.length + 1);
    if (of) this.partial.push(of);
    const isNumbered = !of && described.columns.every(({ name }) => name.toLowerCase() !== 'rowid');
    const source: Source = { table, relation: of?.relation ?? relation, isNumbered, cells: [], conditions: [] };
    const inTable = (name: string) => `${table}.${quoted(name)}`;
    const columns = described.columns.map((about): ScopeColumn => {
      const { name, type } = about;
      const part = position?.ra === name ? 'ra' : position?.dec === name ? 'dec' : undefined;
      const pixel = position?.pixel === undefined ? {} : { pixel: inTable(position.pixel) };
      return {
        name,
        type,
        about,
        source,
        sql: inTable(name),
        ...(part && { place: { part, ...pixel } }),
        ...(of && { of }),
        ...(linked?.id === name && { linked: { ...linked, ra: inTable(linked.ra), dec: inTable(linked.dec) } }),
      };
    });
    const tables = [{ alias, of: described, columns }];
    return { sql: () => withCells(source), source, columns, tables };
  }

  #derived({ sql, columns: own }: Relation, alias: Name, relation = `(${sql})`): From {
    const table = this.newTable();
    const source: Source = { table, relation, isNumbered: false, cells: [], conditions: [] };
    const columns = own.map((column, i): ScopeColumn => ({ ...column, source, sql: `${table}.c${i + 1}` }));
    return { sql: () => withCells(source), source, columns, tables: [{ alias, of: undefined, columns }] };
  }

  #join(join: Join, outer: Scope | undefined): From {
    const [left, right] = [this.#from(join.left, outer), this.#from(join.right, outer)];
    const tables = [...left.tables, ...right.tables];
    const sql = (condition: string) => () => `(${left.sql()} ${join.type} JOIN ${right.sql()} ON ${condition})`;
    if (join.by.kind === 'on') {
      if (join.type !== 'INNER') return this.#outerJoin(join.type, join.by.condition, left, right, outer);
      const columns = [...left.columns, ...right.columns];
      const all = sourcesOf({ tables });
      const context = joined(tables, columns, outer);
      const filtered = { all, repeatable: all, narrows: partsOf({ tables }), isStrict: true };
      const condition = this.#expressions.filter(join.by.condition, context, filtered, 'ON');
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
      for (const each of [a, b]) useColumn(each);
      if (commonType([a.type, b.type])) return { a, b };
      const types = `${nameOfType(a.type)} in one table and ${nameOfType(b.type)} in the other`;
      throw new AdqlError(name.at, `${name.text} is ${types}: join them ON a condition`);
    });
    this.#expressions.compared += pairs.length;
    const merged = pairs.map(({ a, b }) => {
      if (join.type !== 'FULL') return join.type === 'RIGHT' ? b : a;
      const { name, type, about, texts = 1 } = a;
      return { name, type, about, texts, sql: `coalesce(${a.sql}, ${b.sql})` };
    });
    const used = new Set(pairs.flatMap(({ a, b }) => [a, b]));
    const rest = [...left.columns, ...right.columns].filter(column => !used.has(column));
    const condition = pairs.map(({ a, b }) => `${a.sql} = ${b.sql}`).join(' AND ');
    return { sql: sql(condition), tables, columns: [...merged, ...rest] };
  }

  #outerJoin(type: OuterType, condition: Expression, left: From, right: From, outer: Scope | undefined): From {
    const sideOf = (path: readonly Name[]): Side | undefined => {
      const sides = ([left, right] as const).map(from => columnsNamed(path, from).length > 0);
      return sides[0] === sides[1] ? undefined : sides[0] ? 'left' : 'right';
    };
    const { condition: own, isMixed, hasKey } = outerCondition(type, condition, sideOf);
    // A query within a condition may refer to outer tables, but pairs cannot.
    const isOfPairs = isMixed && !outer;
    const [a, b] = isOfPairs ? [this.#asTable(left), this.#asTable(right)] : [left, right];
    const tables = [...a.tables, ...b.tables];
    const columns = [...a.columns, ...b.columns];
    const context = joined(tables, columns, outer);
    const all = sourcesOf({ tables });
    // An outer join would keep a repeated row several times if it has no match. The pairs are an inner join, so their
    // rows may repeat.
    const dropped = type === 'LEFT' ? b.tables : type === 'RIGHT' ? a.tables : [];
    const narrows = partsOf({ tables: dropped });
    const filtered = { all, repeatable: isOfPairs ? all : NONE, narrows, isStrict: false };
    const { sql } = this.#expressions.filter(own, context, filtered, 'ON');
    const nullable = type === 'FULL' ? tables : dropped;
    for (const source of sourcesOf({ tables: nullable })) source.isNullable = true;
    const sides = type === 'RIGHT' ? [b.source, a.source] : [a.source, b.source];
    if (isOfPairs && (hasKey || sides.some(each => each!.cells.length > 0))) {
      const [kept, other] = sides as [Source, Source];
      const isFull = type === 'FULL';
      const paired = [this.#numbered(kept), isFull ? this.#numbered(other) : other] as const;
      const conditions = [sql];
      const from = { sql: joinWithPairs(paired, isFull, this.newTable(), conditions), tables, columns };
      return isFull ? from : { ...from, kept: { source: kept, conditions } };
    }
    return { sql: () => `(${a.sql()} ${type} JOIN ${b.sql()} ON ${sql})`, tables, columns };
  }

  /** A table with numbered rows. Every use of it must have the same numbers. */
  #numbered(source: Source): Source {
    const rows = numberedRows(source);
    if (source.isNumbered) return { ...source, relation: `(${rows})` };
    const name = `n${this.parts.length + 1}`;
    this.parts.push(`${name} AS MATERIALIZED (${rows})`);
    return { ...source, relation: name };
  }

  /** Wraps a FROM as a single table. */
  #asTable(from: From): From {
    if (from.source) return from;
    const table = this.newTable();
    const own = new Set([...from.columns, ...from.tables.flatMap(({ columns }) => columns)]);
    const names = new Map<string, string>();
    for (const { sql, place } of own)
      for (const each of [sql, ...(place?.pixel === undefined ? [] : [place.pixel])])
        if (!names.has(each)) names.set(each, `c${names.size + 1}`);
    const list = Array.from(names, ([sql, name]) => `${sql} AS ${name}`).join(', ');
    const relation = `(SELECT ${list} FROM ${from.sql()})`;
    const source: Source = { table, relation, isNumbered: false, cells: [], conditions: [] };
    const inTable = (sql: string) => `${table}.${names.get(sql)}`;
    const renamed = new Map(
      Array.from(own, column => {
        const { place, sql } = column;
        const { linked: _, ...rest } = column;
        const moved: ScopeColumn = { ...rest, source, sql: inTable(sql) };
        return [column, place?.pixel ? { ...moved, place: { ...place, pixel: inTable(place.pixel) } } : moved];
      }),
    );
    const all = (columns: readonly ScopeColumn[]) => columns.map(each => renamed.get(each)!);
    const tables = from.tables.map(each => ({ ...each, columns: all(each.columns) }));
    return { sql: () => withCells(source), source, tables, columns: all(from.columns) };
  }
}

/** The context of a join condition. */
function joined(tables: From['tables'], columns: From['columns'], outer: Scope | undefined): Context {
  const scope: Scope = { ...checked({ sql: () => '', tables, columns }), outer };
  return { scope, aggregates: 'aggregate functions are not allowed in ON' };
}

/** The partial tables of a FROM. */
export function partsOf({ tables }: Pick<From, 'tables'>): ReadonlySet<Part> {
  return new Set(tables.flatMap(({ columns }) => columns.flatMap(({ of }) => of ?? [])));
}

/** Notes that the query uses the values of a column. */
export function useColumn({ of, about }: ScopeColumn): void {
  if (of && about) of.use(about.name);
}

export function sourcesOf({ tables }: Pick<From, 'tables'>): ReadonlySet<Source> {
  return new Set(tables.flatMap(({ columns }) => columns.flatMap(({ source }) => source ?? [])));
}
