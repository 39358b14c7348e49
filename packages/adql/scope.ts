/** The tables and columns that the names of a query can mean. */
import { AdqlError } from './adql_error.ts';
import { type Column, type DescribedTable, tableName } from './schema.ts';
import type { Name } from './syntax.ts';
import type { ScopeColumn, Source, ValueType } from './values.ts';

/** A table of a FROM. */
export interface ScopeTable {
  readonly alias: Name | undefined;
  /** The described table that it is. */
  readonly of: DescribedTable | undefined;
  readonly columns: readonly ScopeColumn[];
}

export interface From {
  /** The table, where the FROM is a single table or query. */
  readonly source?: Source;
  /** Where the FROM is an outer join with pairs: the table of which all rows are kept, and the conditions that its rows in pairs must meet. */
  readonly kept?: { readonly source: Source; readonly conditions: string[] };
  /** To be asked when the conditions are written, which may add columns to its tables. */
  readonly sql: () => string;
  readonly tables: readonly ScopeTable[];
  /** The columns that names without a table mean, and that * stands for. */
  readonly columns: readonly ScopeColumn[];
}

export interface Scope {
  readonly tables: readonly ScopeTable[];
  readonly columns: readonly ScopeColumn[];
  readonly outer: Scope | undefined;
}

/** The place of an expression in its query. */
export interface Context {
  readonly scope: Scope;
  /** Whether functions of many rows may stand here; the reason why not. */
  readonly aggregates: true | string;
  /** The SQL of the expressions of GROUP BY, in a query whose rows are groups; undefined for others and in functions of many rows. */
  readonly groups?: ReadonlySet<string>;
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

/** Whether a path, of which the schema may be left out, names a table. */
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

export function unknownColumn(path: readonly Name[], scope: Scope): string {
  const qualifier = path.slice(0, -1);
  const table = qualifier.length > 0 && tableOf(qualifier, scope.tables);
  if (qualifier.length > 0 && !table) return `${pathText(qualifier)} is no table of this FROM`;
  const tables = table ? [table] : scope.tables;
  const names = tables.map(({ alias, of }) => alias?.text ?? (of ? tableName(of) : 'this query'));
  return `${path.at(-1)!.text} is no column of ${names.join(' or ') || 'the result'}`;
}

export function sharedNames(left: From, right: From, at: number): Name[] {
  const shared = left.columns.filter(({ name }) =>
    right.columns.some(other => other.name.toLowerCase() === name.toLowerCase()),
  );
  if (shared.length === 0) throw new AdqlError(at, 'the tables of NATURAL JOIN have no column in common');
  return shared.map(({ name }) => ({ text: name, isExact: false, at }));
}

/** Two tables of one FROM must have names of their own. */
export function checked(from: From): From {
  for (const [i, table] of from.tables.entries()) {
    const other = from.tables.slice(0, i).find(({ alias, of }) => {
      if (table.alias && alias) return isSame(alias, table.alias);
      return table.of !== undefined && of === table.of;
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
