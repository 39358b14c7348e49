/** The main thread's part of the service: everything that exists once per process. It answers no requests itself. */

import type { Budget } from './base/budget.ts';
import type { Channel } from './base/channel.ts';
import { ClientAdmission, type ClientSlots } from './base/client_admission.ts';
import { spareBytesAt } from './base/disk.ts';
import type { Log } from './base/log.ts';
import { Unavailable } from './base/refusal.ts';
import { afterThisIteration } from './base/runtime.ts';
import { SharedState } from './base/shared_state.ts';
import { sweepSpool } from './base/spool.ts';
import type { Config } from './config/config.ts';
import { jobLimits } from './config/described_limits.ts';
import type { RowProgress } from './contract/row_progress.ts';
import { DatabaseWatch } from './generations/database_watch.ts';
import type { IndexFailure } from './generations/indexer.ts';
import { LocalIndex } from './generations/local_index.ts';
import type { PublishedGeneration } from './generations/tasks.ts';
import type { MainHost, Part, PartOf } from './host.ts';
import { JOBS } from './jobs/channel.ts';
import type { Job } from './jobs/job.ts';
import { JobQueue, type JobStep } from './jobs/job_queue.ts';
import { JobStore } from './jobs/job_store.ts';
import { METRICS } from './metrics/channel.ts';
import { metricsText, type ThreadsWatched } from './metrics/service_metrics.ts';
import { ChildMemory } from './pool/child_memory.ts';
import type { TaskRunner } from './pool/pool.ts';
import type { ReadingProcesses } from './pool/reading_processes.ts';
import type { Coordination } from './service/coordination.ts';
import { readingProcesses } from './service/reading.ts';

/** How long to try to read the database at the start. */
const START_TRIES_MS = 10_000;
/** The maximum number of waiting job steps. Each step takes milliseconds, because it is flushed to disk. */
const MAX_JOB_STEPS = 128;

export interface CoordinatorOptions {
  readonly config: Config;
  readonly log: Log;
  /** The parts of capabilities that exist once per process. */
  readonly parts: readonly PartOf[];
  /** The serving threads, whose figures `/metrics` includes. */
  readonly threads: () => ThreadsWatched;
  readonly state?: SharedState;
  /** Runs the tasks of the index; by default, threads of its own. */
  readonly indexPool?: TaskRunner | undefined;
  /** Whether a process always waits for the next table or area; true by default. */
  readonly hasSpareProcess?: boolean;
  /** Used by the command that crossmatches one table. */
  readonly onProgress?: ((progress: RowProgress) => void) | undefined;
}

export class Coordinator implements Coordination {
  readonly state: SharedState;
  onGeneration = () => {};
  readonly #index: LocalIndex;
  readonly #watch: DatabaseWatch;
  readonly #admission = new ClientAdmission();
  readonly #childMemory: ChildMemory;
  readonly #reading: ReadingProcesses;
  readonly #parts: readonly Part[];
  readonly #jobs: JobQueue;
  readonly #jobSteps: ClientSlots;
  readonly #threads: () => ThreadsWatched;
  readonly #answers = new Map<string, (asked: never, budget: Budget) => unknown>();
  readonly #releases = new Map<string, (slot: number) => void>();

  /** Starts to load the index and to follow the journal. */
  constructor({
    config,
    log,
    parts,
    threads,
    state = new SharedState(),
    indexPool,
    hasSpareProcess = true,
    onProgress,
  }: CoordinatorOptions) {
    const dataDir = config.NEARSKY_DATA;
    this.state = state;
    sweepSpool(dataDir);
    this.#threads = threads;
    this.#childMemory = new ChildMemory(config.NEARSKY_CHILD_MEMORY_MIB, log);
    const ahead: string[] = [];
    this.#reading = readingProcesses(config, this.#admission, this.#childMemory, ahead, hasSpareProcess);
    const jobs = new JobStore(dataDir);
    const host: MainHost = {
      config,
      log,
      state,
      jobs,
      onProgress,
      admission: this.#admission,
      childMemory: this.#childMemory,
      reading: this.#reading,
      generation: () => this.#index.current,
      loadAhead: module => ahead.push(module),
      answer: (channel, answer) =>
        this.#on(channel, (asked, budget) => this.#whileThere(async () => answer(asked, budget))),
      lend: (channel, answer, release) => {
        this.#on(channel, answer);
        this.#releases.set(channel.name, release);
      },
    };
    // Parts come before whatever runs, which nobody could close if the making of a part fails.
    this.#parts = parts.map(part => part(host));
    this.#watch = new DatabaseWatch(dataDir, state, log);
    this.#index = new LocalIndex(dataDir, log, () => this.onGeneration(), indexPool);
    const stated = jobLimits(config);
    const limits = {
      maxJobs: stated.max_jobs,
      maxJobsOfClient: stated.max_jobs_per_client,
      maxBytes: stated.max_bytes,
      spareBytes: () => spareBytesAt(dataDir),
      keptMs: stated.retention_hours * 3_600_000,
      runMs: stated.max_run_seconds * 1000,
    };
    const kinds = Object.assign({}, ...this.#parts.map(part => part.jobs));
    this.#jobs = new JobQueue(jobs, kinds, limits, log, () => this.#watch.livePids);
    this.#jobSteps = this.#admission.slots({
      slots: 2,
      isFull: 'too many jobs are being made or changed',
      maxWaiting: MAX_JOB_STEPS,
    });
    host.answer(JOBS, ({ client, step }, budget) => this.#jobStep(client, step, budget));
    this.#on(METRICS, () => this.#metricsText());
  }

  #on<Asked, Answer>(
    { name }: Channel<Asked, Answer>,
    answer: (asked: Asked, budget: Budget) => Answer | Promise<Answer>,
  ): void {
    if (this.#answers.has(name)) throw new Error(`another part answers on the channel ${name}`);
    this.#answers.set(name, answer);
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

  async ask<Asked, Answer>({ name }: Channel<Asked, Answer>, asked: Asked, budget: Budget): Promise<Answer> {
    const answer = this.#answers.get(name) as (asked: Asked, budget: Budget) => Answer | Promise<Answer>;
    return await answer(asked, budget);
  }

  release({ name }: Channel<never, unknown>, slot: number): void {
    this.#releases.get(name)?.(slot);
  }

  /** Takes over the jobs of an earlier process, and begins work that no request has asked for. */
  start(): void {
    for (const part of this.#parts) part.start?.();
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
      parts: this.#parts,
    });
  }

  /** Saves the index and stops its threads. */
  async close(): Promise<void> {
    this.#watch.close();
    this.#jobs.close();
    this.#reading.close();
    this.#childMemory.close();
    await Promise.all([...this.#parts, this.#index].map(part => part.close?.()));
  }
}
