/** The service's map of the sky: counted when the service starts, then updated in a thread of its own. */
import type { Budget } from '../../core/base/budget.ts';
import type { ClientAdmission, ClientSlots } from '../../core/base/client_admission.ts';
import { messageOf } from '../../core/base/error_text.ts';
import type { Log } from '../../core/base/log.ts';
import { Unavailable } from '../../core/base/refusal.ts';
import { pause, withTimeout } from '../../core/base/timeout.ts';
import { Pool, type TaskData } from '../../core/pool/pool.ts';
import { PoolError } from '../../core/pool/pool_error.ts';
import type { StoreThreadData } from '../../core/store/thread_store.ts';
import type { FollowSkyTask, SkyMapAnswer, SkyMapTask, SkyProgress } from './map_thread.ts';

/** The interval between reads of the journal. */
const POLL_MS = 500;
/** The time for which the first answers wait for the count to finish. It is enough for a small database. */
const PATIENCE_MS = 1000;
/** The maximum number of answers that wait for the thread, half of them for one client. Each takes about 10 ms. */
const MAX_WAITING = 128;
/**
 * The maximum wait for the thread when closing. A task takes about 100 ms; a hung task must not prevent the service
 * from saving its index.
 */
const CLOSE_MS = 2000;

/** A thread that takes longer than this for a task counts as hung. */
const DRAW_TIMEOUT_MS = 30_000;
const FOLLOW_TIMEOUT_MS = 60_000;
const FOLLOW: FollowSkyTask = { module: 'src/capabilities/sky_map/map_thread', kind: 'followSky' };

interface SkyMapOptions extends StoreThreadData {
  readonly log: Log;
  readonly admission: ClientAdmission;
}

export interface SkyMapAsked extends TaskData<SkyMapTask> {
  /** The name under which the answer counts against the client's share. */
  readonly client: string;
}

/** The map starts no thread and reads nothing until the first call of `start` or `answer`. */
export class SkyMap {
  readonly #options: SkyMapOptions;
  readonly #stop = new AbortController();
  #pool: Pool | undefined;
  #following: Promise<void> | undefined;
  #progress: SkyProgress | undefined;
  #failed = false;
  readonly #slots: ClientSlots;
  /** Settles when the first count has finished or failed, or after `PATIENCE_MS`. */
  readonly #begun = Promise.withResolvers<void>();

  constructor(options: SkyMapOptions) {
    this.#options = options;
    this.#slots = options.admission.slots({
      slots: 1,
      isFull: 'too many maps are being drawn',
      maxWaiting: MAX_WAITING,
    });
  }

  /** Starts counting. Only one thread per process may call this. */
  start(): void {
    const { dataDir } = this.#options;
    this.#pool ??= new Pool({ threads: 1, isBackground: true, threadData: { dataDir } satisfies StoreThreadData });
    this.#following ??= this.#follow(this.#pool);
  }

  /**
   * Returns a map.
   * @throws Unavailable if the budget is spent, the database is still being counted for the first time (unless
   * `isPartial`), the database cannot be read, or too many answers are waiting
   */
  async answer({ client, ...query }: SkyMapAsked, budget: Budget): Promise<SkyMapAnswer> {
    if (this.#stop.signal.aborted) throw new Unavailable('the service is stopping');
    this.start();
    // Clients request a partial answer again soon, so this request need not wait.
    await withTimeout(this.#begun.promise, query.isPartial && this.#progress ? 0 : budget.remainingMs);
    if (this.#failed) throw new Unavailable('the database cannot be read');
    const leave = await this.#slots.enter(client, budget.remainingMs);
    const beganMs = performance.now();
    const task: SkyMapTask = { module: 'src/capabilities/sky_map/map_thread', kind: 'skyMap', ...query };
    const drawing = this.#pool!.run(task, { timeoutMs: DRAW_TIMEOUT_MS });
    // The thread still draws the map, even if its client has stopped waiting.
    const left = () => leave((performance.now() - beganMs) / 1000);
    drawing.then(left, left);
    const drawn = drawing.then(
      answer => ({ answer }),
      error => this.#fail(error),
    );
    const outcome = await withTimeout(drawn, budget.remainingMs);
    if (!outcome) throw new Unavailable('the map is taking too long');
    if (!outcome.answer) throw new Unavailable(`the objects are being counted for the map: ${this.#counted()}`);
    return outcome.answer;
  }

  /** Stops the thread after its current task. A thread that does not stop remains until the process ends. */
  async close(): Promise<void> {
    this.#stop.abort();
    await withTimeout(Promise.all([this.#following, this.#pool?.close()]), CLOSE_MS);
  }

  #counted(): string {
    const { taken = 0, objects = 0 } = this.#progress ?? {};
    return objects === 0 ? 'none yet' : `${taken} of ${objects}`;
  }

  /** Logs the cause of a failure in the thread, and throws the error for the client. */
  #fail(error: unknown): never {
    this.#logFailure(error);
    throw new Unavailable(error instanceof PoolError ? 'the map is being drawn anew' : 'the database cannot be read');
  }

  #logFailure(error: unknown): void {
    const event = error instanceof PoolError ? 'pool_failed' : 'database_unreadable';
    this.#options.log(event, { error: messageOf(error) });
  }

  async #follow(pool: Pool): Promise<void> {
    const { signal } = this.#stop;
    let startMs: number | undefined;
    while (!signal.aborted) {
      try {
        const progress = await pool.run(FOLLOW, { timeoutMs: FOLLOW_TIMEOUT_MS });
        this.#progress = progress;
        this.#failed = false;
        const { saveError } = progress;
        if (saveError !== undefined) this.#options.log('sky_map_not_saved', { error: saveError });
        startMs ??= performance.now();
        if (this.#progress.isCounted || performance.now() > startMs + PATIENCE_MS) this.#begun.resolve();
      } catch (error) {
        if (!this.#failed && !signal.aborted) this.#logFailure(error);
        this.#failed = true;
        this.#begun.resolve();
      }
      if (this.#failed || this.#progress?.isCurrent) await pause(POLL_MS, signal);
    }
  }
}
