/** Reports on samples. A thread of its own reads the catalogs. */
import type { Budget } from '../../core/base/budget.ts';
import type { ClientAdmission, ClientSlots } from '../../core/base/client_admission.ts';
import { messageOf } from '../../core/base/error_text.ts';
import type { Log } from '../../core/base/log.ts';
import { Unavailable } from '../../core/base/refusal.ts';
import { withTimeout } from '../../core/base/timeout.ts';
import type { Config } from '../../core/config/config.ts';
import { crossmatchPool } from '../../core/crossmatch/crossmatch_pool.ts';
import type { Pool, TaskData } from '../../core/pool/pool.ts';
import type { SampleAnswer, SampleTask } from './sample_task.ts';

/** The maximum number of waiting reports, half of them for one client. Each takes up to the budget of a request. */
const MAX_WAITING = 16;
/** The maximum wait for the thread when closing. */
const CLOSE_MS = 2000;

export interface SampleAsked extends TaskData<SampleTask> {
  /** The name under which the report counts against the client's share. */
  readonly client: string;
}

/** The thread is started by the first report. */
export class Samples {
  readonly #config: Config;
  readonly #log: Log;
  readonly #slots: ClientSlots;
  #pool: Pool | undefined;
  #isClosed = false;

  constructor(config: Config, log: Log, admission: ClientAdmission) {
    this.#config = config;
    this.#log = log;
    this.#slots = admission.slots({ slots: 1, isFull: 'too many reports are waiting', maxWaiting: MAX_WAITING });
  }

  /** @throws Unavailable if too many reports wait, this one takes longer than the budget, or the database cannot be read */
  async report({ client, ...asked }: SampleAsked, budget: Budget): Promise<SampleAnswer> {
    if (this.#isClosed) throw new Unavailable('the service is stopping');
    const leave = await this.#slots.enter(client, budget.remainingMs);
    const beganMs = performance.now();
    this.#pool ??= crossmatchPool(this.#config, 1);
    const task: SampleTask = { module: 'src/capabilities/sample/sample_task', kind: 'sample', ...asked };
    const reported = this.#pool.run(task).catch(error => {
      this.#log('sample_failed', { error: messageOf(error) });
      throw new Unavailable('the catalogs cannot be searched');
    });
    // The thread still completes the report, even if its client has stopped waiting.
    const left = () => leave((performance.now() - beganMs) / 1000);
    reported.then(left, left);
    const answer = await withTimeout(reported, budget.remainingMs);
    if (!answer) throw new Unavailable('the catalogs take too long to read: send fewer inputs');
    for (const reason of answer.problems) this.#log('catalog_unreadable', { error: reason });
    return answer;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await withTimeout(Promise.resolve(this.#pool?.close()), CLOSE_MS);
  }
}
