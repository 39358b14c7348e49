/**
 * The archive as tables for the engine: a DuckDB database, sorted by position. A process of its own exports in the HATS
 * layout: first everything, later only the changes. Each export is removed after its rows were taken over in one
 * transaction. A query sees the rows of the moment at which it began. Each engine has its own directory, named by its
 * process; the next engine takes over the directory of one that has ended.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { DuckDBConnection } from '@duckdb/node-api';
import { quoted, tableName, textLiteral } from '@nearsky/adql';
import { pixelOfPath } from '@nearsky/hats/layout';
import { makeDirectory } from '../base/files.ts';
import { isAlive } from '../base/processes.ts';
import { programModule } from '../base/program_files.ts';
import { programArguments } from '../base/runtime.ts';
import type { Catalogs } from '../contract/catalogs.ts';
import { matchColumns, objectColumns } from '../hats_export/columns.ts';
import { unboundedCommand } from '../pool/bounded_command.ts';
import { ARCHIVE, ID, INDEXED, type Source, type TapTable, tapTables } from './tables.ts';

/** The share of changed objects above which everything is exported again, because changed rows are not in order. */
const MAX_CHANGED = 0.1;
/**
 * While it makes a table, the engine holds this many rows of all columns per thread. With its default of 122,880 that
 * would be more than 192 MiB.
 */
const ROW_GROUP_ROWS = 16_384;
/**
 * The share of the engine's memory for indexes of ids, which it holds completely; and the maximum memory per indexed row.
 */
const INDEX_SHARE = 1 / 8;
const INDEX_ROW_BYTES = 10;

interface Stored {
  /** A text that differs for archives with different columns. */
  readonly key: string;
  /** The last journal entry that the archive includes. */
  readonly sequence: number;
  /** The number of objects in the last whole export, and of changed objects since; an object counts at each change. */
  readonly objects: number;
  readonly changed: number;
}

interface Export {
  readonly path: string;
  readonly sequence: number;
  readonly objects: number;
}

export class Archive {
  readonly #dataDir: string;
  readonly #directory: string;
  readonly #connection: DuckDBConnection;
  /** The maximum number of rows of all indexed tables together. */
  readonly #maxIndexed: number;
  #stored: Stored | undefined;
  #child: ChildProcess | undefined;

  private constructor(dataDir: string, directory: string, connection: DuckDBConnection, memoryMib: number) {
    this.#maxIndexed = (memoryMib * 2 ** 20 * INDEX_SHARE) / INDEX_ROW_BYTES;
    this.#dataDir = dataDir;
    this.#directory = directory;
    this.#connection = connection;
  }

