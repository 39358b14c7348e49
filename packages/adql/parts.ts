/**
 * Tables whose rows lie elsewhere. The engine gets only the columns and rows that a query may need: the rows in an area
 * of the sky, or near the positions of another table. A condition restricts a table only if no row that fails it can
 * reach the result.
 */
import {
  conePixels,
  MAX_AREA_ORDER,
  MAX_ORDER,
  pixelCentre,
  pixelNeighbours,
  RADIANS_PER_ARCSEC,
} from '@nearsky/sky-index';
import type { PixelRange } from './moc.ts';
import type { DescribedTable } from './schema.ts';

/** Pairs [first, end) of HEALPix pixels at order 16, NESTED, ascending and disjoint. */
export type PixelBounds = Float64Array;

/** The rows of a partial table that a query needs, at one of its uses in FROM clauses. */
export interface TablePart {
  readonly table: DescribedTable;
  /** The relation in the SQL, which must exist before the query runs, with all columns of the table. */
  readonly relation: string;
  /** The columns whose values are used. The others may be NULL. */
  readonly columns: readonly string[];
  /** The area of all rows that are needed; undefined if the query gives none. */
  readonly bounds: PixelBounds | undefined;
  /**
   * Queries for positions: right ascension, declination and radius, degrees. Only rows near a position of every query
   * are needed. A query may name the relations of other parts.
   */
  readonly near: readonly string[];
  /** The number of rows that suffice, if any rows will do. */
  readonly rows: number | undefined;
}

/** Rows that must be stored before the query runs, because computing them twice may give different rows. */
export interface KeptRows {
  /** A table that the SQL reads. */
  readonly relation: string;
  /** The query for its rows. It may name the relations of parts and of other kept rows. */
  readonly sql: string;
}

/** A table of a query that provides positions; rows near them are needed. */
interface Source {
  readonly table: string;
  /** The SQL of its rows. */
  readonly relation: string;
  readonly conditions: readonly string[];
}

interface Near {
  readonly source: Source;
  readonly position: string;
}

/** The maximum number of areas and tables that restrict a part. More would take longer than they save. */
const MAX_AREAS = 8;
const MAX_NEAR = 4;

/** A partial table at one place of a query, while the query is read. */
export class Part {
  readonly table: DescribedTable;
  readonly relation: string;
  /** The number of rows that suffice, if any rows will do. */
  rows: number | undefined;
  readonly #columns = new Set<string>();
  readonly near: Near[] = [];
  #areas = 0;
  #bounds: PixelBounds | undefined;

  /** @param number differs for each part of a query */
  constructor(table: DescribedTable, number: number) {
    this.table = table;
    // No table has a name with a control character.
    this.relation = `temp.main."part\t${number}"`;
  }

  /** How far a position may lie outside the pixel of its row, radians. */
  get outside(): number {
    return this.table.partial!.outsideArcsec * RADIANS_PER_ARCSEC;
  }

  use(column: string): void {
    this.#columns.add(column);
  }

