/**
 * An edition of the tables: a DuckDB database whose rows were grouped by position when it was made. Rows of changed
 * objects replace older rows, each time in one transaction. A query reads one edition. A replaced edition is
 * deleted when its last query has ended.
 */
import { rmSync, statSync } from 'node:fs';
import type { DuckDBConnection } from '@duckdb/node-api';
import { quoted, textLiteral } from '@nearsky/adql';
import { Catalogs, type DescribedRegistration } from '../../core/contract/catalogs.ts';
import { matchColumns, objectColumns } from '../hats/columns.ts';
import type { ChangedRows } from './changed_rows.ts';
import type { ListedTable } from './listed_table.ts';
import { fileRows, loadRows, viewFiles, viewOf } from './loaded_rows.ts';
import { sourceTables } from './source_tables.ts';
import { ID, PIXEL, SCHEMA } from './table_names.ts';
import { type Exported, type Relations, type Rows, SET_KEY, settingsOf, type TapTable, tapTables } from './tables.ts';

/**
 * While the engine makes a table, each thread holds this many rows of all columns. The default of 122,880 would take
 * more than 192 MiB.
 */
const ROW_GROUP_ROWS = 16_384;
/**
 * Until a checkpoint, appended rows take two blocks of memory per column. With the default of 256 KiB per block, the
 * columns of objects and matches would take more than 50 MiB.
 */
const BLOCK_BYTES = 32_768;
/** Each batch of changed rows in memory stays there until the end of the transaction. Later batches are in files. */
const BATCHES_IN_MEMORY = 2;
/** The columns of the table that describes the edition. It has one row once the edition is complete. */
const STORED =
  'key VARCHAR, registered VARCHAR, mark VARCHAR, sequence BIGINT, as_of BIGINT, objects BIGINT, changed BIGINT';

/** The state of the archive that the tables represent. */
export interface TapState {
  /** The last journal entry that they include. */
  readonly sequence: number;
  /** When the archive was last seen to be in that state, milliseconds since 1970. */
  readonly asOfMs: number;
}

/** The key of the facts that determine the columns and catalogs of the tables. */
export interface Origin {
  /** A string that differs for archives with different tables. */
  readonly key: string;
  readonly registered: readonly DescribedRegistration[];
}

/** The contents of an edition. */
export interface Contents extends Origin, TapState {
  /** The mark of the archive's journal at the entry. */
  readonly mark: string;
  /** The number of sorted objects, and of objects changed since then. An object counts once for each change. */
  readonly objects: number;
  readonly changed: number;
}

export type StoredTable = TapTable & { readonly relation: string };

/** The relations that are exported, objects first. */
const EXPORTED: readonly Exported[] = ['objects', 'matches'];

interface Place {
  /** A connection that nothing else uses meanwhile. */
  readonly connection: DuckDBConnection;
  readonly file: string;
  readonly number: number;
}

export interface NewEdition extends Place {
  /** The maximum number of rows of all tables with an index. */
  readonly maxIndexed: number;
}

export class Edition {
  readonly number: number;
  readonly #file: string;
  readonly catalogs: Catalogs;
  readonly tables: readonly StoredTable[];
  /** The tables of the catalogs themselves, whose rows are not stored. */
  readonly sources: readonly ListedTable[];
  #contents: Contents;
  /** The number of changes that were begun, and their number when the last successful one ended. */
  #begun = 0;
  #done = 0;
  #users = 0;

  private constructor({ file, number }: Place, contents: Contents) {
    this.number = number;
    this.#file = file;
    this.#contents = contents;
    this.catalogs = new Catalogs(contents.registered);
    this.tables = tablesIn(number, this.catalogs);
    this.sources = sourceTables(this.catalogs);
  }

  /** Opens an edition; undefined if it was not completed. */
  static async open(made: Place): Promise<Edition | undefined> {
    const { connection, number } = made;
    await attach(made);
    const [row] = (await connection.runAndReadAll(`FROM ${databaseOf(number)}.stored`)).getRows();
    if (!row) return undefined;
    const [key, registered, mark, ...numbers] = row;
    const [sequence, asOfMs, objects, changed] = numbers.map(Number) as [number, number, number, number];
    return new Edition(made, {
      key: `${key}`,
      registered: JSON.parse(`${registered}`),
      mark: `${mark}`,
      sequence,
      asOfMs,
      objects,
      changed,
    });
  }

