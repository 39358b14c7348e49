/**
 * Queries to pool tasks. A dozen go as one task, or as many as have arrived when the event loop has read all that there was to read; what arrives
 * while the threads are busy, when one is done: nothing waits for company, and the more there is to do, the larger the batches. (Without
 * tasks in the middle of a turn, at 32 connections the thread and its workers waited for each other in turn: a third fewer requests.)
 *
 * A query that may read many objects travels alone, in a lane of its own. A thread works on it in steps, between which it takes what the
 * quick lane sends: neither waits for the other.
 */
import { packQueries } from '../../workers/messages.ts';
import { type Pool, PoolError } from '../../workers/pool.ts';
import type { PublishedGeneration, Query, QueryAnswers, QueryOutcome } from '../../workers/tasks.ts';
import { ApiError, tooExpensive, unavailable } from '../http/errors.ts';
import type { Log } from '../log.ts';
import type { Body } from './body.ts';
import type { Budget } from './budget.ts';

/** A query that may read more objects than this is not quick. */
const QUICK_OBJECTS = 200;
/** What one position or name counts for. */
const OBJECTS_PER_POSITION = 20;
/** A cone up to here is taken for one of few objects, whatever it may list. */
const QUICK_RADIUS_ARCSEC = 60;
/** Queries of one task. */
const MAX_BATCH = 64;
/** Queries that wait for a thread, in each lane: a second or two of work. */
const MAX_QUEUED = { quick: 4096, long: 256 };
/** Quick queries for each thread that are worth a task of their own: it begins while this thread parses what else has arrived. */
const ENOUGH = 12;
/** Tasks in a thread at once, of each lane. Of quick ones the next is there when one is done; long ones take turns. */
const TASKS_PER_THREAD = { quick: 3, long: 4 };
/** How often the queries in flight are checked for spent budgets. */
const SWEEP_MS = 50;

/** What a pool must be able to hold in a thread at once. */
export const QUERY_TASKS_PER_THREAD = TASKS_PER_THREAD.quick + TASKS_PER_THREAD.long;

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
  readonly resolve: (body: Body) => void;
  readonly reject: (error: unknown) => void;
  /** Whether somebody waits for it. */
  isOpen: boolean;
}

type Batch = readonly Job[];

interface Lane {
  /** About in the order of their deadlines. */
  readonly queue: Job[];
  /** In the threads. */
  readonly running: Batch[];
  readonly maxQueued: number;
  readonly maxBatch: number;
  /** With so many in the queue, tasks go out without waiting for the end of the event loop's turn. */
  readonly enough: number;
  readonly maxRunning: number;
}

export class Batcher {
  readonly #options: BatcherOptions;
  readonly #quick: Lane;
  readonly #long: Lane;
  #isDispatching = false;
  #openJobs = 0;
  #sweeper: ReturnType<typeof setInterval> | undefined;

  constructor(options: BatcherOptions) {
    const { pool, maxQueued } = options;
    const lane = (name: LaneName, maxBatch: number, enough: number): Lane => {
      const maxRunning = pool.threads * TASKS_PER_THREAD[name];
      return { queue: [], running: [], maxQueued: maxQueued ?? MAX_QUEUED[name], maxBatch, enough, maxRunning };
    };
    this.#options = options;
    this.#quick = lane('quick', MAX_BATCH, ENOUGH * pool.threads);
    this.#long = lane('long', 1, 1);
  }

  /**
   * The body of a query's answer. Settles when the budget is spent at the latest; a query that no thread has taken by then is never run.
   * @throws ApiError `query_too_expensive`, or `service_unavailable` when the database cannot be read, the queue is full, or the budget is
   *   spent in it; any other error is a fault of our own
   */
  run(query: Query, budget: Budget): Promise<Body> {
    const lane = laneOf(query) === 'quick' ? this.#quick : this.#long;
    return new Promise((resolve, reject) => {
      if (lane.queue.length >= lane.maxQueued) throw unavailable('too many queries are waiting');
      lane.queue.push({ query, budget, resolve, reject, isOpen: true });
      this.#openJobs++;
      this.#sweeper ??= setInterval(() => this.#sweep(), SWEEP_MS);
      if (lane.queue.length >= lane.enough) this.#dispatch(lane);
      else this.#dispatchSoon();
    });
  }

  /** When the event loop has read what has arrived: then a batch has all of it. */
  #dispatchSoon(): void {
    if (this.#isDispatching) return;
    this.#isDispatching = true;
    setImmediate(() => {
      this.#isDispatching = false;
      this.#dispatch(this.#quick);
      this.#dispatch(this.#long);
    });
  }

  #dispatch(lane: Lane): void {
    const { threads } = this.#options.pool;
    while (lane.queue.length > 0 && lane.running.length < lane.maxRunning) {
      const batch = this.#takeBatch(lane, Math.min(lane.maxBatch, Math.ceil(lane.queue.length / threads)));
      if (batch.length > 0) void this.#runBatch(lane, batch);
    }
  }

  /** The next queries, at most `max`, but for those that nobody waits for any more. */
  #takeBatch({ queue }: Lane, max: number): Job[] {
    return queue.splice(0, max).filter(job => job.isOpen);
  }

  async #runBatch({ running }: Lane, batch: Batch): Promise<void> {
    running.push(batch);
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
      running.splice(running.indexOf(batch), 1);
      this.#dispatchSoon();
    }
  }

  #settle(batch: Batch, { bodies, ends, outcomes, faults }: QueryAnswers, generation: number): void {
    let start = 0;
    batch.forEach((job, i) => {
      const end = ends[i]!;
      if (outcomes[i] !== 'ok') this.#fail(job, this.#failure(outcomes[i]!, faults[i], generation));
      else if (job.budget.spent) this.#fail(job, tooExpensive());
      else if (this.#close(job)) job.resolve(part(bodies, start, end));
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
    const wasOpen = job.isOpen;
    job.isOpen = false;
    if (wasOpen && --this.#openJobs === 0) {
      clearInterval(this.#sweeper);
      this.#sweeper = undefined;
    }
    return wasOpen;
  }

  /** A thread checks its queries' time itself; this is for what waits in the queue, or in a thread that does not answer. */
  #sweep(): void {
    for (const { queue, running } of [this.#quick, this.#long]) {
      for (const batch of running) for (const job of batch) if (job.budget.spent) this.#fail(job, tooExpensive());
      for (const job of queue) {
        if (!job.budget.spent) break;
        if (this.#close(job)) job.reject(unavailable('the query had to wait for too long'));
      }
    }
  }
}

function part(bodies: string | ArrayBuffer, start: number, end: number): Body {
  return typeof bodies === 'string' ? bodies.slice(start, end) : new Uint8Array(bodies, start, end - start);
}

export type LaneName = 'quick' | 'long';

/** The lane that a query goes in. */
export function laneOf(query: Query): LaneName {
  return objectsOf(query) <= QUICK_OBJECTS ? 'quick' : 'long';
}

/** About how many objects a query may have to read. */
function objectsOf(query: Query): number {
  switch (query.kind) {
    case 'cone':
    case 'recent':
      return query.pageSize;
    case 'voCone':
      return query.radiusArcsec <= QUICK_RADIUS_ARCSEC ? OBJECTS_PER_POSITION : query.maxRecords;
    case 'moc':
      return Number.POSITIVE_INFINITY;
    case 'lookup':
    case 'count':
      return query.inputs.reduce((sum, { kind }) => sum + (kind === 'id' ? 1 : OBJECTS_PER_POSITION), 0);
  }
}
