/** Crossmatching of what is pending, beside the serving. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from '../workers/pool.ts';
import type { Config } from './config.ts';
import { crossmatchPending } from './crossmatch/crossmatcher.ts';
import { crossmatchPool } from './crossmatch/pool.ts';
import { messageOf } from './error_text.ts';
import type { Log } from './log.ts';
import { provenanceSetOf } from './provenance.ts';
import type { Store } from './store/store.ts';
import { Writer } from './store/writer.ts';

/** How often to look for something new. */
const POLL_MS = 500;
/** When to try again what could not be crossmatched. */
const RETRY_MS = 60_000;
/** Objects a commit: a commit holds up the main thread. */
const BATCH_SIZE = 1000;

export class BackgroundCrossmatch {
  readonly #store: Store;
  readonly #writer: Writer;
  readonly #config: Config;
  readonly #log: Log;
  /** Its own, so that reading a catalog holds up no query. */
  readonly #pool: Pool;
  readonly #stop = new AbortController();
  /** The journal's end and the time when the last walk over the pending objects began. */
  #walkedSequence = -1;
  #walkedMs = 0;
  readonly #running: Promise<void>;

  /** @param store opened with mode `write`; must stay open until `close` has resolved */
  constructor(store: Store, config: Config, log: Log) {
    this.#store = store;
    this.#writer = new Writer(store);
    this.#config = config;
    this.#pool = crossmatchPool(config, 1);
    this.#log = log;
    this.#running = this.#run();
  }

  /** Drops the batch in hand, whose objects stay pending. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    await this.#pool.close();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        if (this.#isDue()) await this.#walk();
      } catch (error) {
        if (!signal.aborted) this.#log('crossmatch_failed', { error: messageOf(error) });
      }
      await sleep(POLL_MS, undefined, { signal }).catch(() => {});
    }
  }

  /** Whether something is pending, there is a catalog to look into, and this has changed or was long ago. */
  #isDue(): boolean {
    this.#store.resetRead();
    const isNew = this.#store.lastSequence() > this.#walkedSequence || performance.now() - this.#walkedMs > RETRY_MS;
    return isNew && this.#store.pendingIds(1).length > 0 && this.#store.catalogs().length > 0;
  }

  async #walk(): Promise<void> {
    this.#walkedSequence = this.#store.lastSequence();
    this.#walkedMs = performance.now();
    const { objects, recorded, unreadable, problems } = await crossmatchPending({
      store: this.#store,
      writer: this.#writer,
      pool: this.#pool,
      provenance: () => provenanceSetOf(this.#config),
      batchSize: BATCH_SIZE,
      signal: this.#stop.signal,
    });
    this.#log('crossmatched', { objects, recorded, unreadable, problems });
  }
}
