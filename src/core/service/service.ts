/**
 * Everything that operations need for their answers: the settings, the queries, the database, and the parts that exist
 * once per process.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { AnswerMemory } from '../answers/answer_memory.ts';
import type { AnswerWriter } from '../answers/queries.ts';
import { QueryRunner } from '../answers/query_runner.ts';
import { SharedFragments } from '../answers/shared_fragments.ts';
import type { Budget } from '../base/budget.ts';
import { type Counter, Counts } from '../base/counts.ts';
import { messageOf } from '../base/error_text.ts';
import type { Log } from '../base/log.ts';
import { Unavailable } from '../base/refusal.ts';
import { nowUs } from '../base/times.ts';
import type { Config } from '../config/config.ts';
import { Catalogs, PROJECT_CATALOGS } from '../contract/catalogs.ts';
import { ThreadMetrics } from '../metrics/thread_metrics.ts';
import { answerSettings, type Provenance } from '../store/provenance.ts';
import { readLatestIngest } from '../store/recent.ts';
import { RegisteredCatalogs } from '../store/registered_catalogs.ts';
import { readRegistryEpochUs } from '../store/registry.ts';
import type { StoreReader } from '../store/store_reader.ts';
import type { Coordination } from './coordination.ts';
import { LogPlace } from './log_place.ts';

interface ServiceOptions {
  readonly config: Config;
  readonly log: Log;
  readonly coordination: Coordination;
  /** Opens the database. @throws StoreError */
  readonly openStore: () => OpenStore;
  readonly metrics?: ThreadMetrics;
  /** The counters of all capabilities. */
  readonly counters: readonly Counter[];
  /** Loads the writers of answers, by the names of the formats other than JSON; by default there are none. */
  readonly writers?: Readonly<Record<string, () => Promise<AnswerWriter>>>;
  /** The number of serving threads, which share the limits of the process; 1 by default. */
  readonly threads?: number;
}

interface OpenStore extends StoreReader {
  close(): Promise<void>;
}

/** The database's description of itself. */
interface DatabaseSeen {
  /** The epoch of the TNS registry's snapshot, whatever its age, microseconds since 1970; null if there is none. */
  readonly tnsSnapshotEpochUs: number | null;
  /** The latest ingest time of any object, microseconds since 1970; null if there is none. */
  readonly latestIngestTimeUs: number | null;
}

/** The interval between checks whether the node has caught up. */
const REACH_MS = 10;
/** The time after which the registered catalogs are read again. */
const CATALOGS_FRESH_MS = 1000;

/** The service in one serving thread. Each serving thread has its own. */
export class Service {
  readonly config: Config;
  readonly log: Log;
  readonly metrics: ThreadMetrics;
  readonly coordination: Coordination;
  readonly queries: QueryRunner;
  readonly logPlace: LogPlace;
  readonly threads: number;
  readonly #counts: Counts;
  readonly #openStore: () => OpenStore;
  #store: OpenStore | undefined;
  readonly #registered = new RegisteredCatalogs(registrations => new Catalogs(registrations));
  #fragments: SharedFragments;
  #catalogsSeenMs = Number.NEGATIVE_INFINITY;
  readonly #ends: (() => void)[] = [];
  #isStopping = false;
  #isClosed = false;

