/** Tells which parts of catalogs a query needs, and gives the engine views of them once they are read. */
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import {
  ENGINE_TYPES,
  intersection,
  type PixelBounds,
  quoted,
  type TablePart,
  type Translated,
  tableName,
  textLiteral,
} from '@nearsky/adql';
import type { Cell, Column } from '@nearsky/astrotables';
import { MAX_OUTSIDE_ARCSEC } from '@nearsky/hats/layout';
import { conePixels, isPosition, MAX_AREA_ORDER, MAX_ORDER, MAX_RADIUS_ARCSEC, wrapRa } from '@nearsky/sky-index';
import { appendRows } from './append_rows.ts';

/** A part of a catalog that has to be read. */
export interface PartWanted {
  /** Its index among the parts of the query. */
  readonly part: number;
  /** The name of the catalog, and the digest of its definition when the tables were made: see `digestOf`. */
  readonly catalog: string;
  readonly digest: string;
  /** Columns of the table; at least one. */
  readonly columns: readonly Pick<Column, 'name' | 'type'>[];
  /** The area of the rows; undefined for the whole catalog. */
  readonly bounds: PixelBounds | undefined;
  /** The number of rows that are enough; undefined for all. */
  readonly rows: number | undefined;
  /** Whether the catalog is on another host. */
  readonly isFar: boolean;
}

/** The rows that were read, as Parquet files with the column names of the table. */
export interface PartRead {
  readonly part: number;
  /** The names of files in the directory. */
  readonly files: readonly string[];
  /** The columns that at least one of the files has. */
  readonly columns: readonly string[];
}

/** A query needs more of a catalog than is allowed. The message is for the author of the query. */
export class SourcesRefusal extends Error {}

type CatalogOf = (name: string) => Pick<PartWanted, 'digest' | 'isFar'>;
/** The cells of each wanted column; undefined if another process must read the part. */
type ReadAtHand = (part: PartWanted) => Promise<readonly Cell[][] | undefined>;
type Work = <T>(step: () => Promise<T>) => Promise<T>;

/** The maximum number of positions near which rows are looked for. */
const MAX_POSITIONS = 200_000;
/** The size of pixels at order 0, arcsec. */
const PIXEL_ARCSEC = 211_000;

export class QuerySources {
  readonly #connection: DuckDBConnection;
  readonly #work: Work;
  readonly #parts: readonly TablePart[];
  /** The rows that are not yet stored. */
  #unkept: Translated['kept'];
  readonly #catalogOf: CatalogOf;
  readonly #readAtHand: ReadAtHand;
  readonly #read = new Set<TablePart>();
  /**
   * The steps that were done for the query, mostly statements. Its transaction preserves the tables from which
   * positions were taken.
   */
  readonly setup: (() => Promise<unknown>)[] = [];

  /**
   * @param work runs a step of the engine; the step may be cancelled
   * @param catalogOf finds the catalog with a name
   * @param readAtHand reads the parts that need no other process
   */
  constructor(
    connection: DuckDBConnection,
    work: Work,
    { parts, kept }: Pick<Translated, 'parts' | 'kept'>,
    catalogOf: CatalogOf,
    readAtHand: ReadAtHand,
  ) {
    this.#connection = connection;
    this.#work = work;
    this.#parts = parts;
    this.#unkept = kept;
    this.#catalogOf = catalogOf;
    this.#readAtHand = readAtHand;
  }

  /**
   * The parts that another process must read next; empty if nothing is missing. A part may depend on the positions in
   * another part, which is then read first.
   * @throws SourcesRefusal
   */
  async wanted(): Promise<PartWanted[]> {
    for (;;) {
      const wanted = await this.#wanted();
      const others: PartWanted[] = [];
      for (const part of wanted) {
        const cells = await this.#readAtHand(part);
        if (cells) await this.#fill(part, cells);
        else others.push(part);
      }
      if (others.length > 0 || wanted.length === 0) return others;
    }
  }

