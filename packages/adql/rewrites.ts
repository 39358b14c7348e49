/**
 * Rewrites for DuckDB's weak spots. A query is right without them, and slow: DuckDB compares all pairs of rows where tables are joined by a
 * distance, and in an outer join whose condition is more than equal values (`join_conditions.ts`). So joins by a distance become joins by equal cells of
 * the sky, and outer joins become inner joins whose pairs are joined by the number of the row.
 */
import type { Part } from './parts.ts';
import { partOf, pixelOf, position, ROUNDING } from './positions.ts';
import type { From } from './scope.ts';
import { constantNumber, type Point, type Source } from './values.ts';

/** The size of a cell over the distance of two positions that are joined: more makes a position have fewer cells, with more in each. */
const CELL_RATIO = 8;
/** The distances by which positions are joined through cells, degrees: each has several above, and more than enough below. */
const MAX_CELL_REACH = 5;
const MIN_CELL_REACH = 1e-4;
/** The corners of what is near a position. */
const CORNERS = '(VALUES (-1, -1), (-1, 1), (1, -1), (1, 1)) AS near(i, j)';
/** The most such columns of a table, which has up to four times as many rows with each. */
const MAX_CELLS = 2;

/** The tables whose rows a condition is checked on. */
export interface Joined {
  /** See `From`; the conditions that only have columns of that table are added to it. */
  readonly kept?: From['kept'];
  readonly all: ReadonlySet<Source>;
  /** The tables that may have several rows for one row of the others. The condition keeps one of them. */
  readonly repeatable: ReadonlySet<Source>;
  /** The partial tables whose rows that fail the condition do not matter. */
  readonly narrows: ReadonlySet<Part>;
  /** Whether no row of any of the tables that fails the condition reaches the result. */
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
 * Writes an outer join as one with its pairs, by the number of the row. The pairs are an inner join.
 * @param kept the table of which all rows are kept, both of them in a FULL JOIN, with numbered rows
 * @param pairs the name of the pairs
 * @param conditions of the pairs; read when the SQL is asked for
 */
export function joinWithPairs(
  [kept, other]: readonly [Source, Source],
  isFull: boolean,
  pairs: string,
  conditions: readonly string[],
): () => string {
  // The cells so far are the inner join's. The lists are emptied, so that later ones are the outer join's.
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

  /** The condition that the cell of one position is near the other. The engine joins by it, because it compares equal values. */
  sameCell(a: Point, b: Point, radius: number | undefined, { all, repeatable }: Joined): string | undefined {
    if (radius === undefined || !(radius >= 0 && radius <= MAX_CELL_REACH)) return undefined;
    const [first, second] = [sourceOf(a), sourceOf(b)];
    if (!first || !second || first === second || !all.has(first) || !all.has(second)) return undefined;
    const sides = [
      { point: b, source: second, other: a },
      { point: a, source: first, other: b },
    ].filter(({ source }) => repeatable.has(source) && source.cells.length < MAX_CELLS);
    // The tables with pixels, and partial ones, are the large ones.
    const side = sides.find(({ point }) => !pixelOf(point) && !partOf(point)) ?? sides[0];
    if (!side) return undefined;
    const reach = Math.max(radius + ROUNDING, MIN_CELL_REACH);
    const n = constantNumber(a.at, Math.floor(360 / (CELL_RATIO * reach))).sql;
    const { table, cells } = side.source;
    // No table has a column with a control character in its name.
    const name = `"cell\t${++this.#cells}"`;
    const near = `near.i, near.j, ${constantNumber(a.at, reach).sql}, ${n}`;
    cells.push({ name, sql: `adql_corner(${position(side.point)}, ${near})` });
    return `adql_cell(${position(side.other)}, ${n}) = ${table}.${name}`;
  }
}

/** The table of a FROM that has both coordinates as columns. */
export function sourceOf({ ra, dec }: Point): Source | undefined {
  const source = ra.column?.source;
  return source === dec.column?.source ? source : undefined;
}