  constructor({
    config,
    log,
    coordination,
    openStore,
    counters,
    metrics = new ThreadMetrics(),
    threads = 1,
    writers = {},
  }: ServiceOptions) {
    this.config = config;
    this.log = log;
    this.coordination = coordination;
    this.#openStore = openStore;
    this.metrics = metrics;
    this.#counts = new Counts(counters, coordination.state.counts);
    this.#fragments = this.#fragmentsOf(PROJECT_CATALOGS);
    this.threads = threads;
    this.logPlace = new LogPlace(coordination, () => this.store, config);
    this.queries = new QueryRunner({
      generation: () => (this.#isClosed ? undefined : coordination.generation),
      store: () => this.store,
      whyNoAnswer: () => coordination.state.whyNoAnswer,
      fragments: () => this.fragments,
      metrics,
      memory: new AnswerMemory({ limitMib: config.NEARSKY_ANSWER_MEMORY_MIB, state: coordination.state, metrics }),
      writerOf: format => writers[format]!(),
      onStaleIndex: generation => coordination.discard(generation),
      log,
    });
  }

  /**
   * The database, opened on first use.
   * @throws StoreError
   */
  get store(): StoreReader {
    return (this.#store ??= this.#openStore());
  }

  /** Adds to a counter of a capability, over all threads. */
  count(counter: Counter, change = 1): void {
    this.#counts.add(counter, change);
  }

  /** Whether the index is ready to answer. */
  get indexReady(): boolean {
    return this.coordination.generation !== undefined;
  }

  /**
   * The present, microseconds since 1970. With a log, it is the time of the last applied record or of the last stored
   * object, whichever is later, and so independent of the nodes' clocks.
   */
  get presentUs(): number {
    const { hasLog, logTimeUs } = this.coordination.state;
    return hasLog ? Math.max(logTimeUs, this.#latestIngestUs) : nowUs();
  }

  /**
   * The snapshot time of a walk that begins now, microseconds since 1970: every object ingested up to this time is
   * visible. It is after the present if objects were ingested while the clock was ahead.
   */
  get asOfUs(): number {
    return Math.max(this.presentUs, this.#latestIngestUs);
  }

  get #latestIngestUs(): number {
    return this.read(({ databases }) => readLatestIngest(databases)) ?? 0;
  }

  /**
   * Waits until this node has every object that was ingested up to a time that another node of the same log has
   * reached.
   * @throws Unavailable if this takes longer than the budget
   */
  async reach(timeUs: number, budget: Budget): Promise<void> {
    let entry: number | undefined;
    await this.#until(
      () => {
        if (entry === undefined && this.asOfUs >= timeUs) entry = this.store.lastSequence();
        return entry !== undefined && this.#hasIndexed(entry);
      },
      budget,
      'this node is behind the node that sent the previous page',
    );
  }

  /**
   * Waits until the index covers a journal entry.
   * @param isKnown whether another node of the same log has the entry. Otherwise an entry that is not in the journal is
   * not waited for
   * @throws Unavailable if this takes longer than the budget
   */
  async reachEntry(entry: number, isKnown: boolean, budget: Budget): Promise<void> {
    await this.#until(
      () => {
        if (this.#hasIndexed(entry)) return true;
        this.store.resetRead();
        return !isKnown && entry > this.store.lastSequence();
      },
      budget,
      'this node does not have the journal entry of the request yet',
    );
  }

  #hasIndexed(entry: number): boolean {
    return (this.coordination.generation?.sequence ?? -1) >= entry;
  }

  async #until(isReached: () => boolean, budget: Budget, otherwise: string): Promise<void> {
    for (; ; await sleep(REACH_MS)) {
      const why = this.#isClosed ? 'the service is stopping' : this.coordination.state.whyNoAnswer;
      if (why !== undefined) throw new Unavailable(why);
      if (isReached()) return;
      if (budget.spent) throw new Unavailable(otherwise);
    }
  }

  /** The name of the archive, `Store.archive`; undefined if the database cannot be read. */
  get archive(): string | undefined {
    if (this.#isClosed || this.coordination.state.whyNoAnswer) return undefined;
    this.store.resetRead();
    return this.store.archive;
  }

  /** The current description of the database; undefined if the database cannot be read. */
  look(): DatabaseSeen | undefined {
    return this.read(store => {
      return {
        tnsSnapshotEpochUs: readRegistryEpochUs(store.databases),
        latestIngestTimeUs: readLatestIngest(store.databases),
      };
    });
  }

  /** Reads the database in its current state; undefined if it cannot be read. */
  read<T>(read: (store: StoreReader) => T): T | undefined {
    if (this.#isClosed || this.coordination.state.whyNoAnswer) return undefined;
    try {
      this.store.resetRead();
      return read(this.store);
    } catch (error) {
      this.log('database_unreadable', { error: messageOf(error) });
      return undefined;
    }
  }

  /** The catalogs, at most a second out of date; while the database cannot be read, as last read. */
  get catalogs(): Catalogs {
    return this.fragments.settings.catalogs;
  }

  /** The `provenance` block of answers. */
  get provenance(): Provenance {
    return this.fragments.settings.provenance;
  }

  /** The fragments that answers share, for the current catalogs. */
  get fragments(): SharedFragments {
    const nowMs = performance.now();
    if (nowMs - this.#catalogsSeenMs < CATALOGS_FRESH_MS) return this.#fragments;
    if (this.#isClosed || this.coordination.state.whyNoAnswer) return this.#fragments;
    this.#catalogsSeenMs = nowMs;
    try {
      const { store } = this;
      store.resetRead();
      const catalogs = this.#registered.of(store);
      if (catalogs !== this.#fragments.settings.catalogs) this.#fragments = this.#fragmentsOf(catalogs);
    } catch (error) {
      this.log('database_unreadable', { error: messageOf(error) });
    }
    return this.#fragments;
  }

  #fragmentsOf(catalogs: Catalogs): SharedFragments {
    return new SharedFragments(answerSettings(this.config, catalogs), what => this.metrics.add(what, 1));
  }

  /** Whether the service is stopping. It then still answers, but accepts no new clients. */
  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** Calls `end`, maybe more than once, when the service stops: answers without an end must end then. */
  onStop(end: () => void): void {
    this.#ends.push(end);
  }

  /** Ends the answers without an end, so that their clients reconnect to another server. */
  stop(): void {
    this.#isStopping = true;
    for (const end of this.#ends) end();
  }

  /** Closes the database. From then on, queries are refused. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const end of this.#ends) end();
    await this.#store?.close();
  }
}
