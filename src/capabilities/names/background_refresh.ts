/** Keeps the registry of transients up to date while the service runs. */

import type { OnDuty } from '../../core/background/beside_writer.ts';
import { Backoff } from '../../core/base/backoff.ts';
import { messageOf } from '../../core/base/error_text.ts';
import type { Log } from '../../core/base/log.ts';
import { repeat } from '../../core/base/timeout.ts';
import { formatTime } from '../../core/base/times.ts';
import type { Config } from '../../core/config/config.ts';
import type { Tasks } from '../../core/pool/pool.ts';
import { readRegistryEpochUs } from '../../core/store/registry.ts';
import type { Store } from '../../core/store/store.ts';
import type { Writer } from '../../core/store/writer.ts';
import { RejectLog } from '../ingest/rejects.ts';
import { type BotCredentials, botOf } from './bot.ts';
import { TnsClient } from './client.ts';
import { RegistryLoader } from './loader.ts';
import { refreshRegistry } from './refresh.ts';

const MINUTE_MS = 60_000;
/** The interval between checks whether a refresh is due. */
const POLL_MS = 1000;
/**
 * The changes of an hour are requested after a random delay, one to two times this long, so that not all services send
 * requests at once.
 */
const DELAY_MS = 10 * MINUTE_MS;
/**
 * The first and the longest wait after a refresh that did not bring the registry up to date. Each wait is twice the
 * previous one.
 */
const FIRST_RETRY_MS = 20 * MINUTE_MS;
const LONGEST_RETRY_MS = 60 * MINUTE_MS;

interface RefreshSources {
  /** Opened with mode `write`; must stay open until `close` has resolved. */
  readonly store: Store;
  readonly writer: Writer;
  readonly config: Config;
  readonly bot: BotCredentials;
  readonly log: Log;
  /** Milliseconds since 1970. */
  readonly clock?: () => number;
}

/**
 * Refreshes some minutes after the end of the hour that follows the registry's epoch, so the epoch is at most 80
 * minutes old.
 */
export class BackgroundRefresh {
  readonly #sources: RefreshSources;
  readonly #clock: () => number;
  readonly #delayMs = DELAY_MS * (1 + Math.random());
  readonly #backoff = new Backoff(FIRST_RETRY_MS, LONGEST_RETRY_MS);
  readonly #stop = new AbortController();
  /** The earliest time of the next refresh, even if the registry is outdated. */
  #notBeforeMs = 0;
  readonly #running: Promise<void>;

  constructor(sources: RefreshSources) {
    this.#sources = sources;
    this.#clock = sources.clock ?? Date.now;
    const refresh = async () => this.#isDue() && (await this.#refresh());
    this.#running = repeat(this.#stop.signal, POLL_MS, refresh, error => this.#failed(error));
  }

  /** Aborts a refresh in progress; the registry stays unchanged. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  #failed(error: unknown): void {
    const waitMs = Math.max(POLL_MS, this.#notBeforeMs - this.#clock());
    const next_attempt_in_s = Math.round(waitMs / 1000);
    this.#sources.log('tns_refresh_failed', { error: messageOf(error), next_attempt_in_s });
  }

  #isDue(): boolean {
    const nowMs = this.#clock();
    this.#sources.store.resetRead();
    const epochUs = readRegistryEpochUs(this.#sources.store.databases);
    if (epochUs === null || nowMs >= epochUs / 1000 + 60 * MINUTE_MS + this.#delayMs) return nowMs >= this.#notBeforeMs;
    this.#backoff.reset();
    this.#notBeforeMs = 0;
    return false;
  }

  async #refresh(): Promise<void> {
    const { store, writer, config, bot, log } = this.#sources;
    const { signal } = this.#stop;
    using rejects = new RejectLog(config, 'tns');
    const loader = new RegistryLoader({ writer, rejects, onBatch: () => signal.throwIfAborted() });
    const onWait = (error: string, waitMs: number) =>
      log('tns_refresh_waits', { error, next_attempt_in_s: waitMs / 1000 });
    const client = new TnsClient({ baseUrl: config.TNS_OBJECTS_BASE_URL, bot, onWait, signal });
    const nowMs = this.#clock();
    // The wait also grows if the refresh brings nothing new, for example when the file of an hour is late.
    this.#notBeforeMs = nowMs + this.#backoff.next();
    const options = { dataDir: config.NEARSKY_DATA, store, writer, client, loader, nowUs: 1000 * nowMs };
    const { epochUs, ...summary } = await refreshRegistry(options);
    const { rejected, notes: passed_over } = loader.counts;
    log('tns_refreshed', { epoch: formatTime(epochUs), ...summary, rejected, passed_over });
  }
}

export const tasks: Tasks<OnDuty> = {
  duty: ({ store, writer, config, log }) => new BackgroundRefresh({ store, writer, config, bot: botOf(config)!, log }),
};
