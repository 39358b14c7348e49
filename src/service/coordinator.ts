/** The main thread's part of the service: everything that exists once per process. It answers no requests itself. */

import type { Budget } from '../base/budget.ts';
import { ClientAdmission, type ClientSlots } from '../base/client_admission.ts';
import type { Log } from '../base/log.ts';
import { Unavailable } from '../base/refusal.ts';
import { afterThisIteration } from '../base/runtime.ts';
import { SharedState } from '../base/shared_state.ts';
import { sweepSpool } from '../base/spool.ts';
import type { Config } from '../config/config.ts';
import { limitsOf } from '../config/described_limits.ts';
import { MAX_FOLLOWED_BYTES } from '../contract/limits.ts';
import type { TableProgress } from '../contract/table_match.ts';
import { DatabaseWatch } from '../generations/database_watch.ts';
import type { IndexFailure } from '../generations/indexer.ts';
import { LocalIndex } from '../generations/local_index.ts';
import type { PublishedGeneration } from '../generations/tasks.ts';
import type { Job } from '../jobs/job.ts';
import { JobQueue, type JobStep } from '../jobs/job_queue.ts';
import { JobStore } from '../jobs/job_store.ts';
import { metricsText, type ThreadsWatched } from '../metrics/service_metrics.ts';
import { ChildMemory } from '../pool/child_memory.ts';
import type { ReadingProcesses } from '../pool/reading_processes.ts';
import { SkyMap } from '../sky_map/sky_map.ts';
import { NearbySources } from '../sources/nearby_sources.ts';
import { TABLE_JOB, TableJobs } from '../table_match/table_jobs.ts';
import { TableMatches } from '../table_match/table_matches.ts';
import { TAP_JOB, Tap } from '../tap/tap.ts';
import { AreaReader } from '../vo/area_reader.ts';
import { AreaSlots } from './area_slots.ts';
import type { CallName, Calls, Coordination } from './coordination.ts';
import { Limiter } from './limiter.ts';
import { readingProcesses } from './reading.ts';

/** The grace period, after a request's budget, before the slot of an abandoned call is reclaimed. */
const SLOT_MARGIN_SECONDS = 10;
/** How long to try to read the database at the start. */
const START_TRIES_MS = 10_000;
/** The maximum number of waiting job steps. Each step takes milliseconds, because it is flushed to disk. */
const MAX_JOB_STEPS = 128;

export interface CoordinatorOptions {
  readonly config: Config;
  readonly log: Log;
  /** The serving threads, whose figures `/metrics` includes. */
  readonly threads: () => ThreadsWatched;
  readonly state?: SharedState;
  /** Used by the command that crossmatches one table. */
  readonly onTableProgress?: ((progress: TableProgress) => void) | undefined;
}

