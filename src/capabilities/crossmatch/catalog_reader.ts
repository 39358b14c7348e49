/** Reads the catalogs for waiting requests, one request at a time, in a thread of its own. */
import type { Budget } from '../../core/base/budget.ts';
import type { ClientAdmission, ClientSlots } from '../../core/base/client_admission.ts';
import { messageOf } from '../../core/base/error_text.ts';
import type { Log } from '../../core/base/log.ts';
import { Unavailable } from '../../core/base/refusal.ts';
import { withTimeout } from '../../core/base/timeout.ts';
import type { Config } from '../../core/config/config.ts';
import type { Pool, Task } from '../../core/pool/pool.ts';
import { crossmatchPool } from './crossmatch_pool.ts';

interface CatalogAnswer {
  /** Why files could not be read, for the log. */
  readonly problems: readonly string[];
}

interface CatalogReading {
  /** The maximum number of waiting requests, half of them for one client. */
  readonly maxWaiting: number;
  readonly isFull: string;
  /** The message of a request that takes longer than its budget. */
  readonly tooLong: string;
  /** The logged event of an internal error. */
  readonly failed: string;
}

/** The maximum wait for the thread when closing. */
const CLOSE_MS = 2000;

/** The thread is started by the first request. */
export class CatalogReader {
  readonly #config: Config;
  readonly #log: Log;
  readonly #reading: CatalogReading;
  readonly #slots: ClientSlots;
  #pool: Pool | undefined;
  #isClosed = false;

  constructor(config: Config, log: Log, admission: ClientAdmission, reading: CatalogReading) {
    this.#config = config;
    this.#log = log;
    this.#reading = reading;
    const { isFull, maxWaiting } = reading;
    this.#slots = admission.slots({ slots: 1, isFull, maxWaiting });
  }

  /**
   * @param client the name under which the request counts against the client's share
   * @throws Unavailable if too many requests wait, this one takes longer than the budget, or the database cannot be read
   */
  async run<Answer extends CatalogAnswer>(client: string, task: Task<Answer>, budget: Budget): Promise<Answer> {
    if (this.#isClosed) throw new Unavailable('the service is stopping');
    const leave = await this.#slots.enter(client, budget.remainingMs);
    const beganMs = performance.now();
    this.#pool ??= crossmatchPool(this.#config, 1);
    const work = this.#pool.run(task).catch(error => {
      this.#log(this.#reading.failed, { error: messageOf(error) });
      throw new Unavailable('the catalogs cannot be searched');
    });
    // The thread still completes the work, even if its client has stopped waiting.
    const left = () => leave((performance.now() - beganMs) / 1000);
    work.then(left, left);
    const answer = await withTimeout(work, budget.remainingMs);
    if (!answer) throw new Unavailable(this.#reading.tooLong);
    for (const reason of answer.problems) this.#log('catalog_unreadable', { error: reason });
    return answer;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await withTimeout(Promise.resolve(this.#pool?.close()), CLOSE_MS);
  }
}
