/**
 * DuckDB over the tables of the archive, and the queries that it runs. It can only read the directory of the tables,
 * and its settings are locked.
 */
import { dirname } from 'node:path';
import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { AdqlError, MACROS, placedMessage, type Translated, textLiteral } from '@nearsky/adql';
import { isRemote } from '@nearsky/hats';
import { withTimeout } from '../../core/base/timeout.ts';
import { whyNotInHistory } from '../../core/store/history.ts';
import { openStore, type Store } from '../../core/store/store.ts';
import { Archive, type ArchiveOptions } from './archive.ts';
import type { Requester } from './earlier_states.ts';
import type { Contents, Edition, TapState } from './edition.ts';
import { isFatal, isOutOfMemory, JobFailure, reportFailure, Starved, TOO_MUCH_MEMORY } from './engine_errors.ts';
import { EngineMemory } from './engine_memory.ts';
import { digestOf, knownSources } from './known_sources.ts';
import { type EngineQuery, FEW_ROWS, QueryRun } from './query_run.ts';
import { type PartRead, type PartWanted, QuerySources, SourcesRefusal } from './query_sources.ts';
import { RowsAtHand } from './rows_at_hand.ts';
import { translateQuery } from './translate_query.ts';
import { viewUploads } from './uploaded_tables.ts';

export interface EngineOptions extends ArchiveOptions {
  readonly dataDir: string;
  readonly refreshSeconds: number;
  /** The number of bytes that a query may read of catalogs; undefined for no limit. */
  readonly maxSourceBytes?: number;
}

export type TapBegun =
  | {
      readonly outcome: 'begun';
      readonly state: TapState;
      readonly part: Uint8Array<ArrayBuffer>;
      readonly isWhole: boolean;
    }
  /** The query is wrong, or exceeds a limit. The parameter is QUERY by default. */
  | { readonly outcome: 'refused'; readonly message: string; readonly param?: 'AT' }
  | { readonly outcome: 'unavailable'; readonly message: string }
  /** Like `unavailable`, but only for a short time. */
  | { readonly outcome: 'early'; readonly message: string };

export type EngineBegun =
  | TapBegun
  /** The query continues when these parts of catalogs have been read: see `Engine.resume`. */
  | { readonly outcome: 'reading'; readonly parts: readonly PartWanted[] };

/** How long a query waits for the first tables to be made. */
const FIRST_MS = 30_000;
/** How long a query waits for the tables of an earlier state. A job does not wait, because it begins again and again. */
const EARLIER_MS = 5000;
/** How long the first queries of an engine wait until it has caught up with the journal. */
const CATCH_UP_MS = 1000;
/**
 * The interval between updates of the tables is at least this many times the processor time of the last one. Many
 * changes cost the same in fewer updates, so beyond `FEW_CHANGES` the factor falls, down to `CATCHING_UP_FACTOR`.
 */
const FOLLOWING_FACTOR = 5;
const FEW_CHANGES = 1000;
const CATCHING_UP_FACTOR = 2;
/** The minimum pause between two updates of the tables. */
const PAUSE_MS = 100;

/** A running query, and the edition that it reads. */
interface Running {
  readonly job: QueryRun;
  readonly leave: () => void;
}

/** A translated query, whose transaction has begun. */
interface Prepared {
  readonly job: QueryRun;
  readonly query: string;
  /** See `Edition.beginReading`. */
  readonly stateOf: () => Promise<TapState>;
  readonly translated: Translated;
  readonly sources: QuerySources;
}