  /**
   * @param connection used by the archive only
   * @param memoryMib the engine's memory
   */
  static async open(dataDir: string, connection: DuckDBConnection, memoryMib: number): Promise<Archive> {
    const archive = new Archive(dataDir, ownDirectory(join(dataDir, 'tap')), connection, memoryMib);
    const file = join(archive.#directory, 'archive.duckdb');
    try {
      await archive.#attach(file);
    } catch (error) {
      if (/set lock/i.test(`${error}`)) throw error;
      // The file is of another version of the engine, or damaged.
      await connection.run(`DETACH DATABASE IF EXISTS ${ARCHIVE}`);
      for (const path of [file, `${file}.wal`]) rmSync(path, { force: true });
      await archive.#attach(file);
    }
    return archive;
  }

  get directory(): string {
    return this.#directory;
  }

  async #attach(file: string): Promise<void> {
    for (const sql of [
      `ATTACH ${textLiteral(file)} AS ${ARCHIVE} (ROW_GROUP_SIZE ${ROW_GROUP_ROWS})`,
      `CREATE TABLE IF NOT EXISTS ${ARCHIVE}.stored (key VARCHAR, sequence BIGINT, objects BIGINT, changed BIGINT)`,
      'CREATE SCHEMA IF NOT EXISTS export',
    ])
      await this.#connection.run(sql);
    const [row] = (await this.#connection.runAndReadAll(`FROM ${ARCHIVE}.stored`)).getRows();
    if (!row) return;
    const [key, ...numbers] = row;
    const [sequence, objects, changed] = numbers.map(Number) as [number, number, number];
    this.#stored = { key: `${key}`, sequence, objects, changed };
  }

  /**
   * Brings the tables to the archive's present state.
   * @param last the last entry of the journal
   * @returns the last entry that they include
   */
  async update(last: number, key: string, catalogs: Catalogs): Promise<number> {
    const before = this.#stored;
    if (before?.key === key && before.sequence <= last) {
      if (before.sequence === last) return last;
      const since = await this.#export(before.sequence);
      const changed = before.changed + since.objects;
      if (changed <= MAX_CHANGED * before.objects)
        return await this.#take(since, { ...before, sequence: since.sequence, changed }, catalogs, false);
    }
    const whole = await this.#export(0);
    const { sequence, objects } = whole;
    return await this.#take(whole, { key, sequence, objects, changed: 0 }, catalogs, true);
  }

  /** Takes over the rows of an export in one transaction. */
  async #take(from: Export, next: Stored, catalogs: Catalogs, isWhole: boolean): Promise<number> {
    const columns = { objects: objectColumns(catalogs.all), matches: matchColumns(catalogs.all).columns };
    for (const source of ['objects', 'matches'] as const) {
      const list = columns[source].map(({ name }) => quoted(name)).join(', ');
      const files = filesOf(from, source).map(textLiteral).join(', ');
      const rows = `SELECT ${list} FROM read_parquet([${files}], hive_partitioning = false)`;
      await this.#connection.run(`CREATE OR REPLACE VIEW export.${source} AS ${rows}`);
    }
    const { key, sequence, objects, changed } = next;
    const tables = tapTables(catalogs);
    const changes = [
      ...(isWhole ? wholeTables(tables) : changedTables(tables)),
      `DELETE FROM ${ARCHIVE}.stored`,
      `INSERT INTO ${ARCHIVE}.stored VALUES (${textLiteral(key)}, ${sequence}, ${objects}, ${changed})`,
    ];
    await this.#connection.run('BEGIN');
    try {
      for (const sql of changes) await this.#connection.run(sql);
      if (isWhole) await this.#indexIds(tables.filter(({ position }) => position));
      await this.#connection.run('COMMIT');
    } catch (error) {
      await this.#connection.run('ROLLBACK');
      throw error;
    }
    this.#stored = next;
    rmSync(from.path, { recursive: true, force: true });
    return sequence;
  }

