/** Crossmatches pending objects while the service runs. */

import type { OnDuty } from '../../core/background/beside_writer.ts';
import { messageOf } from '../../core/base/error_text.ts';
import type { Log } from '../../core/base/log.ts';
import { repeat } from '../../core/base/timeout.ts';
import type { Config } from '../../core/config/config.ts';
import type { Pool, Tasks } from '../../core/pool/pool.ts';
import { readCatalogNames } from '../../core/store/catalog_registration.ts';
import { countPending } from '../../core/store/object_tables.ts';
import type { Store } from '../../core/store/store.ts';
import type { Writer } from '../../core/store/writer.ts';
import { type BackgroundOptions, CrossmatchAgain } from './crossmatch_again.ts';
import { crossmatchPool } from './crossmatch_pool.ts';
import { crossmatchPending, settingsOf } from './crossmatcher.ts';
import { Deferred } from './deferred.ts';

/** Objects per commit. A commit takes tens of milliseconds, in which no other process can write. */
const COMMIT_SIZE = 1000;
/** The interval between checks for new objects. */
const POLL_MS = 250;
/** The interval between checks for claims that another process has left behind. */
const SWEEP_MS = 10_000;
/**
 * How long an object stays pending while no catalog can be read for it: longer than most restarts of a host. Then it is
 * recorded as not searched, and crossmatched again once a catalog can be read.
 */
const UNREAD_PENDING_MS = 600_000;
/** The interval between retries of objects for which a catalog could not be read. */
const RETRY_MS = 60_000;
/**
 * The maximum wait after a failure that concerns more than one file. The first wait is ten seconds, and each wait is
 * twice the previous one.
 */
const LONGEST_PAUSE_MS = 600_000;
const FIRST_PAUSE_MS = 10_000;
/**
 * If more objects than this are deferred, probably no catalog can be read. Then only the deferred objects are retried
 * until some of them succeed.
 */
const MAX_DEFERRED = 20_000;

export class BackgroundCrossmatch {
  readonly #store: Store;
  readonly #config: Config;
  readonly #log: Log;
  readonly #clock: () => number;
  /** A pool for crossmatches only, so that reading a catalog delays no query. */
  readonly #pool: Pool;
  readonly #common: BackgroundOptions;
  readonly #again: CrossmatchAgain;
  readonly #stop = new AbortController();
  readonly #deferred = new Deferred();
  /** The crossmatched objects for which a catalog could not be read. */
  readonly #retries = new Deferred();
  #nextRetryMs = 0;
  /** The journal's end when the last walk over the pending objects began. */
  #walkedSequence = -1;
  #walkedMs = Number.NEGATIVE_INFINITY;
  /** When waiting objects were first seen. */
  #waitingSinceMs: number | undefined;
  #pauseMs = 0;
  #pausedUntilMs = 0;
  readonly #running: Promise<void>;

  /**
   * @param store opened with mode `write`; must stay open until `close` has resolved
   * @param clock milliseconds, monotonic
   */
  constructor(store: Store, writer: Writer, config: Config, log: Log, clock = () => performance.now()) {
    this.#store = store;
    this.#config = config;
    this.#pool = crossmatchPool(config, 1, { isBackground: true });
    this.#log = log;
    this.#clock = clock;
    this.#common = {
      store,
      writer,
      pool: this.#pool,
      ...settingsOf(config, store, this.#pool),
      batchSize: config.CROSSMATCH_BATCH_MAX_SIZE,
      commitSize: COMMIT_SIZE,
      awaitOthers: false,
      signal: this.#stop.signal,
    };
    this.#again = new CrossmatchAgain(this.#common, config, log, clock);
    const pause = (error: unknown) => this.#pause(error);
    this.#running = repeat(this.#stop.signal, POLL_MS, () => this.#step(), pause);
  }

