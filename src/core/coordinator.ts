/** The main thread's part of the service: everything that exists once per process. It answers no requests itself. */

import type { Budget } from './base/budget.ts';
import type { Channel } from './base/channel.ts';
import { ClientAdmission } from './base/client_admission.ts';
import type { Log } from './base/log.ts';
import { Unavailable } from './base/refusal.ts';
import { SharedState } from './base/shared_state.ts';
import type { Config } from './config/config.ts';
import type { RowProgress } from './contract/row_progress.ts';
import { DatabaseWatch } from './generations/database_watch.ts';
import type { IndexFailure } from './generations/indexer.ts';
import { LocalIndex } from './generations/local_index.ts';
import type { PublishedGeneration } from './generations/tasks.ts';
import type { MainHost, Part, PartOf } from './host.ts';
import type { Measured, ThreadsWatched } from './metrics/measured.ts';
import type { Coordination } from './service/coordination.ts';

/** How long to try to read the database at the start. */
const START_TRIES_MS = 10_000;
export interface CoordinatorOptions {
  readonly config: Config;
  readonly log: Log;
  /** The parts of capabilities that exist once per process. */
  readonly parts: readonly PartOf[];
  /** The serving threads, whose figures `/metrics` includes. */
  readonly threads: () => ThreadsWatched;
  readonly state?: SharedState;
  /** See `MainHost`; true by default. */
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
  readonly #parts: readonly Part[];
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
    hasSpareProcess = true,
    onProgress,
  }: CoordinatorOptions) {
    const dataDir = config.NEARSKY_DATA;
    this.state = state;
    this.#threads = threads;
    const host: MainHost = {
      config,
      log,
      state,
      hasSpareProcess,
      onProgress,
      admission: this.#admission,
      generation: () => this.#index.current,
      livePids: () => this.#watch.livePids,
      measure: () => this.#measure(),
      answer: (channel, answer, { isAlways = false } = {}) =>
        this.#on(channel, isAlways ? answer : (asked, budget) => this.#whileThere(async () => answer(asked, budget))),
      lend: (channel, answer, release) => {
        this.#on(channel, answer);
        this.#releases.set(channel.name, release);
      },
    };
    // Parts come before whatever runs, which nobody could close if the making of a part fails.
    this.#parts = parts.map(part => part(host));
    this.#watch = new DatabaseWatch(dataDir, state, log);
    this.#index = new LocalIndex(dataDir, log, () => this.onGeneration());
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

  /** Begins work that no request has asked for. */
  start(): void {
    for (const part of this.#parts) part.start?.();
  }

  #whileThere<T>(answer: () => Promise<T>): Promise<T> {
    const why = this.state.whyNoAnswer;
    if (why !== undefined) throw new Unavailable(why);
    return answer();
  }

  async #measure(): Promise<Measured> {
    const stored = await this.#index.measure();
    return { ...this.#threads(), index: this.#index.status, stored, state: this.state, parts: this.#parts };
  }

  /** Saves the index and stops its threads. */
  async close(): Promise<void> {
    this.#watch.close();
    await Promise.all([...this.#parts, this.#index].map(part => part.close?.()));
  }
}
