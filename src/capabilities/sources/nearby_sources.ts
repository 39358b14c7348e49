/** Searches the catalogs for sources near a position. A thread of its own reads the catalogs. */
import type { Budget } from '../../core/base/budget.ts';
import type { ClientAdmission, ClientSlots } from '../../core/base/client_admission.ts';
import { messageOf } from '../../core/base/error_text.ts';
import type { Log } from '../../core/base/log.ts';
import { Unavailable } from '../../core/base/refusal.ts';
import { withTimeout } from '../../core/base/timeout.ts';
import type { Config } from '../../core/config/config.ts';
import { crossmatchPool } from '../../core/crossmatch/crossmatch_pool.ts';
import type { Pool, TaskData } from '../../core/pool/pool.ts';
import type { SourcesAnswer, SourcesTask } from './near_task.ts';

/** The maximum number of waiting searches, half of them for one client. Each takes about 100 ms. */
const MAX_WAITING = 64;
/** The maximum wait for the thread when closing. */
const CLOSE_MS = 2000;

export interface SourcesAsked extends TaskData<SourcesTask> {
  /** The name under which the search counts against the client's share. */
  readonly client: string;
}

/** The thread is started by the first search. */
export class NearbySources {
  readonly #config: Config;
  readonly #log: Log;
  readonly #slots: ClientSlots;
  #pool: Pool | undefined;
  #isClosed = false;

  constructor(config: Config, log: Log, admission: ClientAdmission) {
    this.#config = config;
    this.#log = log;
    const isFull = 'too many searches of the catalogs are waiting';
    this.#slots = admission.slots({ slots: 1, isFull, maxWaiting: MAX_WAITING });
  }

  /**
   * @throws Unavailable if too many searches are waiting, this one takes longer than the budget, or the database cannot
   * be read
   */
  async near({ client, ...asked }: SourcesAsked, budget: Budget): Promise<SourcesAnswer> {
    if (this.#isClosed) throw new Unavailable('the service is stopping');
    const leave = await this.#slots.enter(client, budget.remainingMs);
    const beganMs = performance.now();
    this.#pool ??= crossmatchPool(this.#config, 1);
    const task: SourcesTask = { module: 'src/capabilities/sources/near_task', kind: 'sources', ...asked };
    const searched = this.#pool.run(task).catch(error => this.#fail(error));
    // The thread still completes the search, even if its client has stopped waiting.
    const left = () => leave((performance.now() - beganMs) / 1000);
    searched.then(left, left);
    const answer = await withTimeout(searched, budget.remainingMs);
    if (!answer) throw new Unavailable('the catalogs take too long to read');
    for (const reason of answer.problems) this.#log('catalog_unreadable', { error: reason });
    return answer;
  }

  #fail(error: unknown): never {
    this.#log('sources_failed', { error: messageOf(error) });
    throw new Unavailable('the catalogs cannot be searched');
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await withTimeout(Promise.resolve(this.#pool?.close()), CLOSE_MS);
  }
}
