/**
 * Queries to pool tasks. What has queued while the threads were busy goes as one task when one is free; when one is free already, a
 * query goes at once and alone.
 */
import { packQueries } from '../../workers/messages.ts';
import { type Pool, PoolError } from '../../workers/pool.ts';
import type { PublishedGeneration, Query, QueryAnswers, QueryOutcome } from '../../workers/tasks.ts';
import { ApiError, tooExpensive, unavailable } from '../http/errors.ts';
import type { Log } from '../log.ts';
import type { Budget } from './budget.ts';

/** Queries of one task. */
const MAX_BATCH = 64;
/** Objects that the queries of one task may list together, unless it is a single query. */
const MAX_BATCH_OBJECTS = 6400;
/** What one position or name counts for. */
const OBJECTS_PER_POSITION = 100;
/** Queries that wait for a thread: a second or two of work. */
const MAX_QUEUED = 4096;
/** How often the queries in flight are checked for spent budgets. */
const SWEEP_MS = 50;

export interface BatcherOptions {
  /** Made with a data directory and the service's facts. */
  readonly pool: Pool;
  /** The generation that queries are answered from now; undefined while there is none. */
  readonly generation: () => PublishedGeneration | undefined;
  /** Called when a generation, by its number, turns out not to be of the database. */
  readonly onStaleIndex: (generation: number) => void;
  readonly log: Log;
  readonly maxQueued?: number;
  /** Called with the number of queries of each task. */
  readonly onBatch?: (queries: number) => void;
}

interface Job {
  readonly query: Query;
  readonly budget: Budget;
  readonly resolve: (body: Uint8Array<ArrayBuffer>) => void;
  readonly reject: (error: unknown) => void;
  /** Whether a thread has it. */
  isStarted: boolean;
}

export class Batcher {
  readonly #options: BatcherOptions;
  readonly #maxQueued: number;
  readonly #queue: Job[] = [];
  /** Queued or in a thread, and not answered; about in the order of their deadlines. */
  readonly #open = new Set<Job>();
  #tasks = 0;
  #sweeper: ReturnType<typeof setInterval> | undefined;

  constructor(options: BatcherOptions) {
    this.#options = options;
    this.#maxQueued = options.maxQueued ?? MAX_QUEUED;
  }

  /**
   * The body of a query's answer. Settles when the budget is spent at the latest; a query that no thread has taken by then is never run.
   * @throws ApiError `query_too_expensive`, or `service_unavailable` when the database cannot be read, the queue is full, or the budget is
   *   spent in it; any other error is a fault of our own
   */
  async run(query: Query, budget: Budget): Promise<Uint8Array<ArrayBuffer>> {
    if (this.#queue.length >= this.#maxQueued) throw unavailable('too many queries are waiting');
    const body = await new Promise<Uint8Array<ArrayBuffer>>((resolve, reject) => {
      const job = { query, budget, resolve, reject, isStarted: false };
      this.#open.add(job);
      this.#queue.push(job);
      this.#sweeper ??= setInterval(() => this.#sweep(), SWEEP_MS);
      this.#dispatch();
    });
    if (budget.spent) throw tooExpensive();
    return body;
  }

  #dispatch(): void {
    const { pool } = this.#options;
    while (this.#queue.length > 0 && this.#tasks < pool.threads * pool.tasksPerThread) {
      const batch = this.#takeBatch(Math.min(MAX_BATCH, Math.ceil(this.#queue.length / pool.threads)));
      if (batch.length > 0) void this.#runBatch(batch);
    }
  }

  /** The next queries that are still waited for: at most `max`, and not too much work together. */
  #takeBatch(max: number): Job[] {
    const batch: Job[] = [];
    let taken = 0;
    let objects = 0;
    for (const job of this.#queue) {
      if (batch.length >= max) break;
      const cost = objectsOf(job.query);
      if (batch.length > 0 && objects + cost > MAX_BATCH_OBJECTS) break;
      taken++;
      if (!this.#open.has(job)) continue;
      job.isStarted = true;
      batch.push(job);
      objects += cost;
    }
    this.#queue.splice(0, taken);
    return batch;
  }

  async #runBatch(batch: readonly Job[]): Promise<void> {
    this.#tasks++;
    this.#options.onBatch?.(batch.length);
    try {
      const generation = this.#options.generation();
      if (!generation) throw unavailable('the index is not ready');
      const queries = packQueries(batch.map(({ query, budget }) => ({ query, budgetMs: budget.remainingMs })));
      const answers = await this.#options.pool.run({ kind: 'query', generation, queries }, { transferList: [queries] });
      this.#settle(batch, answers, generation.number);
    } catch (error) {
      for (const job of batch) this.#fail(job, error instanceof PoolError ? this.#poolFailure(error) : error);
    } finally {
      this.#tasks--;
      this.#dispatch();
    }
  }

  #settle(batch: readonly Job[], { bytes, ends, outcomes, faults }: QueryAnswers, generation: number): void {
    let start = 0;
    batch.forEach((job, i) => {
      const end = ends[i]!;
      if (outcomes[i] === 'ok') this.#close(job) && job.resolve(new Uint8Array(bytes, start, end - start));
      else this.#fail(job, this.#failure(outcomes[i]!, faults[i], generation));
      start = end;
    });
  }

  /** The error of an outcome; what the client must not see goes to the log. */
  #failure(outcome: QueryOutcome, fault: string | undefined, generation: number): Error {
    switch (outcome) {
      case 'too_expensive':
        return tooExpensive();
      case 'unreadable':
        this.#options.log('database_unreadable', { error: fault });
        return unavailable('the database cannot be read');
      case 'stale_index':
        this.#options.log('index_stale', { error: fault });
        this.#options.onStaleIndex(generation);
        return unavailable('the index is being rebuilt');
      default:
        return new Error(fault);
    }
  }

  #poolFailure(error: PoolError): Error {
    this.#options.log('pool_failed', { error: error.message });
    return unavailable('a part of the service has failed');
  }

  /** Whatever could not be looked at within the budget was too expensive. */
  #fail(job: Job, error: unknown): void {
    if (!this.#close(job)) return;
    const late = job.budget.spent && error instanceof ApiError && error.code === 'service_unavailable';
    job.reject(late ? tooExpensive() : error);
  }

  /** Whether the job was still waited for. */
  #close(job: Job): boolean {
    const wasOpen = this.#open.delete(job);
    if (this.#open.size === 0) {
      clearInterval(this.#sweeper);
      this.#sweeper = undefined;
    }
    return wasOpen;
  }

  /** A thread checks its queries' time itself; this is for what waits in the queue, or in a thread that does not answer. */
  #sweep(): void {
    for (const job of this.#open) {
      if (!job.budget.spent) break;
      if (job.isStarted) this.#fail(job, tooExpensive());
      else this.#close(job) && job.reject(unavailable('the query had to wait for too long'));
    }
  }
}

/** About how many objects a query may have to read. */
function objectsOf(query: Query): number {
  switch (query.kind) {
    case 'cone':
    case 'recent':
      return query.pageSize;
    case 'lookup':
    case 'count':
      return query.inputs.reduce((sum, { kind }) => sum + (kind === 'id' ? 1 : OBJECTS_PER_POSITION), 0);
  }
}