  /** Makes an edition from the rows of an export. It deletes the files of each table that it has made, to free disk space. */
  static make(made: NewEdition, files: Rows, contents: Contents): Promise<Edition> {
    const { connection } = made;
    const catalogs = new Catalogs(contents.registered);
    return make(made, catalogs, async () => {
      const columns = { objects: objectColumns(catalogs.all), matches: matchColumns(catalogs.all, 'all').columns };
      for (const exported of EXPORTED) {
        await viewFiles(connection, exported, columns[exported], files[exported]);
        await connection.run(`CREATE TABLE ${relationIn(made.number, exported)} AS FROM ${viewOf(exported)}`);
        for (const file of files[exported]) rmSync(file);
      }
      const [settings, objects] = (['settings', 'objects'] as const).map(name => relationIn(made.number, name));
      await connection.run(`CREATE TABLE ${settings} AS ${settingsOf(objects!)}`);
      return new Edition(made, contents);
    });
  }

  /**
   * Makes a new edition with the rows of this one, sorted. It does not include changes made to this one meanwhile.
   * @param origin tables of objects with the same columns
   * @param maxSorted the number of rows that can be sorted at once
   */
  async merged(made: NewEdition, origin: Origin, maxSorted: number): Promise<Edition> {
    const { connection } = made;
    const sorted = (exported: Exported) =>
      sortInto(connection, this.#relationOf(exported), relationIn(made.number, exported), maxSorted);
    return await make(made, new Catalogs(origin.registered), async () => {
      // The first statement decides which state of this edition the transaction reads.
      const [row] = (await connection.runAndReadAll(`SELECT mark, sequence, as_of FROM ${this.#stored}`)).getRows();
      const mark = `${row![0]}`;
      const [sequence, asOfMs] = row!.slice(1).map(Number) as [number, number];
      const objects = await sorted('objects');
      await sorted('matches');
      const settings = [made.number, this.number].map(number => relationIn(number, 'settings'));
      await connection.run(`CREATE TABLE ${settings.join(' AS FROM ')}`);
      return new Edition(made, { ...origin, mark, sequence, asOfMs, objects, changed: 0 });
    });
  }

  get contents(): Contents {
    return this.#contents;
  }

  get #stored(): string {
    return `${databaseOf(this.number)}.stored`;
  }

  readonly #relationOf: Relations = relation => relationIn(this.number, relation);

  /**
   * Whether the rows are certainly those that `contents` names, because the last change was made by this process and
   * succeeded. Otherwise the tables may also have rows of later entries.
   */
  get isCertain(): boolean {
    return this.#begun > 0 && this.#done === this.#begun;
  }