  /** Drops the unrecorded part of the current batch, whose objects stay pending. */
  async close(): Promise<void> {
    this.#stop.abort();
    await Promise.all([this.#running, this.#again.close()]);
    await this.#pool.close();
  }

  async #step(): Promise<void> {
    if (this.#isDue(this.#clock())) {
      await this.#walk();
      this.#pauseMs = 0;
    }
    if (this.#isRetryDue(this.#clock())) await this.#crossmatch('unread', this.#retries, this.#clock());
  }

  #pause(error: unknown): void {
    this.#pauseMs = Math.min(LONGEST_PAUSE_MS, this.#pauseMs === 0 ? FIRST_PAUSE_MS : 2 * this.#pauseMs);
    this.#pausedUntilMs = this.#clock() + this.#pauseMs;
    this.#log('crossmatch_failed', { error: messageOf(error), retry_seconds: this.#pauseMs / 1000 });
  }

  /**
   * Whether there is a catalog to search, and a batch that is full, has waited long enough, is due for a retry, or may
   * have been left behind by another process.
   */
  #isDue(nowMs: number): boolean {
    if (nowMs < this.#pausedUntilMs) return false;
    this.#store.resetRead();
    if (nowMs >= this.#deferred.nextDueMs) return true;
    const isNew = this.#store.lastSequence() !== this.#walkedSequence || nowMs - this.#walkedMs > SWEEP_MS;
    if (!isNew || this.#deferred.size > MAX_DEFERRED) return false;
    const waiting = this.#waitingCount(nowMs);
    if (waiting === 0 || readCatalogNames(this.#store.databases).length === 0) return false;
    this.#waitingSinceMs ??= nowMs;
    const { CROSSMATCH_BATCH_MAX_SIZE, CROSSMATCH_BATCH_MAX_WAIT_SECONDS } = this.#config;
    const waitedMs = nowMs - this.#waitingSinceMs;
    return waiting >= CROSSMATCH_BATCH_MAX_SIZE || waitedMs >= 1000 * CROSSMATCH_BATCH_MAX_WAIT_SECONDS;
  }

  /** The number of pending objects that are not deferred, counted up to a full batch. */
  #waitingCount(nowMs: number): number {
    if (this.#deferred.size === 0) return countPending(this.#store.databases);
    const ids = this.#store.pendingIds(this.#deferred.size + this.#config.CROSSMATCH_BATCH_MAX_SIZE);
    return ids.filter(id => !this.#deferred.has(id, nowMs)).length;
  }

  /** Whether a catalog may be readable again for objects that were recorded without it. */
  #isRetryDue(nowMs: number): boolean {
    if (nowMs < Math.min(this.#retries.nextDueMs, this.#nextRetryMs) || nowMs < this.#pausedUntilMs) return false;
    this.#nextRetryMs = nowMs + RETRY_MS;
    return this.#store.unreadIds(1).length > 0 && readCatalogNames(this.#store.databases).length > 0;
  }

  async #walk(): Promise<void> {
    const nowMs = this.#clock();
    this.#walkedSequence = this.#store.lastSequence();
    this.#walkedMs = nowMs;
    this.#waitingSinceMs = undefined;
    await this.#crossmatch('pending', this.#deferred, nowMs);
  }

  async #crossmatch(which: 'pending' | 'unread', deferred: Deferred, nowMs: number): Promise<void> {
    const isDeferred = (id: bigint) =>
      deferred.size > MAX_DEFERRED ? !deferred.isDue(id, nowMs) : deferred.has(id, nowMs);
    const summary = await crossmatchPending({
      ...this.#common,
      which,
      staysPending: id => this.#clock() - deferred.sinceMs(id, this.#clock()) < UNREAD_PENDING_MS,
      isDeferred,
      onUnreadable: ids => deferred.defer(ids, this.#clock()),
    });
    deferred.settle(nowMs);
    const { objects, recorded, unreadable, unsearched, outcomes, problems, rowsPassedOver } = summary;
    if (Object.values(outcomes).some(({ searched = 0 }) => searched > 0)) deferred.succeeded();
    if (objects > 0) this.#log('crossmatched', { objects, recorded, unreadable, unsearched, problems, rowsPassedOver });
  }
}

export const tasks: Tasks<OnDuty> = {
  duty: ({ store, writer, config, log }) => new BackgroundCrossmatch(store, writer, config, log),
};
