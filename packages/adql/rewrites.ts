/**
 * Rewrites for DuckDB's weak spots. Without them a query is correct but slow: DuckDB compares all pairs of rows when tables are joined by
 * distance, and in outer joins with conditions other than equalities (`join_conditions.ts`). So joins by distance become joins by
 * equal sky cells, and outer joins become inner joins whose pairs are joined by row number.
 */
import type { Part } from './parts.ts';
import { partOf, pixelOf, position, ROUNDING } from './positions.ts';
import type { From } from './scope.ts';
import { constantNumber, type Point, type Source } from './values.ts';

/** The cell size, as a multiple of the join distance. Larger cells mean fewer cells for each position, with more rows in each. */
const CELL_RATIO = 8;
/**
 * The join distances for which cells are used, degrees: for larger distances there are too few cells to help, for
 * smaller ones the largest number is enough.
 */
const MAX_CELL_REACH = 5;
const MIN_CELL_REACH = 1e-4;
/** The corners of the neighbourhood of a position. */
const CORNERS = '(VALUES (-1, -1), (-1, 1), (1, -1), (1, 1)) AS near(i, j)';
/** The maximum number of cell columns of a table: each multiplies its rows by up to four. */
const MAX_CELLS = 2;

/** The tables whose rows a condition filters. */
export interface Joined {
  /** See `From`. Conditions that use only columns of this table are added to it. */
  readonly kept?: From['kept'];
  readonly all: ReadonlySet<Source>;
  /** Tables whose rows may be repeated, because the condition keeps only one copy of each. */
  readonly repeatable: ReadonlySet<Source>;
  /** The partial tables that may omit rows that fail the condition. */
  readonly narrows: ReadonlySet<Part>;
  /** Whether the condition excludes the rows that fail it from the result, in all tables. */
  readonly isStrict: boolean;
}

/** A table of a FROM with the columns that conditions have added. */
export function withCells({ table, relation, cells }: Source): string {
  return cells.reduce(
    (inner, { name, sql: cell }) => `(SELECT ${table}.*, ${cell} AS ${name} FROM ${inner}, ${CORNERS}) AS ${table}`,
    `${relation} AS ${table}`,
  );
}

/** The name of a column with the number of a row. */
const ROW = '"row\t"';

/** The rows of a table with their numbers. */
export function numberedRows({ relation, isNumbered }: Source): string {
  return `SELECT *, ${isNumbered ? 'rowid' : 'row_number() OVER ()'} AS ${ROW} FROM ${relation}`;
}

/**
 * Writes an outer join as a join with its pairs by row number. The pairs are an inner join.
 * @param kept the table whose rows are all preserved (both in a FULL JOIN), with numbered rows
 * @param pairs the name of the pairs
 * @param conditions of the pairs; evaluated when the SQL is requested
 */
export function joinWithPairs(
  [kept, other]: readonly [Source, Source],
  isFull: boolean,
  pairs: string,
  conditions: readonly string[],
): () => string {
  // The cells so far belong to the inner join. Emptying the lists assigns later ones to the outer join.
  const [ofKept, ofOther] = [kept.cells.splice(0), other.cells.splice(0)];
  return () => {
    const inner = `${withCells({ ...kept, cells: ofKept })}, ${withCells({ ...other, cells: ofOther })}`;
    const equal = (a: string, b: string) => `${a}.${ROW} = ${b}.${ROW}`;
    const where = `FROM ${inner} WHERE ${conditions.join(' AND ')}`;
    if (!isFull) {
      const of = { ...other, relation: `(SELECT ${kept.table}.${ROW}, ${other.table}.* ${where})` };
      return `(${withCells(kept)} LEFT JOIN ${withCells(of)} ON ${equal(kept.table, other.table)})`;
    }
    const both = `(SELECT ${kept.table}.${ROW}, ${other.table}.${ROW} AS other ${where}) AS ${pairs}`;
    const first = `${withCells(kept)} LEFT JOIN ${both} ON ${equal(kept.table, pairs)}`;
    return `(${first} FULL JOIN ${withCells(other)} ON ${pairs}.other = ${other.table}.${ROW})`;
  };
}

/** The columns of cells that the conditions of one query have added. */
export class NearCells {
  #cells = 0;

  /** The condition that one position's cell is near the other position. It is an equality, so the engine can join by it. */
  sameCell(a: Point, b: Point, radius: number | undefined, { all, repeatable }: Joined): string | undefined {
    if (radius === undefined || !(radius >= 0 && radius <= MAX_CELL_REACH)) return undefined;
    const [first, second] = [sourceOf(a), sourceOf(b)];
    if (!first || !second || first === second || !all.has(first) || !all.has(second)) return undefined;
    const sides = [
      { point: b, source: second, other: a },
      { point: a, source: first, other: b },
    ].filter(({ source }) => repeatable.has(source) && source.cells.length < MAX_CELLS);
    // Tables with pixels, and partial tables, are large.
    const side = sides.find(({ point }) => !pixelOf(point) && !partOf(point)) ?? sides[0];
    if (!side) return undefined;
    const reach = Math.max(radius + ROUNDING, MIN_CELL_REACH);
    const n = constantNumber(a.at, Math.floor(360 / (CELL_RATIO * reach))).sql;
    const { table, cells } = side.source;
    // Control characters make the name unique: no column name has one.
    const name = `"cell\t${++this.#cells}"`;
    const near = `near.i, near.j, ${constantNumber(a.at, reach).sql}, ${n}`;
    cells.push({ name, sql: `adql_corner(${position(side.point)}, ${near})` });
    return `adql_cell(${position(side.other)}, ${n}) = ${table}.${name}`;
  }
}

/** The table of a FROM whose columns are both coordinates. */
export function sourceOf({ ra, dec }: Point): Source | undefined {
  const source = ra.column?.source;
  return source === dec.column?.source ? source : undefined;
}