  /**
   * Replaces the rows of changed objects.
   * @param removed the objects that were removed, even if they were stored anew, perhaps with another position
   */
  async take(
    connection: DuckDBConnection,
    batches: AsyncIterable<ChangedRows>,
    removed: ReadonlySet<bigint>,
    next: Contents,
  ): Promise<void> {
    this.#begun++;
    await inTransaction(connection, async () => {
      await removeRows(connection, EXPORTED.map(this.#relationOf), [...removed]);
      let number = 0;
      for await (const batch of batches) {
        number++;
        const { areReplaced, areCrossmatched } = batch;
        const fileOf = (exported: Exported) => `${this.#file}.${exported}-${number}.parquet`;
        for (const exported of EXPORTED) {
          if (number <= BATCHES_IN_MEMORY) await loadRows(connection, exported, batch[exported]);
          else await fileRows(connection, exported, batch[exported], fileOf(exported));
        }
        for (const exported of areCrossmatched ? EXPORTED : EXPORTED.slice(0, 1)) {
          const relation = this.#relationOf(exported);
          if (areReplaced)
            await connection.run(`DELETE FROM ${relation} AS t USING ${viewOf('objects')} AS r WHERE ${IS_CHANGED}`);
          await connection.run(`INSERT INTO ${relation} FROM ${viewOf(exported)}`);
        }
        if (areCrossmatched) {
          const settings = this.#relationOf('settings');
          const found = `(${settingsOf(viewOf('objects'))})`;
          await connection.run(
            `INSERT INTO ${settings} FROM ${found} AS found ANTI JOIN ${settings} USING (${SET_KEY})`,
          );
        }
        for (const exported of EXPORTED) rmSync(fileOf(exported), { force: true });
      }
      await this.#store(connection, next);
    });
    this.#contents = next;
    this.#done = this.#begun;
  }

  /** Notes when the archive was last seen to be in the state of this edition. */
  seen(asOfMs: number): void {
    this.#contents = { ...this.#contents, asOfMs };
  }

  async #store(connection: DuckDBConnection, next: Contents): Promise<void> {
    await connection.run(`DELETE FROM ${this.#stored}`);
    await connection.run(`INSERT INTO ${this.#stored} VALUES (${cellsOf(next)})`);
  }

  /**
   * Begins a transaction, which sees the tables in one state until the connection is closed. The next statement decides
   * which state that is, even if it is only prepared.
   * @returns a function that returns the state; to be called after that statement, while no result is being read
   */
  async beginReading(connection: DuckDBConnection): Promise<() => Promise<TapState>> {
    const begun = this.#begun;
    const isChanging = this.#done !== begun;
    await connection.run('BEGIN');
    return async () => {
      const { sequence, asOfMs } = this.#contents;
      // If no change ran in the meantime, the state is known. The tables know it, too, but asking them takes as long as a small query.
      if (!isChanging && this.#begun === begun) return { sequence, asOfMs };
      const [row] = (await connection.runAndReadAll(`SELECT sequence, as_of FROM ${this.#stored}`)).getRows();
      const [seen, seenMs] = row!.map(Number) as [number, number];
      return { sequence: seen, asOfMs: seen === sequence ? asOfMs : seenMs };
    };
  }

  /** Keeps the edition until the returned function is called. */
  use(): () => void {
    this.#users++;
    return () => {
      this.#users--;
    };
  }

  get isUsed(): boolean {
    return this.#users > 0;
  }

  /** The size of its file. */
  get bytes(): number {
    return statSync(this.#file).size;
  }

  async remove(connection: DuckDBConnection): Promise<void> {
    await removeDatabase(connection, this.number, this.#file);
  }
}

const databaseOf = (number: number) => `archive_${number}`;

function tablesIn(number: number, catalogs: Catalogs): StoredTable[] {
  return tapTables(catalogs).map(table => ({
    ...table,
    relation: `${databaseOf(number)}.${quoted(table.schema)}.${quoted(table.name)}`,
  }));
}

/** The relation of objects is a table of its name; the others are hidden behind views. */
function relationIn(number: number, relation: Parameters<Relations>[0]): string {
  return `${databaseOf(number)}.${relation === 'objects' ? SCHEMA : 'main'}.${relation}`;
}

async function attach({ connection, file, number }: Place): Promise<void> {
  const database = databaseOf(number);
  await connection.run(
    `ATTACH ${textLiteral(file)} AS ${database} (ROW_GROUP_SIZE ${ROW_GROUP_ROWS}, BLOCK_SIZE ${BLOCK_BYTES}, STORAGE_VERSION 'latest')`,
  );
  await connection.run(`CREATE TABLE IF NOT EXISTS ${database}.stored (${STORED})`);
}

/** Removes an unused edition, whether complete or not. */
export async function removeDatabase(connection: DuckDBConnection, number: number, file: string): Promise<void> {
  await connection.run(`DETACH DATABASE IF EXISTS ${databaseOf(number)}`);
  for (const path of [file, `${file}.wal`]) rmSync(path, { force: true });
}

/** Makes an edition in one transaction, so that an incomplete one can be recognised. */
async function make(made: NewEdition, catalogs: Catalogs, fill: () => Promise<Edition>): Promise<Edition> {
  const { connection, file, number, maxIndexed } = made;
  const tables = tablesIn(number, catalogs);
  const relationOf: Relations = relation => relationIn(number, relation);
  const database = databaseOf(number);
  try {
    await attach(made);
    const edition = await inTransaction(connection, async () => {
      for (const schema of new Set(tables.map(({ schema }) => schema)))
        await connection.run(`CREATE SCHEMA ${database}.${quoted(schema)}`);
      const filled = await fill();
      await indexIds(connection, EXPORTED.map(relationOf), maxIndexed);
      for (const { relation, sql, position } of tables)
        if (sql) await connection.run(`CREATE ${position ? 'VIEW' : 'TABLE'} ${relation} AS ${sql(relationOf)}`);
      await connection.run(`INSERT INTO ${database}.stored VALUES (${cellsOf(filled.contents)})`);
      return filled;
    });
    await connection.run(`CHECKPOINT ${database}`);
    return edition;
  } catch (error) {
    await removeDatabase(connection, number, file);
    throw error;
  }
}

/** The row of the table `stored`. */
function cellsOf({ key, registered, mark, sequence, asOfMs, objects, changed }: Contents): string {
  const texts = [key, JSON.stringify(registered), mark].map(textLiteral);
  return [...texts, sequence, asOfMs, objects, changed].join(', ');
}

/** Copies the rows of a table in order, one range of pixels at a time, because not all rows fit into memory. */
async function sortInto(connection: DuckDBConnection, from: string, to: string, maxSorted: number): Promise<number> {
  const pixel = quoted(PIXEL);
  const read = async (sql: string) => (await connection.runAndReadAll(sql)).getRows().map(([cell]) => `${cell}`);
  const rows = Number((await read(`SELECT count(*) FROM ${from}`))[0]);
  const pieces = Math.max(1, Math.ceil(rows / maxSorted));
  const shares = Array.from({ length: pieces - 1 }, (_, i) => (i + 1) / pieces);
  const quantiles = `SELECT unnest(approx_quantile(${pixel}, [${shares.join(', ')}])) FROM ${from}`;
  const bounds = pieces === 1 ? [] : await read(quantiles);
  await connection.run(`CREATE TABLE ${to} AS FROM ${from} LIMIT 0`);
  for (let piece = 0; piece < pieces; piece++) {
    const conditions = [
      ...(piece > 0 ? [`${pixel} >= ${bounds[piece - 1]}`] : []),
      ...(piece < pieces - 1 ? [`${pixel} < ${bounds[piece]}`] : []),
    ];
    const where = conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : '';
    await connection.run(`INSERT INTO ${to} FROM ${from} ${where} ORDER BY ${pixel}, ${quoted(ID)}`);
  }
  return rows;
}

/** Indexes the ids of as many relations as fit into memory, so that the engine can find a row by its id quickly. */
async function indexIds(connection: DuckDBConnection, relations: readonly string[], maxIndexed: number): Promise<void> {
  let left = maxIndexed;
  for (const [i, relation] of relations.entries()) {
    const counted = await connection.runAndReadAll(`SELECT count(*) FROM ${relation}`);
    const rows = Number(counted.getRows()[0]![0]);
    if (rows > left) continue;
    left -= rows;
    await connection.run(`CREATE INDEX by_id_${i} ON ${relation} (${quoted(ID)})`);
  }
}

/**
 * Whether a row belongs to a changed object. Objects keep their positions, so only new rows can change the pixels by
 * which the engine skips parts of a table.
 */
const IS_CHANGED = `t.${quoted(PIXEL)} = r.${quoted(PIXEL)} AND t.${quoted(ID)} = r.${quoted(ID)}`;

/** The maximum number of ids in a statement. */
const REMOVED_AT_ONCE = 1000;

async function removeRows(
  connection: DuckDBConnection,
  relations: readonly string[],
  ids: readonly bigint[],
): Promise<void> {
  for (let from = 0; from < ids.length; from += REMOVED_AT_ONCE) {
    const list = ids.slice(from, from + REMOVED_AT_ONCE).join(', ');
    for (const relation of relations) await connection.run(`DELETE FROM ${relation} WHERE ${quoted(ID)} IN (${list})`);
  }
}

async function inTransaction<T>(connection: DuckDBConnection, work: () => Promise<T>): Promise<T> {
  await connection.run('BEGIN');
  try {
    const result = await work();
    await connection.run('COMMIT');
    return result;
  } catch (error) {
    await connection.run('ROLLBACK').catch(() => {});
    throw error;
  }
}