export class Coordinator implements Coordination {
  readonly state: SharedState;
  onGeneration = () => {};
  readonly #index: LocalIndex;
  readonly #watch: DatabaseWatch;
  readonly #admission = new ClientAdmission();
  readonly #childMemory: ChildMemory;
  readonly #reading: ReadingProcesses;
  readonly #skyMap: SkyMap;
  readonly #sources: NearbySources;
  readonly #areas: AreaReader;
  readonly #areaSlots: AreaSlots;
  readonly #tables: TableMatches;
  readonly #tableJobs: TableJobs;
  readonly #jobs: JobQueue;
  readonly #jobSteps: ClientSlots;
  readonly #tap: Tap;
  readonly #limiter: Limiter;
  readonly #threads: () => ThreadsWatched;
  readonly #answers: {
    readonly [N in CallName]: (
      asked: Calls[N]['asked'],
      budget: Budget,
    ) => Calls[N]['answer'] | Promise<Calls[N]['answer']>;
  } = {
    admit: caller => this.#limiter.admit(caller),
    skyMap: (query, budget) => this.#whileThere(() => this.#skyMap.answer(query, budget)),
    sources: (query, budget) => this.#whileThere(() => this.#sources.near(query, budget)),
    table: (asked, budget) => this.#whileThere(async () => (await this.#tables.answer(asked, budget)) ?? null),
    area: (asked, budget) => this.#whileThere(async () => (await this.#areas.read(asked, budget)) ?? null),
    followArea: asked => this.#areaSlots.enter(asked),
    jobs: ({ client, step }, budget) => this.#whileThere(() => this.#jobStep(client, step, budget)),
    tap: step => this.#whileThere(() => this.#tap.step(step)),
    metrics: () => this.#metricsText(),
  };

  /** Starts to load the index and to follow the journal. */
  constructor({ config, log, threads, state = new SharedState(), onTableProgress }: CoordinatorOptions) {
    const dataDir = config.NEARSKY_DATA;
    this.state = state;
    sweepSpool(dataDir);
    this.#threads = threads;
    this.#watch = new DatabaseWatch(dataDir, state, log);
    this.#index = new LocalIndex(dataDir, log, () => this.onGeneration());
    this.#skyMap = new SkyMap({ dataDir, log, admission: this.#admission });
    this.#sources = new NearbySources(config, log, this.#admission);
    this.#childMemory = new ChildMemory(config.NEARSKY_CHILD_MEMORY_MIB, log);
    this.#reading = readingProcesses(config, this.#admission, this.#childMemory);
    this.#areas = new AreaReader(log, this.#reading);
    this.#areaSlots = new AreaSlots(config.NEARSKY_MAX_STREAM_AREAS, MAX_FOLLOWED_BYTES);
    this.#tables = new TableMatches(config, log, () => this.#index.current, this.#reading, onTableProgress);
    const jobs = new JobStore(dataDir);
    this.#tableJobs = new TableJobs(this.#tables, () => this.#index.current, jobs);
    const stated = limitsOf(config).jobs;
    const limits = {
      maxJobs: stated.max_jobs,
      maxJobsOfClient: stated.max_jobs_per_client,
      maxBytes: stated.max_bytes,
      keptMs: stated.retention_hours * 3_600_000,
      runMs: stated.max_run_seconds * 1000,
    };
    this.#tap = new Tap(config, log, this.#admission, this.#reading, this.#childMemory);
    const kinds = {
      // Tables are limited in size, and each is read by a process of its own.
      [TABLE_JOB]: { run: this.#tableJobs.run.bind(this.#tableJobs), slots: 1 },
      // A query may run as long as a job. Jobs of other clients run in the meantime.
      [TAP_JOB]: { run: this.#tap.run.bind(this.#tap), slots: 2 },
    };
    this.#jobs = new JobQueue(jobs, kinds, limits, log, () => this.#watch.livePids);
    this.#jobSteps = this.#admission.slots({
      slots: 2,
      isFull: 'too many jobs are being made or changed',
      maxWaiting: MAX_JOB_STEPS,
    });
    this.#limiter = new Limiter({
      maxConcurrent: config.MCP_MAX_CONCURRENT,
      maxConcurrentPerKey: Math.min(config.MCP_MAX_CONCURRENT_PER_KEY, Math.ceil(config.MCP_MAX_CONCURRENT / 2)),
      slotSeconds: config.API_REQUEST_BUDGET_SECONDS + SLOT_MARGIN_SECONDS,
    });
  }

  get generation(): PublishedGeneration | undefined {
    return this.#index.current;
  }

  /** Why the index cannot follow the database; undefined while it can. */
  get indexFailure(): IndexFailure | undefined {
    return this.#index.failure;
  }

  /**
   * Whether the index can answer.
   * @throws the error of reading the database, if it has lasted for `START_TRIES_MS`
   */
  isReady(): boolean {
    if (this.generation) return true;
    const { indexFailure } = this;
    if (indexFailure && indexFailure.latestMs - indexFailure.firstMs > START_TRIES_MS) throw indexFailure.error;
    return false;
  }

  discard(generation: number): void {
    this.#index.discard(generation);
  }

  async ask<N extends CallName>(name: N, asked: Calls[N]['asked'], budget: Budget): Promise<Calls[N]['answer']> {
    return await this.#answers[name](asked, budget);
  }

  free(slot: number): void {
    this.#limiter.free(slot);
  }

  leaveArea(slot: number): void {
    this.#areaSlots.leave(slot);
  }

  /** Starts counting the objects for the sky map. Without this call, the first request for the map starts it. */
  countSky(): void {
    this.#skyMap.start();
  }

  /** Takes over the jobs of an earlier process. */
  startJobs(): void {
    this.#jobs.start();
  }

  /** Lets other requests run between two steps of the count. */
  async #jobStep(client: string, step: JobStep, { remainingMs }: Budget): Promise<Job | null> {
    return await this.#jobSteps.run(client, remainingMs, async () => {
      const job = this.#jobs.step(step);
      await new Promise<void>(afterThisIteration);
      return job;
    });
  }

  #whileThere<T>(answer: () => Promise<T>): Promise<T> {
    const why = this.state.whyNoAnswer;
    if (why !== undefined) throw new Unavailable(why);
    return answer();
  }

  async #metricsText(): Promise<string> {
    const stored = await this.#index.measure();
    return metricsText({
      ...this.#threads(),
      index: this.#index.status,
      stored,
      state: this.state,
      tap: this.#tap.state,
    });
  }

  /** Saves the index and stops its threads. */
  async close(): Promise<void> {
    this.#watch.close();
    this.#jobs.close();
    this.#reading.close();
    this.#childMemory.close();
    const parts = [this.#tap, this.#skyMap, this.#sources, this.#tables, this.#index];
    await Promise.all(parts.map(part => part.close()));
  }
}