  /** Restricts the part to rows in the area. */
  isWithin(area: () => PixelBounds): void {
    if (++this.#areas > MAX_AREAS) return;
    this.#bounds = this.#bounds ? intersection(this.#bounds, area()) : area();
  }

  /** Restricts the part to rows near the positions of another table, given as SQL, in degrees. */
  isNear(source: Source, ra: string, dec: string, radius: string): void {
    if (this.near.length < MAX_NEAR) this.near.push({ source, position: `${ra}, ${dec}, ${radius}` });
  }

  described(near: readonly string[]): TablePart {
    const { table, relation, rows } = this;
    return { table, relation, columns: [...this.#columns], bounds: this.#bounds, near, rows };
  }
}

/** SQL that may give other rows when it runs again: any few rows, or random numbers. */
const UNSTABLE = / LIMIT | OFFSET |random\(/;

/**
 * Describes what a query needs of partial tables.
 * @param sql the query without its WITH clause
 * @param clauses the queries of its WITH clause, each after those that it uses
 */
export function describeParts(
  partial: readonly Part[],
  sql: string,
  clauses: readonly string[],
): { readonly sql: string; readonly parts: readonly TablePart[]; readonly kept: readonly KeptRows[] } {
  const texts = { sql, clauses: [...clauses], kept: [] as KeptRows[] };
  // Derived tables may use columns of an outer query. Their positions cannot be queried separately.
  const isApart = ({ relation }: Source) =>
    Array.from(relation.matchAll(/\bt\d+(?=\.)/g)).every(([name]) => relation.includes(` AS ${name}`));
  const nears = partial.map(({ near }) => near.filter(({ source }) => isApart(source)));
  const sources = new Set(nears.flat().map(({ source }) => source));
  const relations = new Map(Array.from(sources, source => [source, source.relation]));
  const keep = (query: string) => {
    const relation = `temp.main."kept\t${texts.kept.length + 1}"`;
    texts.kept.push({ relation, sql: query });
    return relation;
  };
  const used = new Set([...relations.values()].flatMap(relation => clausesOf(relation, clauses)));
  for (const [i, clause] of clauses.entries()) {
    if (!used.has(clause) || !UNSTABLE.test(clause)) continue;
    const start = clause.indexOf('(') + 1;
    const relation = keep(withClauses(clause.slice(start, -1), texts.clauses));
    texts.clauses[i] = `${clause.slice(0, start)}FROM ${relation})`;
  }
  // Of two nested derived tables, the inner one is shorter.
  for (const source of [...sources].sort((a, b) => a.relation.length - b.relation.length)) {
    const text = relations.get(source)!;
    if (!text.startsWith('(') || !UNSTABLE.test(text)) continue;
    const relation = keep(withClauses(text.slice(1, -1), texts.clauses));
    const moved = (of: string) => of.replaceAll(text, relation);
    texts.sql = moved(texts.sql);
    texts.clauses = texts.clauses.map(moved);
    texts.kept = texts.kept.map(each => ({ ...each, sql: moved(each.sql) }));
    for (const [other, of] of relations) relations.set(other, moved(of));
  }
  const parts = partial.map((part, i) => {
    const queries = nears[i]!.map(({ source, position }) => {
      const { table, conditions } = source;
      const where = conditions.length > 0 ? ` WHERE ${conditions.join(' AND ')}` : '';
      return withClauses(
        `SELECT DISTINCT ${position} FROM ${relations.get(source)} AS ${table}${where}`,
        texts.clauses,
      );
    });
    return part.described(queries);
  });
  return { sql: withClauses(texts.sql, texts.clauses), parts, kept: texts.kept };
}

/** The queries of a WITH clause that a query uses, directly or not. Other queries may need rows that have not been read. */
function clausesOf(sql: string, clauses: readonly string[]): string[] {
  const used: string[] = [];
  for (const each of clauses.toReversed()) {
    const name = new RegExp(`\\b${each.slice(0, each.indexOf(' '))}\\b`);
    if ([sql, ...used].some(text => name.test(text))) used.unshift(each);
  }
  return used;
}

function withClauses(sql: string, clauses: readonly string[]): string {
  const used = clausesOf(sql, clauses);
  return used.length > 0 ? `WITH ${used.join(', ')} ${sql}` : sql;
}

export const NO_PARTS: ReadonlySet<Part> = new Set();

/** The pixels that are in both lists. */
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

/** Ranges of pixels at order 29 as the pixels of order 16 that contain them. */
function boundsOf(ranges: readonly PixelRange[]): PixelBounds {
  return united(ranges.map(([first, end]) => [Number(first >> 26n), Number((end - 1n) >> 26n) + 1]));
}

/** @param ranges ascending by their first pixel; they may overlap */
function united(ranges: readonly (readonly [first: number, end: number])[]): PixelBounds {
  const bounds: number[] = [];
  for (const [first, end] of ranges) {
    if (bounds.length > 0 && first <= bounds.at(-1)!) bounds[bounds.length - 1] = Math.max(bounds.at(-1)!, end);
    else bounds.push(first, end);
  }
  return Float64Array.from(bounds);
}

/**
 * Ranges of pixels at order 29 as ranges of pixels at order 16, with a margin: a quarter of the width of each cell, but
 * at least a pixel of order 13, which is wider than 10 arcsec.
 */
export function boundsNear(ranges: readonly PixelRange[]): PixelBounds {
  const bounds = boundsOf(ranges);
  const near: [first: number, end: number][] = [];
  const pixels = 4 ** (MAX_AREA_ORDER - MAX_ORDER);
  for (let i = 0; i < bounds.length; i += 2) {
    const end = Math.ceil(bounds[i + 1]! / pixels);
    for (let first = Math.floor(bounds[i]! / pixels), size = 1; first < end; first += size) {
      let order = MAX_ORDER;
      for (size = 1; order > 0 && first % (4 * size) === 0 && first + 4 * size <= end; size *= 4) order--;
      near.push([first * pixels, (first + size) * pixels]);
      const fine = Math.min(MAX_ORDER, order + 2);
      const width = 4 ** (MAX_AREA_ORDER - fine);
      for (const pixel of pixelNeighbours(order, first / size, fine)) near.push([pixel * width, (pixel + 1) * width]);
    }
  }
  return united(near.sort(([a], [b]) => a - b));
}

/** How far a row may lie from the pixel that its identifier names, arcsec. Gaia's positions change from release to release. */
const ID_REACH_ARCSEC = 60;
/**
 * How far a row may lie from its position in a linked table, arcsec. That position may be of an older release. Between
 * two releases of Gaia, no star moves this far.
 */
export const LINKED_REACH_ARCSEC = 20;

/** Describes identifiers that begin with the number of a pixel. */
interface IdPixel {
  readonly order: number;
  readonly bits: number;
}

/** Whether the identifiers name pixels. The row of an identifier that names none may lie anywhere. */
export function arePixels(ids: readonly bigint[], { order, bits }: IdPixel): boolean {
  return ids.every(id => id >> BigInt(bits) < 12n * 4n ** BigInt(order));
}

/** The pixels with which the identifiers of rows begin. */
export function pixelsOfIds(ids: readonly bigint[], { order, bits }: IdPixel): PixelBounds {
  const shift = BigInt(2 * (29 - order));
  const pixels = ids.flatMap(id => {
    const pixel = Number(id >> BigInt(bits));
    const { ra, dec } = pixelCentre(order, pixel);
    return [pixel, ...conePixels(order, ra, dec, pixelRadius(order) + ID_REACH_ARCSEC)];
  });
  const sorted = [...new Set(pixels)].sort((a, b) => a - b);
  return boundsOf(sorted.map(pixel => [BigInt(pixel) << shift, BigInt(pixel + 1) << shift]));
}

/** More than the distance of a pixel's corners from its centre, arcsec. */
const pixelRadius = (order: number) => 216_000 / 2 ** order;
