/**
 * The jobs of one process. Each kind of job has its slots. Each job is stored at every step, and removed
 * when its retention time is over.
 */
import { messageOf } from '../../core/base/error_text.ts';
import { discard } from '../../core/base/files.ts';
import type { Log } from '../../core/base/log.ts';
import { Unavailable } from '../../core/base/refusal.ts';
import { Share } from '../../core/base/share.ts';
import { MemoryTaken } from '../uploads/child_memory.ts';
import { isOver, type Job, type JobRequest, type JobResult } from './job.ts';
import type { JobStore } from './job_store.ts';

/** A failure whose message is shown to the sender of the request. */
export class JobError extends Error {
  override name = 'JobError';
}

/**
 * Runs a job: reads its body from `input`, and writes its result to `output`.
 * @throws JobError
 */
export type JobRunner = (job: Job & JobRequest, paths: JobPaths, ends: AbortSignal) => Promise<JobResult>;

export interface JobKind {
  readonly run: JobRunner;
  /** The maximum number of jobs of this kind that run at once. One client has at most half of them, rounded up. */
  readonly slots: number;
}

export interface JobPaths {
  /** The file is removed when the result is no longer needed. */
  readonly input: string;
  readonly output: string;
  readonly maxOutputBytes: number;
}

interface JobLimits {
  /** The maximum number of stored jobs, including finished ones. */
  readonly maxJobs: number;
  /** The maximum number of stored jobs per client. */
  readonly maxJobsOfClient: number;
  /**
   * The maximum bytes of all jobs. A client's share of the bytes equals its share of the jobs, but is always enough for
   * one job.
   */
  readonly maxBytes: number;
  /** The bytes that jobs can still use on the disk, if they may be fewer. */
  readonly spareBytes?: () => number;
  /** The retention time of a job, from its creation on. */
  readonly keptMs: number;
  /** The time limit of a job. */
  readonly runMs: number;
  /** The interval between checks for jobs to remove, or to start again. */
  readonly sweepMs?: number;
}

/** A step of a job that a serving thread requests. */
export type JobStep =
  | ({
      readonly step: 'create';
      readonly kind: string;
      /** The address of the client. */
      readonly client: string;
      /** See `Job.session`. */
      readonly session?: string;
      /** The bytes of its body, which has arrived completely. */
      readonly bytes: number;
    } & JobRequest)
  /** Changes a job that has not started: adds parameters, or replaces those with the same names. */
  | {
      readonly step: 'set';
      readonly id: string;
      readonly parameters?: JobRequest['parameters'];
      readonly runSeconds?: number;
    }
  /** @param request replaces the request that the job was created with */
  | { readonly step: 'run'; readonly id: string; readonly request?: unknown }
  | { readonly step: 'abort' | 'remove'; readonly id: string }
  | { readonly step: 'keep'; readonly id: string; readonly destructionMs: number };

/** A job with this many starts has crashed the service each time. */
const MAX_ATTEMPTS = 2;
/** A job that has not started is removed after this time, for example if its body has not arrived. */
const PENDING_MS = 600_000;
const SWEEP_MS = 60_000;

export class JobQueue {
  readonly #store: JobStore;
  readonly #kinds: Readonly<Record<string, JobKind>>;
  readonly #limits: JobLimits;
  readonly #log: Log;
  readonly #livePids: () => ReadonlySet<number> | undefined;
  readonly #waiting: Pick<Job, 'id' | 'kind' | 'client'>[] = [];
  /** The client of the job that was started last, by kind. */
  readonly #lastClients = new Map<string, string>();
  /** The running jobs by id, each with the controller that aborts it. */
  readonly #running = new Map<string, Pick<Job, 'kind' | 'client'> & { readonly ends: AbortController }>();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** @param livePids returns the ids of the processes that use the data directory; undefined if they are unknown */
  constructor(
    store: JobStore,
    kinds: Readonly<Record<string, JobKind>>,
    limits: JobLimits,
    log: Log,
    livePids: () => ReadonlySet<number> | undefined,
  ) {
    this.#store = store;
    this.#kinds = kinds;
    this.#limits = limits;
    this.#log = log;
    this.#livePids = livePids;
  }

