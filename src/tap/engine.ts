/**
 * DuckDB over the tables of the archive, and the queries that it runs. It reads nothing but their directory, and its
 * settings cannot be changed.
 */
import { dirname, join } from 'node:path';
import type { DuckDBInstance } from '@duckdb/node-api';
import { AdqlError, type DescribedTable, MACROS, placedMessage, type Translated, textLiteral } from '@nearsky/adql';
import { isRemote } from '@nearsky/hats';
import { messageOf } from '../base/error_text.ts';
import { withTimeout } from '../base/timeout.ts';
import { Catalogs } from '../contract/catalogs.ts';
import { FILE_NAME } from '../store/environment.ts';
import { openStore, type Store } from '../store/store.ts';
import { Archive, archiveKey } from './archive.ts';
import { isFatal, isOutOfMemory, JobFailure, Starved, TOO_MUCH_MEMORY } from './engine_errors.ts';
import { EngineMemory } from './engine_memory.ts';
import { type EngineQuery, Job } from './job.ts';
import { type PartRead, type PartWanted, QuerySources, SourcesRefusal } from './query_sources.ts';
import { sourceTables } from './source_tables.ts';
import { type TapTable, tapTables } from './tables.ts';
import { translateQuery } from './translate_query.ts';
import { viewUploads } from './uploaded_tables.ts';

export interface EngineOptions {
  readonly dataDir: string;
  readonly memoryMib: number;
  readonly threads: number;
  readonly refreshSeconds: number;
}

export type TapBegun =
  | { readonly outcome: 'begun'; readonly part: Uint8Array; readonly isWhole: boolean }
  /** The query is wrong, or takes more than it may. */
  | { readonly outcome: 'refused'; readonly message: string }
  | { readonly outcome: 'unavailable'; readonly message: string }
  /** Like `unavailable`, and soon no more. */
  | { readonly outcome: 'early'; readonly message: string };

export type EngineBegun =
  | TapBegun
  /** The query goes on when these parts of catalogs have been read: see `Engine.resume`. */
  | { readonly outcome: 'reading'; readonly parts: readonly PartWanted[] };

/** The time for which a query waits until the tables are made for the first time. */
const FIRST_MS = 30_000;

/** The state of the archive that queries are answered from. */
interface Present {
  /** The entry of the journal up to which it goes. */
  readonly sequence: number;
  readonly tables: readonly TapTable[];
  /** The catalogs themselves. */
  readonly sources: readonly DescribedTable[];
  readonly key: string;
  /** When the archive was last seen to be in this state. */
  readonly asOf: Date;
}

/** A translated query. */
interface Prepared {
  readonly job: Job;
  readonly sql: string;
  readonly infos: readonly { readonly name: string; readonly value: string }[];
  readonly sources: QuerySources;
}

