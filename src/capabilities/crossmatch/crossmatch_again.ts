/**
 * Crossmatches objects again after a catalog was replaced by its next release, at a bounded rate. Passes over all
 * objects find those whose crossmatch used another release. Nothing about a pass is stored: the crossmatches of the
 * objects record which of them are done.
 */

import type { Work } from '../../core/background/duty.ts';
import { messageOf } from '../../core/base/error_text.ts';
import type { Log } from '../../core/base/log.ts';
import { repeat } from '../../core/base/timeout.ts';
import type { Config } from '../../core/config/config.ts';
import { registeredRelease } from '../../core/contract/catalogs.ts';
import { RegisteredCatalogs } from '../../core/store/registered_catalogs.ts';
import { usesOtherRelease } from './again.ts';
import { type CrossmatchOptions, crossmatchPending } from './crossmatcher.ts';

/** The objects that are read at once, which takes tens of milliseconds, and the interval between such reads. */
const READ_COUNT = 20_000;
const READ_INTERVAL_MS = 250;
/** A batch has at most as many objects as may be crossmatched in this time. */
const BATCH_SECONDS = 10;
/**
 * The time after a pass that found nothing. Later, only an import, or a crossmatch that began before the catalog was
 * replaced, can bring such objects.
 */
const REST_MS = 3_600_000;
/** The pause after a failure, or after a batch that could mostly not be read. Each further pause is twice as long. */
const FIRST_PAUSE_MS = 10_000;
const LONGEST_PAUSE_MS = 600_000;

export type BackgroundOptions = CrossmatchOptions & { readonly signal: AbortSignal };

export class CrossmatchAgain implements Work {
  readonly #options: BackgroundOptions;
  readonly #perSecond: number;
  readonly #log: Log;
  readonly #clock: () => number;
  /** The current releases of the catalogs that were replaced. */
  readonly #releases = new RegisteredCatalogs(
    registrations =>
      new Map(
        registrations.flatMap(each => (each.replaced === undefined ? [] : [[each.name, registeredRelease(each)]])),
      ),
  );
  #wanted: ReadonlyMap<string, string> = new Map();
  #isOutdated: ReturnType<typeof usesOtherRelease> = () => false;
  /** The last object that the current pass has read, and the number of outdated objects that it has found. */
  #after: bigint | undefined;
  #found = 0;
  #dueMs = 0;
  #pauseMs = 0;
  readonly #running: Promise<void>;

  /**
   * @param options without a selection of objects
   * @param clock milliseconds, monotonic
   */
  constructor(options: BackgroundOptions, { CROSSMATCH_AGAIN_PER_SECOND }: Config, log: Log, clock: () => number) {
    this.#options = options;
    this.#perSecond = CROSSMATCH_AGAIN_PER_SECOND;
    this.#log = log;
    this.#clock = clock;
    const failed = (error: unknown) =>
      log('crossmatch_failed', { error: messageOf(error), retry_seconds: this.#pause() / 1000 });
    this.#running =
      this.#perSecond > 0 ? repeat(options.signal, READ_INTERVAL_MS, () => this.#step(), failed) : Promise.resolve();
  }

  /** Call this after the signal of the options has fired. */
  close(): Promise<void> {
    return this.#running;
  }

  /** Reads some objects, and crossmatches the outdated ones among them. */
  async #step(): Promise<void> {
    const { store } = this.#options;
    store.resetRead();
    const wanted = this.#releases.of(store);
    if (wanted !== this.#wanted) {
      this.#wanted = wanted;
      this.#isOutdated = usesOtherRelease(store, wanted);
      this.#after = undefined;
      this.#found = 0;
      this.#dueMs = 0;
    }
    const startMs = this.#clock();
    if (wanted.size === 0 || startMs < this.#dueMs) return;
    const { ids, last } = store.idsAmong(this.#isOutdated, {
      count: READ_COUNT,
      limit: Math.ceil(Math.min(BATCH_SECONDS * this.#perSecond, this.#options.batchSize ?? READ_COUNT)),
      after: this.#after,
    });
    if (last === undefined) return this.#endPass(startMs);
    if (ids.length > 0) {
      this.#dueMs = startMs + (1000 * ids.length) / this.#perSecond;
      await this.#crossmatch(ids);
    }
    this.#after = last;
    this.#found += ids.length;
  }

  #endPass(nowMs: number): void {
    if (this.#found === 0) this.#dueMs = nowMs + REST_MS;
    this.#after = undefined;
    this.#found = 0;
  }

  async #crossmatch(againIds: readonly bigint[]): Promise<void> {
    const summary = await crossmatchPending({ ...this.#options, againIds });
    const { objects, recorded, unreadable, problems, rowsPassedOver } = summary;
    // Other objects do not wait for a few files that cannot be read.
    if (unreadable > recorded) this.#pause();
    else this.#pauseMs = 0;
    this.#log('crossmatched_again', { objects, recorded, unreadable, problems, rowsPassedOver });
  }

  /** @returns milliseconds */
  #pause(): number {
    this.#pauseMs = Math.min(LONGEST_PAUSE_MS, this.#pauseMs === 0 ? FIRST_PAUSE_MS : 2 * this.#pauseMs);
    this.#dueMs = Math.max(this.#dueMs, this.#clock() + this.#pauseMs);
    return this.#pauseMs;
  }
}