  /** Takes over the jobs of an earlier process, including those that were running. */
  start(): void {
    const look = () => {
      this.#safely(() => this.#sweep());
      this.#safely(() => this.#resume());
    };
    this.#timer = setInterval(look, this.#limits.sweepMs ?? SWEEP_MS);
    this.#timer.unref();
    this.#safely(() => {
      for (const { id, phase } of this.#own()) if (phase === 'PENDING') this.#store.remove(id);
    });
    look();
  }

  /** @throws Unavailable if there is no room for another job */
  step(asked: JobStep): Job | null {
    if (this.#isClosed) throw new Unavailable('the service is stopping');
    if (asked.step === 'create') return this.#create(asked);
    const job = this.#store.read(asked.id);
    if (!job) return null;
    switch (asked.step) {
      case 'run':
        if (job.phase !== 'PENDING') return job;
        if (asked.request !== undefined) this.#setRequest(job, { request: asked.request });
        return this.#enqueue(this.#begun(job));
      case 'set':
        return job.phase === 'PENDING' ? this.#changed(job, asked) : job;
      case 'abort':
        return isOver(job.phase) ? job : this.#over({ ...job, phase: 'ABORTED' });
      case 'keep':
        return this.#write({
          ...job,
          destructionMs: Math.min(asked.destructionMs, job.createdMs + this.#limits.keptMs),
        });
      case 'remove':
        this.#end(job.id);
        this.#store.remove(job.id);
        return null;
    }
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
    for (const [id, { ends }] of this.#running) {
      this.#safely(() => {
        const job = this.#store.read(id);
        // The next process starts the job again. This start does not count, because the job did not crash the process.
        if (job?.phase === 'EXECUTING') this.#write({ ...job, phase: 'QUEUED', attempts: job.attempts - 1 });
      });
      ends.abort();
    }
  }

  #create({ kind, client, session, request, parameters, bytes }: JobStep & { step: 'create' }): Job {
    const { maxJobs, maxJobsOfClient, maxBytes, keptMs } = this.#limits;
    const shared = this.#sharedBytes * (maxJobsOfClient / maxJobs);
    let all = this.#sweep();
    const own = all.filter(job => job.client === client);
    const isTooMuch = () => own.length > 0 && this.#bytesOf(own) + bytes > shared;
    if (own.length >= maxJobsOfClient || isTooMuch())
      throw new Unavailable('the jobs of this client use all of their disk space: remove some of them');
    for (;;) {
      const why =
        all.length >= maxJobs
          ? 'the maximum number of jobs is stored'
          : this.#store.bytes() + awaitedBytes(all) + bytes > maxBytes && 'all disk space for jobs is in use';
      if (!why) break;
      const given = hoarded(all, client);
      if (!given) throw new Unavailable(why);
      this.#store.remove(given.id);
      all = all.filter(({ id }) => id !== given.id);
    }
    const createdMs = Date.now();
    return this.#store.create(
      {
        kind,
        phase: 'PENDING',
        pid: process.pid,
        client,
        ...(session !== undefined && { session }),
        maxInputBytes: bytes,
        createdMs,
        destructionMs: createdMs + Math.min(keptMs, PENDING_MS),
        attempts: 0,
      },
      { request, parameters },
    );
  }

  /** The bytes that all jobs together may use: those on the disk, and those that may still be added. */
  get #sharedBytes(): number {
    const { maxBytes, spareBytes } = this.#limits;
    return Math.min(maxBytes, this.#store.bytes() + (spareBytes?.() ?? maxBytes));
  }

  /** The bytes that jobs use, and the bytes of bodies that are still arriving. */
  #bytesOf(jobs: readonly Job[]): number {
    return sumOf(jobs, ({ id }) => this.#store.bytes(id)) + awaitedBytes(jobs);
  }

  /** The result of a job may use the bytes that are free in total, and free in its client's share. */
  #maxOutputBytes({ client }: Job): number {
    const maxBytes = this.#sharedBytes;
    const own = this.#bytesOf(this.#store.all().filter(job => job.client === client));
    return Math.max(0, Math.min(maxBytes - this.#store.bytes(), maxBytes / 2 - own));
  }

  /** The job with its retention time restarted, unless the client has set that time. */
  #begun(job: Job): Job {
    const { createdMs, destructionMs } = job;
    const { keptMs } = this.#limits;
    const isSet = destructionMs !== createdMs + Math.min(keptMs, PENDING_MS);
    return { ...job, destructionMs: isSet ? destructionMs : createdMs + keptMs };
  }

  #changed(job: Job, { parameters, runSeconds }: JobStep & { step: 'set' }): Job {
    if (parameters) this.#setRequest(job, { parameters });
    const change = runSeconds !== undefined && { runSeconds: Math.min(runSeconds, this.#limits.runMs / 1000) };
    return this.#write({ ...job, ...change });
  }

  /** Replaces the request, or adds parameters. The next write of the job makes that durable. */
  #setRequest({ id }: Job, { request, parameters }: Partial<JobRequest>): void {
    const stored = this.#store.request(id);
    this.#store.setRequest(id, {
      request: request === undefined ? (stored?.request ?? null) : request,
      parameters: { ...stored?.parameters, ...parameters },
    });
  }

  #enqueue(job: Job): Job {
    const queued = this.#write({ ...job, phase: 'QUEUED' });
    this.#waiting.push(queued);
    this.#next();
    return queued;
  }

  #next(): void {
    while (!this.#isClosed) {
      const next = this.#takeNext();
      if (!next) return;
      const { id, kind, client } = next;
      const job = this.#store.read(id);
      if (job?.phase !== 'QUEUED') continue;
      const ends = new AbortController();
      this.#running.set(id, { kind, client, ends });
      this.#lastClients.set(kind, client);
      void this.#carryOut(job, ends.signal)
        // The disk is full, for example. The job is started again later.
        .catch(error => this.#log('job_failed', { kind, error: messageOf(error) }))
        .finally(() => {
          this.#running.delete(id);
          this.#safely(() => this.#next());
        });
    }
  }

  /** The job that has waited longest for a slot of its kind. Jobs of a client other than the last one come first. */
  #takeNext(): Pick<Job, 'id' | 'kind' | 'client'> | undefined {
    const free = this.#waiting.filter(job => this.#mayRun(job));
    const next = free.find(({ kind, client }) => client !== this.#lastClients.get(kind)) ?? free[0];
    if (next) this.#waiting.splice(this.#waiting.indexOf(next), 1);
    return next;
  }

  #mayRun({ kind, client }: Pick<Job, 'kind' | 'client'>): boolean {
    const running = this.#running.values().filter(job => job.kind === kind);
    return new Share(this.#kinds[kind]?.slots ?? 1, running).left(client) > 0;
  }

  async #carryOut(queued: Job, ends: AbortSignal): Promise<void> {
    const { id } = queued;
    const runMs = queued.runSeconds === undefined ? this.#limits.runMs : 1000 * queued.runSeconds;
    // With `AbortSignal.timeout`, Deno would not exit before the timeout is over.
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), runMs);
    try {
      if (queued.attempts >= MAX_ATTEMPTS)
        throw new JobError(`the service has stopped ${MAX_ATTEMPTS} times while the job was running`);
      const job = this.#write({ ...queued, phase: 'EXECUTING', startedMs: Date.now(), attempts: queued.attempts + 1 });
      const paths = {
        input: this.#store.inputPath(id),
        output: this.#store.resultPath(id),
        maxOutputBytes: this.#maxOutputBytes(job),
      };
      const run = this.#kinds[job.kind]?.run;
      if (!run) throw new JobError('this release of the service does not support this request');
      const request = this.#store.request(id);
      if (!request) throw new JobError('its request cannot be read any more');
      const result = await run({ ...job, ...request }, paths, AbortSignal.any([ends, late.signal])).catch(error => {
        throw late.signal.aborted ? new JobError(`it takes longer than ${runMs / 1000} s`) : error;
      });
      // The client may have changed the job meanwhile.
      const now = this.#store.read(id);
      if (now?.phase === 'EXECUTING') this.#over({ ...now, phase: 'COMPLETED', result });
    } catch (error) {
      const job = this.#store.read(id);
      if (this.#isClosed || !job || isOver(job.phase)) return;
      const isShown = error instanceof JobError || error instanceof MemoryTaken;
      if (!isShown) this.#log('job_failed', { kind: job.kind, error: messageOf(error) });
      const reason = isShown ? error.message : 'an internal error, recorded in the log of the service';
      this.#over({ ...job, phase: 'ERROR', error: reason });
    } finally {
      clearTimeout(timer);
    }
  }

  /** The body is removed when the job is over. */
  #over(job: Job): Job {
    // The partial result is removed first, because it may have filled the disk.
    if (job.phase !== 'COMPLETED') discard(this.#store.resultPath(job.id));
    const over = this.#write({ ...job, endedMs: Date.now() });
    discard(this.#store.inputPath(job.id));
    this.#end(job.id);
    return over;
  }

  #end(id: string): void {
    this.#running.get(id)?.ends.abort();
  }

  #write(job: Job): Job {
    this.#store.write(job);
    return job;
  }

  /** Work that no request waits for. If it fails, because the data directory cannot be read, a later look repeats it. */
  #safely(act: () => void): void {
    try {
      act();
    } catch (error) {
      this.#log('jobs_unreadable', { error: messageOf(error) });
    }
  }

  /** The jobs of this process, and those whose process has ended. Another program may have the id of that process now. */
  #own(): Job[] {
    const live = this.#livePids();
    return this.#store.all().filter(({ pid }) => pid === process.pid || live?.has(pid) === false);
  }

  /** Starts the jobs of an earlier process, and those that could not continue, for example because the disk was full. */
  #resume(): void {
    const held = new Set([...this.#waiting.map(({ id }) => id), ...this.#running.keys()]);
    for (const job of this.#own().sort((a, b) => a.createdMs - b.createdMs))
      if (/^(?:QUEUED|EXECUTING)$/.test(job.phase) && !held.has(job.id)) this.#enqueue({ ...job, pid: process.pid });
  }

  /** Removes the jobs whose retention time is over. Returns the others. */
  #sweep(): Job[] {
    const nowMs = Date.now();
    return this.#store.all().filter(({ id, destructionMs }) => {
      if (nowMs < destructionMs) return true;
      this.#end(id);
      this.#store.remove(id);
      return false;
    });
  }
}

/**
 * The oldest unstarted job of the client that has the most unstarted jobs. That client must have several of them, and
 * more than the requesting client. So a client that only creates jobs cannot prevent others from creating theirs.
 */
function hoarded(jobs: readonly Job[], client: string): Job | undefined {
  const pending = jobs.filter(({ phase }) => phase === 'PENDING').sort((a, b) => a.createdMs - b.createdMs);
  const countOf = (of: string) => pending.filter(job => job.client === of).length;
  const oldest = pending.toSorted((a, b) => countOf(b.client) - countOf(a.client))[0];
  return oldest && countOf(oldest.client) > Math.max(1, countOf(client)) ? oldest : undefined;
}

/** The space for bodies that are about to be moved to their jobs. */
function awaitedBytes(jobs: readonly Job[]): number {
  return sumOf(jobs, ({ phase, maxInputBytes }) => (phase === 'PENDING' ? maxInputBytes : 0));
}

function sumOf(jobs: readonly Job[], bytesOf: (job: Job) => number): number {
  return jobs.reduce((sum, job) => sum + bytesOf(job), 0);
}
