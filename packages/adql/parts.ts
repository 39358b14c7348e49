/**
 * Tables whose rows lie elsewhere. The engine is given the columns and rows of each that a query can need: the rows in an
 * area of the sky, or near the positions of another table. A condition narrows a table only where no row that fails it
 * can reach the result.
 */
import type { PixelRange } from './moc.ts';
import type { DescribedTable } from './schema.ts';
import type { Source } from './values.ts';

/** Pairs [first, end) of HEALPix pixels at order 16, NESTED, ascending and disjoint. */
export type PixelBounds = Float64Array;

/** What a query needs of a partial table, at one place of its FROM clauses. */
export interface TablePart {
  readonly table: DescribedTable;
  /** The relation in the SQL, which must exist before the query runs, with all columns of the table. */
  readonly relation: string;
  /** The columns whose values are used. The others may be NULL. */
  readonly columns: readonly string[];
  /** The area of all rows that are needed; undefined if the query gives none. */
  readonly bounds: PixelBounds | undefined;
  /**
   * Queries for positions: right ascension, declination and radius, degrees. The rows that are needed are near a position
   * of each. A query may name the relations of other parts.
   */
  readonly near: readonly string[];
  /** The number of rows that are enough, whichever they are. */
  readonly rows: number | undefined;
}

interface Near {
  readonly source: Source;
  readonly position: string;
}

/** The areas and the tables by whose positions a part is narrowed. More of them would take longer than they save. */
const MAX_AREAS = 8;
const MAX_NEAR = 4;

/** A partial table at one place of a query, while the query is read. */
export class Part {
  readonly table: DescribedTable;
  readonly relation: string;
  /** Set where any so many rows are enough. */
  rows: number | undefined;
  readonly #columns = new Set<string>();
  readonly #near: Near[] = [];
  #areas = 0;
  #bounds: PixelBounds | undefined;

  /** @param number differs for each part of a query */
  constructor(table: DescribedTable, number: number) {
    this.table = table;
    // No table has a name with a control character.
    this.relation = `temp.main."part\t${number}"`;
  }

  use(column: string): void {
    this.#columns.add(column);
  }

  /** Only rows in the area are needed. */
  isWithin(area: () => PixelBounds): void {
    if (++this.#areas > MAX_AREAS) return;
    this.#bounds = this.#bounds ? intersection(this.#bounds, area()) : area();
  }

  /** Only rows near the positions of another table are needed; SQL of degrees. */
  isNear(source: Source, ra: string, dec: string, radius: string): void {
    if (this.#near.length < MAX_NEAR) this.#near.push({ source, position: `${ra}, ${dec}, ${radius}` });
  }

  /** @param withParts the parts of the query's WITH clause, each after those that it uses */
  described(withParts: readonly string[]): TablePart {
    const near = this.#near.map(({ source: { relation, table, conditions }, position }) => {
      const where = conditions.length > 0 ? ` WHERE ${conditions.join(' AND ')}` : '';
      const sql = `SELECT DISTINCT ${position} FROM ${relation} AS ${table}${where}`;
      // Other parts of the WITH clause may need rows that have not been read.
      const used: string[] = [];
      for (const each of withParts.toReversed()) {
        const name = new RegExp(`\\b${each.slice(0, each.indexOf(' '))}\\b`);
        if ([sql, ...used].some(text => name.test(text))) used.unshift(each);
      }
      return used.length > 0 ? `WITH ${used.join(', ')} ${sql}` : sql;
    });
    const { table, relation, rows } = this;
    return { table, relation, columns: [...this.#columns], bounds: this.#bounds, near, rows };
  }
}

export const NO_PARTS: ReadonlySet<Part> = new Set();

/** The pixels that are in both. */
export function intersection(a: PixelBounds, b: PixelBounds): PixelBounds {
  const both: number[] = [];
  for (let [i, j] = [0, 0]; i < a.length && j < b.length; ) {
    const [first, end] = [Math.max(a[i]!, b[j]!), Math.min(a[i + 1]!, b[j + 1]!)];
    if (first < end) both.push(first, end);
    if (a[i + 1]! < b[j + 1]!) i += 2;
    else j += 2;
  }
  return Float64Array.from(both);
}

/** Ranges of pixels at order 29 as the pixels of order 16 that hold them. */
export function boundsOf(ranges: readonly PixelRange[]): PixelBounds {
  const bounds: number[] = [];
  for (const [first, end] of ranges) {
    const pair = [Number(first >> 26n), Number((end - 1n) >> 26n) + 1] as const;
    if (bounds.length > 0 && pair[0] <= bounds.at(-1)!) bounds[bounds.length - 1] = pair[1];
    else bounds.push(...pair);
  }
  return Float64Array.from(bounds);
}
