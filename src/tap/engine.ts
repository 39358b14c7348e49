/**
 * DuckDB over the tables of the archive, and the queries that it runs. It reads nothing but their directory, and its
 * settings cannot be changed.
 */
import { join } from 'node:path';
import type { DuckDBConnection, DuckDBInstance, DuckDBResult } from '@duckdb/node-api';
import { AdqlError, placedMessage } from '../adql/adql_error.ts';
import { MACROS } from '../adql/geometry.ts';
import { translate } from '../adql/translator.ts';
import { textLiteral } from '../adql/values.ts';
import { ByteSink } from '../base/bytes.ts';
import { messageOf } from '../base/error_text.ts';
import { withTimeout } from '../base/timeout.ts';
import { Catalogs } from '../contract/catalogs.ts';
import { FILE_NAME } from '../store/environment.ts';
import { openStore, type Store } from '../store/store.ts';
import { TableError, type TableLimits } from '../table_input/input_table.ts';
import type { Cell, Column, Row } from '../tables/columns.ts';
import type { FitsRows } from '../tables/fits.ts';
import { tableFormat } from '../tables/formats.ts';
import { VotableWriter } from '../tables/votable.ts';
import { Archive, archiveKey } from './archive.ts';
import type { TapFormat } from './formats.ts';
import { type TapTable, tapTables } from './tables.ts';
import type { Upload } from './upload_file.ts';

export interface EngineOptions {
  readonly dataDir: string;
  readonly memoryMib: number;
  readonly threads: number;
  readonly refreshSeconds: number;
  /** The limits of each table that comes with a query. */
  readonly uploads: TableLimits;
}

export interface TapQuery {
  readonly query: string;
  readonly maxRecords: number;
  readonly format: TapFormat;
  /** The most that it may take, from its begin to its last row. */
  readonly seconds: number;
  /** Set where an answer that fails after its first rows is of no use: nobody has read of it. */
  readonly isJob?: true;
  readonly uploads: readonly Upload[];
  /** The file of all of them; undefined where there are none. */
  readonly uploadPath?: string;
}

export type TapBegun =
  | { readonly outcome: 'begun'; readonly part: Uint8Array; readonly isWhole: boolean }
  /** The query is wrong, or takes more than it may. */
  | { readonly outcome: 'refused'; readonly message: string }
  | { readonly outcome: 'unavailable'; readonly message: string }
  /** Like `unavailable`, and soon no more. */
  | { readonly outcome: 'early'; readonly message: string };

/** The bytes of a part of an answer. */
const PART_BYTES = 256 * 1024;
/** The interval in which a query that is to end is interrupted. */
const INTERRUPT_MS = 100;
/** The time for which a query waits until the tables are made for the first time. */
const FIRST_MS = 30_000;
/** An answer of which nobody has asked for a part this long is let go of. */
const IDLE_MS = 60_000;

/** The state of the archive that queries are answered from. */
interface Present {
  /** The entry of the journal up to which it goes. */
  readonly sequence: number;
  readonly tables: readonly TapTable[];
  readonly key: string;
  /** When the archive was last seen to be in this state. */
  readonly asOf: Date;
}

