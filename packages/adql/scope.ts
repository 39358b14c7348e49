/** Resolves the names in a query to tables and columns. */
import type { Column } from '@nearsky/astrotables';
import { AdqlError } from './adql_error.ts';
import { nearest } from './hints.ts';
import { type DescribedTable, tableName } from './schema.ts';
import type { Name } from './syntax.ts';
import type { ScopeColumn, Source, ValueType } from './values.ts';
import { spelled } from './words.ts';

export interface ScopeTable {
  readonly alias: Name | undefined;
  /** Its description; undefined for a query. */
  readonly of: DescribedTable | undefined;
  readonly columns: readonly ScopeColumn[];
}

export interface From {
  /** The table, if the FROM is a single table or query. */
  readonly source?: Source;
  /**
   * For an outer join with pairs: the table of which all rows are preserved, and the conditions for its rows in pairs.
   */
  readonly kept?: { readonly source: Source; readonly conditions: string[] };
  /** Call this after the conditions are written, because they may add columns to the tables. */
  readonly sql: () => string;
  readonly tables: readonly ScopeTable[];
  /** The columns that unqualified names and * refer to. */
  readonly columns: readonly ScopeColumn[];
}

export interface Scope {
  readonly tables: readonly ScopeTable[];
  readonly columns: readonly ScopeColumn[];
  readonly outer: Scope | undefined;
}

/** The context of an expression in its query. */
export interface Context {
  readonly scope: Scope;
  /** Whether aggregate functions are allowed here, or the reason why not. */
  readonly aggregates: true | string;
  /** The SQL of the GROUP BY expressions in a grouped query; undefined otherwise, and inside aggregate functions. */
  readonly groups?: ReadonlySet<string>;
  /** The names that the query gives its columns, which its conditions cannot use. */
  readonly results?: readonly Name[];
}

/** A query as its users see it. */
export interface Relation {
  readonly sql: string;
  /** Named c1, c2, ... in the SQL. */
  readonly columns: readonly ResultColumn[];
}

export interface ResultColumn {
  readonly name: string;
  readonly at: number;
  readonly type: ValueType;
  readonly about: Column | undefined;
  readonly texts: number;
}

export function isNamed(name: string, { text, isExact }: Name): boolean {
  return isExact ? name === text : name.toLowerCase() === text.toLowerCase();
}

export function isSame(a: Name, b: Name): boolean {
  return a.isExact && b.isExact ? a.text === b.text : a.text.toLowerCase() === b.text.toLowerCase();
}

/** Whether a path, with or without a schema, names a table. */
export function isTable({ schema, name }: DescribedTable, path: readonly Name[]): boolean {
  const [last, before, ...others] = path.toReversed();
  return isNamed(name, last!) && (!before || isNamed(schema, before)) && others.length === 0;
}

export function tableOf(path: readonly Name[], tables: readonly ScopeTable[]): ScopeTable | undefined {
  return tables.find(({ alias, of }) => {
    if (alias) return path.length === 1 && isSame(alias, path[0]!);
    return of !== undefined && isTable(of, path);
  });
}

export function columnsNamed(path: readonly Name[], scope: Pick<Scope, 'columns' | 'tables'>): readonly ScopeColumn[] {
  const name = path.at(-1)!;
  const columns = path.length === 1 ? scope.columns : tableOf(path.slice(0, -1), scope.tables)?.columns;
  return columns?.filter(column => isNamed(column.name, name)) ?? [];
}

export function unknownColumn(path: readonly Name[], { scope, results = [] }: Context): string {
  const qualifier = path.slice(0, -1);
  const table = qualifier.length > 0 && tableOf(qualifier, scope.tables);
  if (qualifier.length > 0 && !table) return `${pathText(qualifier)} is not a table of this FROM`;
  const tables = table ? [table] : scope.tables;
  const names = tables.map(({ alias, of }) => alias?.text ?? (of ? tableName(of) : 'this query'));
  const name = path.at(-1)!;
  const unknown = `${name.text} is not a column of ${names.join(' or ') || 'the result'}`;
  if (path.length === 1 && results.some(each => isSame(each, name)))
    return `${unknown}: it is a name of the result, so repeat its expression here`;
  for (const { of } of tables)
    for (const [left, type] of Object.entries(of?.leftOut ?? {}))
      if (isNamed(left, name))
        return `${spelled(left)} of ${tableName(of!)} has the type ${type}, which queries do not have`;
  const near = nearest(
    name.text,
    (table ? table.columns : scope.columns).map(column => spelled(column.name)),
  );
  return `${unknown}${near || (name.isExact ? `: write a text in single quotes, as in '${name.text.slice(0, 40)}'` : '')}`;
}

export function sharedNames(left: From, right: From, at: number): Name[] {
  const shared = left.columns.filter(({ name }) =>
    right.columns.some(other => other.name.toLowerCase() === name.toLowerCase()),
  );
  if (shared.length === 0) throw new AdqlError(at, 'the tables of NATURAL JOIN have no column in common');
  return shared.map(({ name }) => ({ text: name, isExact: false, at }));
}

/** Tables of one FROM must have different names. */
export function checked(from: From): From {
  for (const [i, table] of from.tables.entries()) {
    const other = from.tables.slice(0, i).find(({ alias, of }) => {
      if (table.alias && alias) return isSame(alias, table.alias);
      return !table.alias && !alias && table.of !== undefined && of === table.of;
    });
    if (other)
      throw new AdqlError(
        table.alias?.at ?? 0,
        `two tables of one FROM have the name ${table.alias?.text ?? tableName(table.of!)}: give each a name of its own with AS`,
      );
  }
  return from;
}

export const pathText = (path: readonly Name[]) => path.map(({ text }) => text).join('.');
