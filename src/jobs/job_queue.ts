/**
 * The jobs that one process holds: those of a kind carried out one after another, stored at each step, removed when
 * their time is over.
 */
import { rmSync } from 'node:fs';
import { messageOf } from '../base/error_text.ts';
import type { Log } from '../base/log.ts';
import { isAlive } from '../base/processes.ts';
import { Unavailable } from '../base/refusal.ts';
import { isOver, type Job, type JobResult } from './job.ts';
import type { JobStore } from './job_store.ts';

/** A failure whose message is for whoever sent the request. */
export class JobError extends Error {
  override name = 'JobError';
}

/**
 * Carries out a job: its body is at `input`, its result goes to `output`.
 * @throws JobError
 */
export type JobRunner = (job: Job, paths: JobPaths, ends: AbortSignal) => Promise<JobResult>;

export interface JobPaths {
  /** The file is gone as soon as nobody wants the result. */
  readonly input: string;
  readonly output: string;
  readonly maxOutputBytes: number;
}

export interface JobLimits {
  /** The most jobs that are kept, those that are over among them. */
  readonly maxJobs: number;
  /** The most of these that one client may have. */
  readonly maxJobsOfClient: number;
  /** The most bytes that all jobs may take. A client has the same share of them as of the jobs, and room for one job. */
  readonly maxBytes: number;
  /** The time for which a job is kept from its creation on. */
  readonly keptMs: number;
  /** The time that a job may take. */
  readonly runMs: number;
  /** The time between two looks for jobs to be removed, or to be begun again. */
  readonly sweepMs?: number;
}

/** A step of a job that a thread which serves asks for. */
export type JobStep =
  | {
      readonly step: 'create';
      readonly kind: string;
      /** The address of the client. */
      readonly client: string;
      readonly request: unknown;
      readonly parameters: Readonly<Record<string, string>>;
      /** The bytes of its body, which has arrived. */
      readonly bytes: number;
    }
  /** Changes a job that has not begun: parameters are added, or take the place of those with the same names. */
  | { readonly step: 'set'; readonly id: string; readonly parameters?: Job['parameters']; readonly runSeconds?: number }
  /** @param request in place of the one that the job was created with */
  | { readonly step: 'run'; readonly id: string; readonly request?: unknown }
  | { readonly step: 'abort' | 'remove'; readonly id: string }
  | { readonly step: 'keep'; readonly id: string; readonly destructionMs: number };

/** A job that has begun so often has ended the service each time. */
const MAX_ATTEMPTS = 2;
/** The time after which a job is removed that has not begun: because its body has not arrived, for example. */
const PENDING_MS = 600_000;
const SWEEP_MS = 60_000;