  async #wanted(): Promise<PartWanted[]> {
    if (this.#parts.length === 0) return [];
    const unread = this.#parts.filter(part => !this.#read.has(part));
    const canRun = (sql: string) => ![...unread, ...this.#unkept].some(({ relation }) => sql.includes(relation));
    const keepable = () => this.#unkept.find(({ sql }) => canRun(sql));
    for (let rows = keepable(); rows; rows = keepable()) {
      const { relation, sql } = rows;
      await this.#run(`CREATE TEMP TABLE ${relation} AS ${sql}`);
      this.#unkept = this.#unkept.filter(each => each !== rows);
    }
    const answerable = ({ near }: TablePart) => near.filter(canRun);
    const ready = unread.filter(part => part.bounds || part.rows !== undefined || answerable(part).length > 0);
    const next = ready.length > 0 ? ready : unread;
    const wanted: PartWanted[] = [];
    for (const part of next) {
      let { bounds } = part;
      for (const sql of answerable(part)) {
        const near = await this.#near(sql);
        if (near) bounds = bounds ? intersection(bounds, near) : near;
        else if (!bounds)
          throw new SourcesRefusal(
            `${tableName(part.table)} is joined with more than ${MAX_POSITIONS} positions, or within more than a degree: join it with fewer rows, or give an area of it`,
          );
      }
      const { table, columns, rows } = part;
      const own = columns.length > 0 ? columns : [table.partial!.id];
      wanted.push({
        part: this.#parts.indexOf(part),
        catalog: table.schema,
        ...this.#catalogOf(table.schema),
        columns: table.columns.filter(({ name }) => own.includes(name)).map(({ name, type }) => ({ name, type })),
        bounds,
        rows,
      });
    }
    return wanted;
  }

  /** Makes the view of a part from its rows. */
  async #fill({ part, columns }: PartWanted, cells: readonly Cell[][]): Promise<void> {
    const { table, relation } = this.#parts[part]!;
    const rows = `rows\t${part}`;
    const stored = columns.map(({ name, type }) => `${quoted(name)} ${ENGINE_TYPES[type]}`);
    const has = new Set(columns.map(({ name }) => name));
    const list = table.columns.map(({ name, type }) =>
      has.has(name) ? quoted(name) : `NULL::${ENGINE_TYPES[type]} AS ${quoted(name)}`,
    );
    await this.#run(
      `CREATE TEMP TABLE ${quoted(rows)} (${stored.join(', ')});
      CREATE TEMP VIEW ${relation} AS SELECT ${list.join(', ')} FROM temp.main.${quoted(rows)}`,
    );
    const filled = columns.map(({ type }, i) => ({ type, values: cells[i]!.map(cell => engineCell(type, cell)) }));
    await this.#step(() => appendRows(this.#connection, rows, filled, cells[0]!.length));
    this.#read.add(this.#parts[part]!);
  }

  /** Makes views of the parts that were read. */
  async take(directory: string, read: readonly PartRead[]): Promise<void> {
    for (const { part, files, columns } of read) {
      const { table, relation } = this.#parts[part]!;
      const has = new Set(columns);
      const list = table.columns.map(column => {
        const value =
          files.length > 0 && has.has(column.name) ? storedValue(column) : `NULL::${ENGINE_TYPES[column.type]}`;
        return `${value} AS ${quoted(column.name)}`;
      });
      const paths = files.map(file => textLiteral(join(directory, file))).join(', ');
      const from = files.length > 0 ? `FROM read_parquet([${paths}], union_by_name = true)` : 'WHERE FALSE';
      await this.#run(`CREATE TEMP VIEW ${relation} AS SELECT ${list.join(', ')} ${from}`);
      this.#read.add(this.#parts[part]!);
    }
  }

  async #run(sql: string): Promise<void> {
    await this.#step(() => this.#connection.run(sql));
  }

  async #step(step: () => Promise<unknown>): Promise<void> {
    await this.#work(step);
    this.setup.push(step);
  }

  /** The pixels near the positions of a query; undefined if they are too many or too far. */
  async #near(sql: string): Promise<PixelBounds | undefined> {
    const [firsts, ends]: [number[], number[]] = [[], []];
    const result = await this.#work(() => this.#connection.stream(`${sql} LIMIT ${MAX_POSITIONS + 1}`));
    let [rows, isNear] = [0, true];
    for (;;) {
      const chunk = await this.#work(() => result.fetchChunk());
      if (!chunk || chunk.rowCount === 0) break;
      rows += chunk.rowCount;
      const [ras, decs, radii] = [0, 1, 2].map(i => chunk.getColumnVector(i));
      for (let row = 0; row < chunk.rowCount && isNear && rows <= MAX_POSITIONS; row++) {
        const cells = [ras, decs, radii].map(vector => vector!.getItem(row));
        if (cells.includes(null)) continue;
        const [ra, dec, radius] = [wrapRa(Number(cells[0])), Number(cells[1]), 3600 * Number(cells[2])];
        if (!isPosition(ra, dec) || !(radius >= 0)) continue;
        isNear = radius <= MAX_RADIUS_ARCSEC;
        if (!isNear) break;
        // `conePixels` reaches at least 0.5 % further: at its largest radius, 18 arcsec.
        const { size, pixels } = pixelsNear(ra, dec, Math.min(radius + MAX_OUTSIDE_ARCSEC, MAX_RADIUS_ARCSEC));
        for (const pixel of pixels) {
          firsts.push(pixel * size);
          ends.push((pixel + 1) * size);
        }
      }
    }
    return isNear && rows <= MAX_POSITIONS ? merged(firsts, ends) : undefined;
  }
}

/** Pixels that contain a disc, and the number of order-16 pixels in each. */
function pixelsNear(ra: number, dec: number, radiusArcsec: number): { size: number; pixels: readonly number[] } {
  // At this order, pixels are wider than the disc, so that it touches only a few.
  const order = Math.max(0, Math.min(MAX_ORDER, Math.floor(Math.log2(PIXEL_ARCSEC / radiusArcsec))));
  return { size: 4 ** (MAX_AREA_ORDER - order), pixels: conePixels(order, ra, dec, radiusArcsec) };
}

function merged(firsts: readonly number[], ends: readonly number[]): PixelBounds {
  const bounds: number[] = [];
  for (const i of Uint32Array.from(firsts.keys()).sort((a, b) => firsts[a]! - firsts[b]!)) {
    const [first, end] = [firsts[i]!, ends[i]!];
    const last = bounds.length - 1;
    if (last > 0 && first <= bounds[last]!) bounds[last] = Math.max(bounds[last]!, end);
    else bounds.push(first, end);
  }
  return Float64Array.from(bounds);
}

/**
 * Converts a value of the files to a value of the table. NaN becomes NULL, because the engine sorts NaN above all
 * numbers.
 */
function storedValue({ name, type }: Column): string {
  const cast = `TRY_CAST(${quoted(name)} AS ${ENGINE_TYPES[type]})`;
  return type === 'float64' || type === 'float32' ? `CASE WHEN isfinite(${cast}) THEN ${cast} END` : cast;
}

/** The same for a value that was decoded here. */
function engineCell(type: Column['type'], cell: Cell): Cell {
  if (type === 'int32') return cell === null ? null : Number(cell);
  return typeof cell === 'number' && !Number.isFinite(cell) ? null : cell;
}