export class Engine {
  readonly #options: EngineOptions;
  readonly #store: Store;
  readonly #archive: Archive;
  readonly #instance: DuckDBInstance;
  readonly #memory: EngineMemory;
  readonly #jobs = new Map<number, Job>();
  /** The queries that have begun to begin, and have not been ended. */
  readonly #asked = new Set<number>();
  /** The queries that wait for parts of catalogs. */
  readonly #reading = new Map<number, Prepared>();
  #current: Present | undefined;
  #refreshing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  private constructor(options: EngineOptions, archive: Archive, instance: DuckDBInstance, memory: EngineMemory) {
    this.#options = options;
    this.#store = openStore(options.dataDir, 'read');
    this.#archive = archive;
    this.#instance = instance;
    this.#memory = memory;
  }

  static async open(options: EngineOptions): Promise<Engine> {
    const { DuckDBInstance } = await import('@duckdb/node-api');
    const instance = await DuckDBInstance.create(':memory:', {
      threads: `${options.threads}`,
      memory_limit: `${options.memoryMib}MiB`,
      // Without one, what does not fit into the memory would go to the working directory, of any size.
      temp_directory: '',
      autoinstall_known_extensions: 'false',
      autoload_known_extensions: 'false',
    });
    const connection = await instance.connect();
    const archive = await Archive.open(options.dataDir, connection, options.memoryMib);
    const setup = [
      ...MACROS,
      `SET allowed_directories = [${textLiteral(`${dirname(archive.directory)}/`)}]`,
      'SET enable_external_access = false',
      'SET lock_configuration = true',
    ];
    for (const sql of setup) await connection.run(sql);
    const memory = new EngineMemory(await instance.connect(), options.memoryMib);
    return new Engine(options, archive, instance, memory);
  }

  /** The present state; undefined where the first one is not there in time. */
  async #present(seconds: number): Promise<Present | undefined> {
    // A process that does not answer long after the time of a query is taken to hang.
    if (!this.#current) await withTimeout((this.#refreshing ??= this.#refresh()), Math.min(FIRST_MS, 1000 * seconds));
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
    const catalogs = new Catalogs(store.catalogs());
    const key = archiveKey(join(this.#options.dataDir, FILE_NAME), catalogs);
    const asOf = new Date();
    const sequence = await this.#archive.update(store.lastSequence(), key, catalogs);
    const known = this.#current?.key === key ? this.#current : undefined;
    const { tables, sources } = known ?? { tables: tapTables(catalogs), sources: sourceTables(catalogs) };
    if (this.#jobs.size === 0) await this.#memory.noteIdle();
    this.#current = { sequence, tables, sources, key, asOf };
  }

  async begin(number: number, query: EngineQuery): Promise<EngineBegun> {
    this.#asked.add(number);
    return await this.#beginning(number, () => this.#begin(number, query));
  }

  /**
   * Goes on with a query whose parts of catalogs have been read.
   * @param directory the directory of their files
   */
  async resume(number: number, directory: string, read: readonly PartRead[]): Promise<EngineBegun> {
    return await this.#beginning(number, async () => {
      const prepared = this.#reading.get(number);
      if (!prepared) throw new Error('the query was ended');
      this.#reading.delete(number);
      return await this.#advance(number, prepared, () => prepared.sources.take(directory, read));
    });
  }

  async #beginning(number: number, step: () => Promise<EngineBegun>): Promise<EngineBegun> {
    let begun: EngineBegun | undefined;
    try {
      begun = await step();
      return begun;
    } catch (error) {
      await this.#endStarved(number, error);
      return { outcome: 'refused', message: TOO_MUCH_MEMORY };
    } finally {
      if (begun?.outcome !== 'reading' && (begun?.outcome !== 'begun' || begun.isWhole)) await this.end(number);
    }
  }

  async #begin(number: number, asked: EngineQuery): Promise<EngineBegun> {
    const { query, maxRecords } = asked;
    let current: Present | undefined;
    try {
      current = await this.#present(asked.seconds);
    } catch (error) {
      if (isFatal(error)) throw error;
      reportFailure(error);
      return { outcome: 'unavailable', message: 'the tables cannot be made: the log of the service says why' };
    }
    if (!current) return { outcome: 'early', message: 'the tables are being made for the first time' };
    const { tables, sources, sequence, asOf } = current;
    const connection = await this.#instance.connect();
    let translated: Translated;
    try {
      const uploaded = asked.tables === undefined ? [] : await viewUploads(connection, asked.tables);
      translated = translateQuery(query, [...tables, ...sources, ...uploaded], maxRecords + 1);
      if (!this.#asked.has(number)) throw new Error('the query was ended');
    } catch (error) {
      connection.closeSync();
      if (error instanceof AdqlError) return { outcome: 'refused', message: placedMessage(query, error) };
      throw error;
    }
    const infos = [
      { name: 'query', value: query },
      { name: 'nearsky_journal_entry', value: `${sequence}` },
      { name: 'nearsky_as_of', value: asOf.toISOString() },
    ];
    const job = new Job(connection, translated.columns, asked, () => void this.end(number));
    this.#jobs.set(number, job);
    const isFar = (catalog: string) => isRemote(this.#store.catalog(catalog)?.location ?? '');
    const parts = new QuerySources(connection, step => job.work(step), translated, isFar);
    return await this.#advance(number, { job, sql: translated.sql, infos, sources: parts });
  }

  /**
   * Begins a query, or names the parts of catalogs that must be read before.
   * @param take makes views of the parts that were read
   */
  async #advance(number: number, prepared: Prepared, take = async () => {}): Promise<EngineBegun> {
    const { job, sql, infos, sources } = prepared;
    try {
      await take();
      const parts = await sources.wanted();
      if (parts.length > 0) {
        this.#reading.set(number, prepared);
        return { outcome: 'reading', parts };
      }
      await job.begin(sql, infos, sources.setup);
      const part = (await job.part()) ?? new Uint8Array();
      return { outcome: 'begun', part, isWhole: job.isDone };
    } catch (error) {
      if (isFatal(error) || isOutOfMemory(error)) throw error;
      const message = error instanceof SourcesRefusal ? error.message : job.reasonOf(error);
      return { outcome: 'refused', message };
    }
  }

  /** The next bytes of an answer; null at its end. */
  async part(number: number): Promise<Uint8Array | null> {
    const job = this.#jobs.get(number);
    if (!job) throw new JobFailure('the query was ended');
    try {
      const part = await job.part();
      if (!part) await this.end(number);
      return part ?? null;
    } catch (error) {
      await this.#endStarved(number, error);
      throw new JobFailure(TOO_MUCH_MEMORY);
    }
  }

  /**
   * Ends a query that took all memory.
   * @throws Starved where other queries had it
   * @throws the error where it is another one
   */
  async #endStarved(number: number, error: unknown): Promise<void> {
    if (isFatal(error) || !isOutOfMemory(error)) throw error;
    // The others' memory is looked at now, before they have ended, too.
    void this.end(number);
    if (!(await this.#memory.isTaken())) throw new Starved();
  }

  /** Resolves when nothing of the query runs any more. */
  async end(number: number): Promise<void> {
    const job = this.#jobs.get(number);
    this.#asked.delete(number);
    this.#jobs.delete(number);
    this.#reading.delete(number);
    await job?.close();
  }

  get isIdle(): boolean {
    return this.#asked.size === 0 && !this.#refreshing;
  }

  /** Returns false where queries run: the engine would wait for their end, and only the end of the process ends them. */
  close(): boolean {
    clearTimeout(this.#timer);
    this.#archive.close();
    if (!this.isIdle) return false;
    this.#instance.closeSync();
    return true;
  }
}

/** Ends the process after an error after which the engine answers nothing: the next query begins another. */
function reportFailure(error: unknown): void {
  process.stderr.write(`${JSON.stringify({ event: 'tap_refresh_failed', error: messageOf(error) })}\n`);
  if (isFatal(error)) process.exit(1);
}