export class Engine {
  readonly #options: EngineOptions;
  readonly #store: Store;
  readonly #archive: Archive;
  readonly #known = knownSources();
  readonly #instance: DuckDBInstance;
  readonly #memory: EngineMemory;
  readonly #jobs = new Map<number, Running>();
  /** The queries that were started, or are being started, and have not ended. */
  readonly #asked = new Set<number>();
  /** The queries that wait for parts of catalogs. */
  readonly #reading = new Map<number, Prepared>();
  /** Called when the tables are up to date, even if they did not change. */
  onRefresh: (state: TapState) => void = () => {};
  #isFollowing = false;
  #refreshing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  private constructor(
    options: EngineOptions,
    store: Store,
    archive: Archive,
    instance: DuckDBInstance,
    memory: EngineMemory,
  ) {
    this.#options = options;
    this.#store = store;
    this.#archive = archive;
    this.#instance = instance;
    this.#memory = memory;
  }

  static async open(options: EngineOptions): Promise<Engine> {
    const { DuckDBInstance } = await import('@duckdb/node-api');
    const instance = await DuckDBInstance.create(':memory:', {
      threads: `${options.threads}`,
      memory_limit: `${options.memoryMib}MiB`,
      // Without a limit, data that does not fit into memory would fill the working directory.
      temp_directory: '',
      // Appended rows occupy memory until a checkpoint, which takes more processor time than the rows of an update.
      checkpoint_threshold: '4MiB',
      autoinstall_known_extensions: 'false',
      autoload_known_extensions: 'false',
    });
    const connection = await instance.connect();
    const store = openStore(options.dataDir, 'read');
    const archive = await Archive.open(options.dataDir, store, instance, options);
    const setup = [
      ...MACROS,
      `SET allowed_directories = [${textLiteral(`${dirname(archive.directory)}/`)}]`,
      'SET enable_external_access = false',
      'SET lock_configuration = true',
    ];
    for (const sql of setup) await connection.run(sql);
    connection.closeSync();
    const memory = await EngineMemory.open(await instance.connect(), options.memoryMib);
    return new Engine(options, store, archive, instance, memory);
  }

  /** The present tables; undefined if the first tables are not made in time. */
  async #present(seconds: number): Promise<Edition | undefined> {
    if (!this.#isFollowing) {
      const refreshing = (this.#refreshing ??= this.#refresh());
      // A process that does not answer long after a query's time limit counts as hung.
      if (!this.#archive.current) await withTimeout(refreshing, Math.min(FIRST_MS, 1000 * seconds));
      else await withTimeout(refreshing.catch(reportFailure), CATCH_UP_MS);
    }
    return this.#archive.current;
  }

  /** The tables of an earlier state; undefined if they are not made in time. */
  async #earlier(at: number, requester: Requester, isJob: boolean): Promise<Edition | undefined> {
    const kept = this.#archive.earlierOf(at, requester);
    if (kept) return kept;
    const made = this.#archive.earlier.request(at, requester);
    if (!made || isJob) return undefined;
    await withTimeout(made, EARLIER_MS);
    return this.#archive.earlierOf(at, requester);
  }

  #whyEarly(at: number | undefined): string {
    const { progress, earlier, retrySeconds } = this.#archive;
    if (retrySeconds !== undefined)
      return `the tables could not be made, and the log of the service says why. The next attempt begins in ${retrySeconds} s`;
    const share = progress === undefined ? '' : `: ${progress} done`;
    if (at === undefined || !this.#archive.current) return `the tables are being made for the first time${share}`;
    if (at === earlier.making) return `the tables of journal entry ${at} are being made${share}`;
    return earlier.isQueued(at)
      ? `the tables of journal entry ${at} will be made after those of other entries`
      : 'too many other entries wait for their tables, or this client has requested half of them';
  }

  /** The reason why the tables cannot have an earlier state; undefined if they can. */
  #whyNotEarlier(at: number): string | undefined {
    if (this.#options.earlierStates === 0) return 'AT is switched off here (TAP_EARLIER_STATES): leave it out';
    this.#store.resetRead();
    return whyNotInHistory(this.#store.databases, at, 'AT');
  }

  async #refresh(): Promise<void> {
    clearTimeout(this.#timer);
    const [beganMs, before] = [performance.now(), process.cpuUsage()];
    const last = this.#archive.current?.contents.sequence;
    let changed = 0;
    try {
      changed = await this.#archive.refresh();
      this.#isFollowing = this.#archive.current !== undefined;
      if (this.#archive.current) {
        const { sequence, asOfMs } = this.#archive.current.contents;
        this.onRefresh({ sequence, asOfMs });
      }
      if (this.#jobs.size === 0 && this.#archive.current?.contents.sequence !== last) await this.#memory.noteIdle();
    } finally {
      this.#refreshing = undefined;
      // The time of queries that run meanwhile counts, too.
      const tookMs = performance.now() - beganMs;
      const { user, system } = process.cpuUsage(before);
      const factor = Math.max(CATCHING_UP_FACTOR, FOLLOWING_FACTOR * Math.min(1, FEW_CHANGES / changed));
      const periodMs = Math.max(1000 * this.#options.refreshSeconds, factor * Math.min(tookMs, (user + system) / 1000));
      const waitMs = Math.max(PAUSE_MS, periodMs - tookMs);
      this.#timer = setTimeout(() => {
        this.#refreshing ??= this.#refresh().catch(error => this.#refreshFailed(error));
      }, waitMs);
    }
  }

  async #refreshFailed(error: unknown): Promise<void> {
    reportFailure(error);
    if (isOutOfMemory(error)) await this.#endIfWorn();
  }

  /** The state of the tables; undefined until the first tables are made. */
  get contents(): Contents | undefined {
    return this.#archive.current?.contents;
  }

  async begin(number: number, query: EngineQuery, requester: Requester): Promise<EngineBegun> {
    this.#asked.add(number);
    return await this.#beginning(number, () => this.#begin(number, query, requester));
  }

  /**
   * Continues a query whose parts of catalogs have been read.
   * @param directory the directory of their files
   */
  async resume(number: number, directory: string, read: readonly PartRead[]): Promise<EngineBegun> {
    return await this.#beginning(number, async () => {
      const prepared = this.#reading.get(number);
      if (!prepared) throw new JobFailure('the query was ended');
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

  async #begin(number: number, asked: EngineQuery, requester: Requester): Promise<EngineBegun> {
    const { query, maxRecords, at } = asked;
    const why = at === undefined ? undefined : this.#whyNotEarlier(at);
    if (why !== undefined) return { outcome: 'refused', message: why, param: 'AT' };
    let current: Edition | undefined;
    try {
      current = await this.#present(asked.seconds);
      if (current && at !== undefined) current = await this.#earlier(at, requester, asked.isJob === true);
    } catch (error) {
      if (isFatal(error)) throw error;
      reportFailure(error);
      return { outcome: 'unavailable', message: 'the tables cannot be made: the log of the service says why' };
    }
    if (!current) return { outcome: 'early', message: this.#whyEarly(at) };
    const { tables, sources } = current;
    const leave = current.use();
    if (at !== undefined) this.#archive.earlier.came(at, requester);
    let connection: DuckDBConnection | undefined;
    let translated: Translated;
    let stateOf: Prepared['stateOf'];
    try {
      connection = await this.#instance.connect();
      const uploaded = asked.tables === undefined ? [] : await viewUploads(connection, asked.tables);
      const beside = this.#archive.besideTables(current);
      translated = translateQuery(query, [...tables, ...beside, ...sources, ...uploaded], maxRecords + 1);
      stateOf = await current.beginReading(connection);
      if (!this.#asked.has(number)) throw new JobFailure('the query was ended');
    } catch (error) {
      connection?.closeSync();
      leave();
      if (error instanceof AdqlError) return { outcome: 'refused', message: placedMessage(query, error) };
      throw error;
    }
    const job = new QueryRun(connection, translated.columns, asked, () => void this.end(number));
    this.#jobs.set(number, { job, leave });
    const { catalogs } = current;
    const { dataDir, maxSourceBytes = Number.POSITIVE_INFINITY } = this.#options;
    const known = (name: string) => this.#known.of(this.#store).get(name);
    const catalogOf = (name: string) => ({
      digest: digestOf(catalogs.get(name)!),
      isFar: isRemote(known(name)?.registration.location ?? ''),
    });
    const atHand = new RowsAtHand(dataDir, maxSourceBytes, known);
    const parts = new QuerySources(
      connection,
      step => job.work(step),
      translated,
      catalogOf,
      part => atHand.read(part),
    );
    return await this.#advance(number, { job, query, stateOf, translated, sources: parts });
  }

  /**
   * Begins a query, or names the parts of catalogs that must be read before.
   * @param take makes views of the parts that were read
   */
  async #advance(number: number, prepared: Prepared, take = async () => {}): Promise<EngineBegun> {
    const { job, query, stateOf, translated, sources } = prepared;
    let state: TapState | undefined;
    const warnings = translated.warnings.map(each => placedMessage(query, each));
    const infos = async () => {
      state = await stateOf();
      return [
        { name: 'query', value: query },
        { name: 'nearsky_journal_entry', value: `${state.sequence}` },
        { name: 'nearsky_as_of', value: new Date(state.asOfMs).toISOString() },
        ...(warnings.length > 0 ? [{ name: 'warning', value: warnings.join('; ') }] : []),
      ];
    };
    try {
      await take();
      const parts = await sources.wanted();
      if (parts.length > 0) {
        this.#reading.set(number, prepared);
        return { outcome: 'reading', parts };
      }
      await job.begin(translated.sql, infos, translated.few(FEW_ROWS + 1), sources.setup);
      const part = (await job.part()) ?? new Uint8Array();
      return { outcome: 'begun', state: state!, part, isWhole: job.isDone };
    } catch (error) {
      if (isFatal(error) || isOutOfMemory(error)) throw error;
      const message = error instanceof SourcesRefusal ? error.message : job.reasonOf(error);
      return { outcome: 'refused', message };
    }
  }

  /** The next bytes of an answer; null at its end. */
  async part(number: number): Promise<Uint8Array | null> {
    const running = this.#jobs.get(number);
    if (!running) throw new JobFailure('the query was ended');
    try {
      const part = await running.job.part();
      if (!part) await this.end(number);
      return part ?? null;
    } catch (error) {
      await this.#endStarved(number, error);
      throw new JobFailure(TOO_MUCH_MEMORY);
    }
  }

  /**
   * Ends a query that found no memory.
   * @throws Starved if other queries held the memory
   * @throws the original error if it is another one
   */
  async #endStarved(number: number, error: unknown): Promise<void> {
    if (isFatal(error) || !isOutOfMemory(error)) throw error;
    // Measure the memory of the other queries now, before they end as well.
    void this.end(number);
    if (!(await this.#memory.isTaken())) throw new Starved();
    await this.#endIfWorn();
  }

  /** Ends the process if its memory is worn. Queries run again in a new one. */
  async #endIfWorn(): Promise<void> {
    if (!(await this.#memory.isWorn()) || this.#jobs.size > 0) return;
    process.stderr.write(`${JSON.stringify({ event: 'tap_engine_worn' })}\n`);
    process.exit(1);
  }

  /** Resolves when no part of the query runs any more. */
  async end(number: number): Promise<void> {
    const running = this.#jobs.get(number);
    this.#asked.delete(number);
    this.#jobs.delete(number);
    this.#reading.delete(number);
    if (!running) return;
    try {
      if (await running.job.close()) this.#memory.noteInterrupted();
    } finally {
      running.leave();
    }
  }

  /**
   * Waits for the end of an update of the tables.
   * @returns whether the engine is idle: no query runs, or waits for tables that are being made
   */
  async settle(): Promise<boolean> {
    await this.#refreshing?.catch(() => {});
    return this.#asked.size === 0 && !this.#archive.isBusy;
  }

  /** Returns false if work continues that only the end of the process can stop. */
  close(): boolean {
    clearTimeout(this.#timer);
    this.#archive.stop();
    if (this.#refreshing || !this.#archive.close() || this.#asked.size > 0) return false;
    // The database closes with its last connection.
    this.#memory.close();
    this.#instance.closeSync();
    return true;
  }
}