export class JobQueue {
  readonly #store: JobStore;
  readonly #runners: Readonly<Record<string, JobRunner>>;
  readonly #limits: JobLimits;
  readonly #log: Log;
  readonly #waiting: Pick<Job, 'id' | 'kind' | 'client'>[] = [];
  /** The client of the job of each kind that was begun last. */
  readonly #lastClients = new Map<string, string>();
  /** The job of each kind that is carried out, and how to end it. */
  readonly #running = new Map<string, { readonly id: string; readonly ends: AbortController }>();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(store: JobStore, runners: Readonly<Record<string, JobRunner>>, limits: JobLimits, log: Log) {
    this.#store = store;
    this.#runners = runners;
    this.#limits = limits;
    this.#log = log;
  }

  /** Takes over the jobs that an earlier process has left behind, those that were running among them. */
  start(): void {
    this.#timer = setInterval(() => {
      this.#safely(() => this.#sweep());
      this.#safely(() => this.#resume());
    }, this.#limits.sweepMs ?? SWEEP_MS);
    this.#timer.unref();
    this.#safely(() => this.#sweep());
    const left = this.#store.all().filter(({ pid }) => pid === process.pid || !isAlive(pid));
    for (const job of left.sort((a, b) => a.createdMs - b.createdMs)) {
      if (job.phase === 'PENDING') this.#store.remove(job.id);
      else if (!isOver(job.phase)) this.#enqueue({ ...job, pid: process.pid });
    }
  }

  /** @throws Unavailable where there is no room for another job */
  step(asked: JobStep): Job | null {
    if (this.#isClosed) throw new Unavailable('the service is stopping');
    if (asked.step === 'create') return this.#create(asked);
    const job = this.#store.read(asked.id);
    if (!job) return null;
    switch (asked.step) {
      case 'run':
        return job.phase === 'PENDING' ? this.#enqueue(this.#begun(job, asked.request)) : job;
      case 'set':
        return job.phase === 'PENDING' ? this.#write(this.#changed(job, asked)) : job;
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
    for (const { id, ends } of this.#running.values()) {
      const job = this.#store.read(id);
      // It begins again with the next process, and has not ended this one.
      if (job?.phase === 'EXECUTING') this.#write({ ...job, phase: 'QUEUED', attempts: job.attempts - 1 });
      ends.abort();
    }
  }

  #create({ kind, client, request, parameters, bytes }: JobStep & { step: 'create' }): Job {
    this.#sweep();
    const { maxJobs, maxJobsOfClient, maxBytes, keptMs } = this.#limits;
    let all = this.#store.all();
    const own = all.filter(job => job.client === client);
    const isTooMuch = own.length > 0 && this.#bytesOf(own) + bytes > maxBytes * (maxJobsOfClient / maxJobs);
    if (own.length >= maxJobsOfClient || isTooMuch)
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
    return this.#store.create({
      kind,
      phase: 'PENDING',
      pid: process.pid,
      client,
      maxInputBytes: bytes,
      request,
      parameters,
      createdMs,
      destructionMs: createdMs + Math.min(keptMs, PENDING_MS),
      attempts: 0,
    });
  }

  /** The bytes that jobs take, and those that they wait for. */
  #bytesOf(jobs: readonly Job[]): number {
    return sumOf(jobs, ({ id }) => this.#store.bytes(id)) + awaitedBytes(jobs);
  }

  /** A job's result may take what is left of all room, and of half of it what its client's jobs leave. */
  #maxOutputBytes({ client }: Job): number {
    const { maxBytes } = this.#limits;
    const own = this.#bytesOf(this.#store.all().filter(job => job.client === client));
    return Math.max(0, Math.min(maxBytes - this.#store.bytes(), maxBytes / 2 - own));
  }

  /** The job with the time for which it is kept from its begin on, unless the client has set that. */
  #begun(job: Job, request = job.request): Job {
    const { createdMs, destructionMs } = job;
    const { keptMs } = this.#limits;
    const isSet = destructionMs !== createdMs + Math.min(keptMs, PENDING_MS);
    return { ...job, request, destructionMs: isSet ? destructionMs : createdMs + keptMs };
  }

  #changed(job: Job, { parameters, runSeconds }: JobStep & { step: 'set' }): Job {
    return {
      ...job,
      parameters: { ...job.parameters, ...parameters },
      ...(runSeconds !== undefined && { runSeconds: Math.min(runSeconds, this.#limits.runMs / 1000) }),
    };
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
      this.#running.set(kind, { id, ends });
      this.#lastClients.set(kind, client);
      void this.#carryOut(job, ends.signal)
        // A full disk, for example: the job is begun again later.
        .catch(error => this.#log('job_failed', { kind, error: messageOf(error) }))
        .finally(() => {
          this.#running.delete(kind);
          this.#next();
        });
    }
  }

  /** The job that has waited longest, of a kind of which none runs; of another client than the last one where there is one. */
  #takeNext(): Pick<Job, 'id' | 'kind' | 'client'> | undefined {
    const free = this.#waiting.filter(({ kind }) => !this.#running.has(kind));
    const next = free.find(({ kind, client }) => client !== this.#lastClients.get(kind)) ?? free[0];
    if (next) this.#waiting.splice(this.#waiting.indexOf(next), 1);
    return next;
  }

  async #carryOut(queued: Job, ends: AbortSignal): Promise<void> {
    const { id } = queued;
    const runMs = queued.runSeconds === undefined ? this.#limits.runMs : 1000 * queued.runSeconds;
    // Deno would not end before the time of an `AbortSignal.timeout` is over.
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
      const run = this.#runners[job.kind];
      if (!run) throw new JobError('this release of the service does not support this request');
      const result = await run(job, paths, AbortSignal.any([ends, late.signal])).catch(error => {
        throw late.signal.aborted ? new JobError(`it takes longer than ${runMs / 1000} s`) : error;
      });
      if (this.#store.read(id)?.phase === 'EXECUTING') this.#over({ ...job, phase: 'COMPLETED', result });
    } catch (error) {
      const job = this.#store.read(id);
      if (this.#isClosed || !job || isOver(job.phase)) return;
      if (!(error instanceof JobError)) this.#log('job_failed', { kind: job.kind, error: messageOf(error) });
      const reason =
        error instanceof JobError ? error.message : 'an internal error, recorded in the log of the service';
      this.#over({ ...job, phase: 'ERROR', error: reason });
    } finally {
      clearTimeout(timer);
    }
  }

  /** The body of a request whose job is over is not kept. */
  #over(job: Job): Job {
    // A part of a result goes first: it may be what has filled the disk.
    if (job.phase !== 'COMPLETED') rmSync(this.#store.resultPath(job.id), { force: true });
    const over = this.#write({ ...job, endedMs: Date.now() });
    rmSync(this.#store.inputPath(job.id), { force: true });
    this.#end(job.id);
    return over;
  }

  #end(id: string): void {
    for (const running of this.#running.values()) if (running.id === id) running.ends.abort();
  }

  #write(job: Job): Job {
    this.#store.write(job);
    return job;
  }

  #safely(act: () => void): void {
    try {
      act();
    } catch (error) {
      this.#log('jobs_unreadable', { error: messageOf(error) });
    }
  }

  /** Begins the jobs again that could not go on, because the disk was full, for example. */
  #resume(): void {
    const held = new Set([...this.#waiting, ...this.#running.values()].map(({ id }) => id));
    for (const job of this.#store.all())
      if (job.pid === process.pid && /^(?:QUEUED|EXECUTING)$/.test(job.phase) && !held.has(job.id)) this.#enqueue(job);
  }

  /** Removes the jobs whose time is over. */
  #sweep(): void {
    const nowMs = Date.now();
    for (const { id, destructionMs } of this.#store.all()) {
      if (nowMs < destructionMs) continue;
      this.#end(id);
      this.#store.remove(id);
    }
  }
}

/**
 * The oldest of the jobs that have not begun of the client with most of them, where it has several, and more than the one that
 * asks: who only makes jobs keeps nobody else from it.
 */
function hoarded(jobs: readonly Job[], client: string): Job | undefined {
  const pending = jobs.filter(({ phase }) => phase === 'PENDING').sort((a, b) => a.createdMs - b.createdMs);
  const countOf = (of: string) => pending.filter(job => job.client === of).length;
  const oldest = pending.toSorted((a, b) => countOf(b.client) - countOf(a.client))[0];
  return oldest && countOf(oldest.client) > Math.max(1, countOf(client)) ? oldest : undefined;
}

/** The room for bodies that are about to be moved to their jobs. */
function awaitedBytes(jobs: readonly Job[]): number {
  return sumOf(jobs, ({ phase, maxInputBytes }) => (phase === 'PENDING' ? maxInputBytes : 0));
}

function sumOf(jobs: readonly Job[], bytesOf: (job: Job) => number): number {
  return jobs.reduce((sum, job) => sum + bytesOf(job), 0);
}