  /** Indexes the ids of as many tables as fit into memory, so that the engine finds a row by its id at once. */
  async #indexIds(tables: readonly TapTable[]): Promise<void> {
    let left = this.#maxIndexed;
    for (const { name, relation } of tables) {
      const counted = await this.#connection.runAndReadAll(`SELECT count(*) FROM ${relation}`);
      const rows = Number(counted.getRows()[0]![0]);
      if (rows > left) continue;
      left -= rows;
      await this.#connection.run(`CREATE INDEX ${quoted(`${name}_by_id`)} ON ${relation} (${quoted(ID)})`);
    }
  }

  async #export(since: number): Promise<Export> {
    // An export of a killed engine may still run, and must not write into this directory.
    const path = join(this.#directory, `new-${process.pid}`);
    for (const name of readdirSync(this.#directory))
      if (name.startsWith('new-')) rmSync(join(this.#directory, name), { recursive: true, force: true });
    const onlyChanged = since === 0 ? [] : ['--since', `${since}`];
    const printed = await this.#run([
      'export',
      '--format',
      'hats',
      '--json',
      '--data',
      this.#dataDir,
      ...onlyChanged,
      path,
    ]);
    const { sequence, objects } = JSON.parse(printed) as Omit<Export, 'path'>;
    return { path, sequence, objects };
  }

  async #run(args: readonly string[]): Promise<string> {
    const main = fileURLToPath(programModule('src/main'));
    const before = programArguments(this.#dataDir);
    const [command, ...rest] = unboundedCommand([process.execPath, ...before, main, ...args]);
    const child = spawn(command!, rest, {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    try {
      const ended = new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve));
      const [printed, said, code] = await Promise.all([text(child.stdout!), text(child.stderr!), ended]);
      if (code !== 0) throw new Error(`the export ended with ${code}: ${said.slice(-500)}`);
      return printed;
    } finally {
      this.#child = undefined;
    }
  }

  close(): void {
    this.#child?.kill('SIGKILL');
    this.#connection.closeSync();
  }
}

/** The statements that create every table again. */
function wholeTables(tables: readonly TapTable[]): string[] {
  const schemas = [...new Set(tables.map(({ schema }) => schema))].flatMap(schema => [
    `DROP SCHEMA IF EXISTS ${ARCHIVE}.${quoted(schema)} CASCADE`,
    `CREATE SCHEMA ${ARCHIVE}.${quoted(schema)}`,
  ]);
  return [...schemas, ...tables.map(({ relation, sql }) => `CREATE TABLE ${relation} AS ${sql}`)];
}

/** The statements that replace the rows of changed objects. */
function changedTables(tables: readonly TapTable[]): string[] {
  const ofObjects = tables.filter(({ position }) => position);
  return ofObjects.flatMap(({ relation, sql }) => [
    `DELETE FROM ${relation} WHERE ${quoted(ID)} IN (SELECT ${quoted(ID)} FROM export.objects)`,
    `INSERT INTO ${relation} ${sql}`,
  ]);
}

/**
 * Returns the directory of this process. It takes over the directory of an ended process, and removes those of others.
 */
export function ownDirectory(all: string): string {
  const own = join(all, `${process.pid}`);
  makeDirectory(all);
  // An earlier release created it readable for everyone.
  chmodSync(all, 0o700);
  for (const name of readdirSync(all)) {
    const path = join(all, name);
    const pid = Number.parseInt(name, 10);
    if (path === own || isAlive(pid)) continue;
    try {
      if (existsSync(own) || name !== `${pid}`) rmSync(path, { recursive: true, force: true });
      else renameSync(path, own);
    } catch (error) {
      // Another engine has taken it.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
  mkdirSync(own, { recursive: true });
  return own;
}

/**
 * The files of a relation in an export, in the order of their pixels. The schema file, which has no rows, is the first.
 */
export function filesOf({ path }: Pick<Export, 'path'>, source: Source): string[] {
  const dataset = join(path, source, source, 'dataset');
  const names = readdirSync(dataset, { recursive: true, encoding: 'utf8' });
  const files = names.filter(name => name.endsWith('.parquet') || name === '_common_metadata');
  const sorted = files.sort((a, b) => firstPixel(a) - firstPixel(b)).map(name => join(dataset, name));
  const aside = join(path, `${source}_without_position.parquet`);
  return existsSync(aside) ? [aside, ...sorted] : sorted;
}

/** The position of a file's pixel, in faces of the sphere; -1 for a file that is not a partition. */
function firstPixel(name: string): number {
  const pixel = pixelOfPath(name);
  return pixel ? pixel.ipix / 4 ** pixel.order : -1;
}

/** A short text that differs if the database's file, the catalogs or the tables differ. */
export function archiveKey(databaseFile: string, catalogs: Catalogs): string {
  const { ino, birthtimeMs } = statSync(databaseFile);
  const tables = tapTables(catalogs).map(table => [tableName(table), table.sql]);
  return createHash('sha256')
    .update(`${ino} ${birthtimeMs} ${JSON.stringify([catalogs.all, tables, [...INDEXED]])}`)
    .digest('hex')
    .slice(0, 12);
}