export class Engine {
  readonly #options: EngineOptions;
  readonly #store: Store;
  readonly #archive: Archive;
  readonly #instance: DuckDBInstance;
  readonly #jobs = new Map<number, Job>();
  /** The queries that have begun to begin, and have not been ended. */
  readonly #asked = new Set<number>();
  #current: Present | undefined;
  #refreshing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  private constructor(options: EngineOptions, archive: Archive, instance: DuckDBInstance) {
    this.#options = options;
    this.#store = openStore(options.dataDir, 'read');
    this.#archive = archive;
    this.#instance = instance;
  }

  static async open(options: EngineOptions): Promise<Engine> {
    const { DuckDBInstance } = await import('@duckdb/node-api');
    const instance = await DuckDBInstance.create(':memory:', {
      threads: `${options.threads}`,
      memory_limit: `${options.memoryMib}MiB`,
      max_temp_directory_size: '0KiB',
      autoinstall_known_extensions: 'false',
      autoload_known_extensions: 'false',
    });
    const connection = await instance.connect();
    const archive = await Archive.open(options.dataDir, connection);
    const setup = [
      ...MACROS,
      `SET allowed_directories = [${textLiteral(`${archive.directory}/`)}]`,
      'SET enable_external_access = false',
      'SET lock_configuration = true',
    ];
    for (const sql of setup) await connection.run(sql);
    return new Engine(options, archive, instance);
  }

  /** The present state; undefined where the first one is not there in time. */
  async #present(): Promise<Present | undefined> {
    if (!this.#current) await withTimeout((this.#refreshing ??= this.#refresh()), FIRST_MS);
    return this.#current;
  }

  async #refresh(): Promise<void> {
    clearTimeout(this.#timer);
    const began = performance.now();
    try {
      await this.#update();
    } finally {
      this.#refreshing = undefined;
      // Bringing the tables up to date takes a tenth of the time at most.
      const waitMs = Math.max(1000 * this.#options.refreshSeconds, 10 * (performance.now() - began));
      this.#timer = setTimeout(() => void (this.#refreshing ??= this.#refresh().catch(reportFailure)), waitMs);
    }
  }

  async #update(): Promise<void> {
    const store = this.#store;
    store.resetRead();
    const catalogs = new Catalogs(store.catalogs()).all;
    const key = archiveKey(join(this.#options.dataDir, FILE_NAME), catalogs);
    const asOf = new Date();
    const sequence = await this.#archive.update(store.lastSequence(), key, catalogs);
    const tables = this.#current?.key === key ? this.#current.tables : tapTables(catalogs);
    this.#current = { sequence, tables, key, asOf };
  }

  async begin(number: number, query: TapQuery): Promise<TapBegun> {
    let begun: TapBegun | undefined;
    this.#asked.add(number);
    try {
      begun = await this.#begin(number, query);
      return begun;
    } finally {
      if (begun?.outcome !== 'begun' || begun.isWhole) this.end(number);
    }
  }

  async #begin(number: number, asked: TapQuery): Promise<TapBegun> {
    const { query, maxRecords } = asked;
    let current: Present | undefined;
    try {
      current = await this.#present();
    } catch (error) {
      return { outcome: 'unavailable', message: `the tables cannot be made: ${messageOf(error)}` };
    }
    if (!current) return { outcome: 'early', message: 'the tables are being made for the first time' };
    const { tables, sequence, asOf } = current;
    const connection = await this.#instance.connect();
    let translated: ReturnType<typeof translate>;
    try {
      const uploaded = asked.uploadPath ? await this.#uploaded(connection, asked, asked.uploadPath) : [];
      translated = translate(query, [...tables, ...uploaded], maxRecords + 1);
      if (!this.#asked.has(number)) throw new TableError('the query was ended');
    } catch (error) {
      connection.closeSync();
      if (error instanceof AdqlError) return { outcome: 'refused', message: placedMessage(query, error) };
      if (error instanceof TableError) return { outcome: 'refused', message: error.message };
      throw error;
    }
    const job = new Job(connection, translated.columns, asked, () => this.end(number));
    this.#jobs.set(number, job);
    const infos = [
      { name: 'query', value: query },
      { name: 'nearsky_journal_entry', value: `${sequence}` },
      { name: 'nearsky_as_of', value: asOf.toISOString() },
    ];
    try {
      await job.begin(translated.sql, infos);
      const part = (await job.part()) ?? new Uint8Array();
      return { outcome: 'begun', part, isWhole: job.isDone };
    } catch (error) {
      return { outcome: 'refused', message: job.reasonOf(error) };
    }
  }

  async #uploaded(connection: DuckDBConnection, { uploads }: TapQuery, path: string) {
    const { makeUploads } = await import('./uploads.ts');
    return await makeUploads(connection, uploads, path, this.#options.uploads);
  }

  /** The next bytes of an answer; null at its end. */
  async part(number: number): Promise<Uint8Array | null> {
    const part = await this.#jobs.get(number)?.part();
    if (!part) this.end(number);
    return part ?? null;
  }

  end(number: number): void {
    const job = this.#jobs.get(number);
    this.#asked.delete(number);
    job?.close();
    this.#jobs.delete(number);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#archive.close();
    this.#instance.closeSync();
  }
}

function reportFailure(error: unknown): void {
  process.stderr.write(`${JSON.stringify({ event: 'tap_refresh_failed', error: messageOf(error) })}\n`);
}

/** A query that runs, and the answer that is made of its rows. */
class Job {
  readonly #connection: DuckDBConnection;
  readonly #columns: readonly Column[];
  readonly #query: TapQuery;
  readonly #out = new ByteSink();
  readonly #onIdle: () => void;
  #writer: { row(cells: Row): void; end(isCut: boolean): void } | undefined;
  #votable: VotableWriter | undefined;
  #result: DuckDBResult | undefined;
  #rows = 0;
  #isLate = false;
  /** Whether all of it has been given. */
  isDone = false;
  #isClosed = false;
  #isWorking = false;
  #deadline: NodeJS.Timeout | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(connection: DuckDBConnection, columns: readonly Column[], query: TapQuery, onIdle: () => void) {
    this.#connection = connection;
    this.#columns = columns;
    this.#query = query;
    this.#onIdle = onIdle;
  }

  /** Runs the query until its first rows are there. */
  async begin(sql: string, infos: readonly { name: string; value: string }[]) {
    const { seconds, format } = this.#query;
    const { writer } = format;
    this.#deadline = setTimeout(() => {
      this.#isLate = true;
      this.#connection.interrupt();
    }, 1000 * seconds);
    const table = { name: 'result', description: 'The rows of the query', columns: this.#columns };
    const facts = Object.fromEntries(infos.map(({ name, value }) => [name, value]));
    let rows = sql;
    if (writer === 'tabledata' || writer === 'binary2') {
      const votable = new VotableWriter(this.#out, table, writer);
      votable.begin(infos);
      this.#votable = votable;
      this.#writer = {
        row: cells => votable.row(cells),
        end: isCut => votable.end(isCut ? 'OVERFLOW' : 'OK'),
      };
    } else if (writer === 'fits') {
      const { isCut, contents } = await this.#counted(sql);
      const { beginFits } = await import('../tables/fits.ts');
      const { query, nearsky_journal_entry: entry, nearsky_as_of: asOf } = facts;
      const cards = { QSTATUS: isCut ? 'OVERFLOW' : 'OK', NSENTRY: entry!, NSASOF: asOf! };
      this.#writer = beginFits(this.#out, table, contents, cards, query!);
      rows = 'FROM temp.main.result';
    } else {
      const begin = await tableFormat(writer);
      this.#writer = begin(this.#out, table, JSON.stringify(facts));
    }
    this.#result = await this.#work(() => this.#connection.stream(rows));
    await this.#write();
    this.#waits();
  }

  /** Makes the rows a table of the connection's own, for a format that says before them how many they are. */
  async #counted(sql: string): Promise<{ isCut: boolean; contents: FitsRows }> {
    const names = this.#columns.map((_, i) => `c${i + 1}`);
    await this.#work(() => this.#connection.run(`CREATE TEMP TABLE result(${names.join(', ')}) AS ${sql}`));
    const counts = this.#columns.map(({ type }, i) => {
      const characters = type === 'text' ? `coalesce(max(length(c${i + 1})), 0)` : '0';
      return `${characters}, count(*) > count(c${i + 1})`;
    });
    const reader = await this.#work(() =>
      this.#connection.runAndReadAll(`SELECT count(*), ${counts.join(', ')} FROM temp.main.result`),
    );
    const [count, ...of] = reader.getRows()[0]!;
    const { maxRecords } = this.#query;
    const columns = names.map((_, i) => ({ characters: Number(of[2 * i]), hasNulls: of[2 * i + 1] === true }));
    const rows = Math.min(Number(count), maxRecords);
    return { isCut: Number(count) > maxRecords, contents: { rows, columns } };
  }

  /** @throws Error where a query fails after its first rows, and its answer cannot say that */
  async part(): Promise<Uint8Array | null> {
    clearTimeout(this.#idle);
    try {
      while (!this.isDone && !this.#isClosed && this.#out.length < PART_BYTES) await this.#write();
    } catch (error) {
      const reason = this.reasonOf(error);
      if (!this.#votable || this.#query.isJob) throw new Error(reason);
      this.#votable.end({ error: reason });
      this.isDone = true;
    }
    this.#waits();
    if (this.#out.length === 0) return null;
    const part = this.#out.bytes.slice(0, this.#out.length);
    this.#out.length = 0;
    return part;
  }

  #waits(): void {
    this.#idle = setTimeout(this.#onIdle, IDLE_MS);
  }

  /** Writes the rows of one chunk. */
  async #write(): Promise<void> {
    const chunk = await this.#work(() => this.#result!.fetchChunk());
    if (this.#isClosed) return;
    const rows = chunk?.getRows() ?? [];
    for (const row of rows) {
      if (this.#rows++ === this.#query.maxRecords) return this.#end(true);
      this.#writer!.row(row.map((cell, i) => cellOf(this.#columns[i]!, cell)));
    }
    if (rows.length === 0) this.#end(false);
  }

  #end(isCut: boolean): void {
    this.#writer!.end(isCut);
    this.isDone = true;
  }

  reasonOf(error: unknown): string {
    if (this.#isLate)
      return 'the query takes longer than a query may: ask for fewer rows, or for a smaller part of the sky';
    const message = messageOf(error);
    if (/out of memory/i.test(message)) return 'the query takes more memory than a query may: ask for less at once';
    // The engine shows its own SQL after the first line, which means nothing to those who wrote ADQL.
    return `the query cannot be carried out: ${message.split('\n', 1)[0]!.slice(0, 300)}`;
  }

  /** Lets the engine work. A connection that is closed meanwhile would go on with its query. */
  async #work<T>(work: () => Promise<T>): Promise<T> {
    if (this.#isClosed || this.#isLate) throw new Error('the query was ended');
    this.#isWorking = true;
    // An interrupt between two steps of the engine is lost.
    const again = setInterval(() => {
      if (this.#isClosed || this.#isLate) this.#connection.interrupt();
    }, INTERRUPT_MS);
    try {
      return await work();
    } finally {
      clearInterval(again);
      this.#isWorking = false;
      if (this.#isClosed) this.#connection.closeSync();
    }
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#deadline);
    clearTimeout(this.#idle);
    this.#connection.interrupt();
    if (!this.#isWorking) this.#connection.closeSync();
  }
}

/** A value as the engine gives it. */
function cellOf({ type }: Column, cell: unknown): Cell {
  if (cell === null || cell === undefined) return null;
  return type === 'time' ? Number(cell) : (cell as Cell);
}
