/**
 * Runs the ADQL queries of one process. They run in another process, so that a crash there affects no other requests.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { open } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Budget } from '../../core/base/budget.ts';
import type { ClientAdmission, ClientSlots, SteppedSlot } from '../../core/base/client_admission.ts';
import { spareBytesAt } from '../../core/base/disk.ts';
import { messageOf } from '../../core/base/error_text.ts';
import type { Log } from '../../core/base/log.ts';
import { programFile } from '../../core/base/program_files.ts';
import { NEVER, Unavailable } from '../../core/base/refusal.ts';
import { engineFlags, libraryThreads, processProgram } from '../../core/base/runtime.ts';
import { Semaphore } from '../../core/base/semaphore.ts';
import type { Config } from '../../core/config/config.ts';
import { Caller, type Reply } from '../../core/pool/rpc.ts';
import type { Job, JobRequest, JobResult } from '../jobs/job.ts';
import { JobError, type JobPaths } from '../jobs/job_queue.ts';
import { boundedCommand, FEW_HEAPS } from '../uploads/bounded_command.ts';
import { type ChildMemory, IDLE_MIB, type Member } from '../uploads/child_memory.ts';
import type { ReadingProcesses } from '../uploads/reading_processes.ts';
import type { Requester } from './earlier_states.ts';
import type { TapState } from './edition.ts';
import type { EngineBegun, TapBegun } from './engine.ts';
import type { EngineAnswer, EngineFailure, EngineRequest, Refreshed } from './engine_process.ts';
import type { EngineQuery, TapQuery } from './query_run.ts';
import { type AdqlConfig, adqlSettings } from './settings.ts';
import { type ReadSources, SourceReader } from './source_reader.ts';
import { removeDirectory, UploadReader } from './upload_reader.ts';

export type TapStep =
  /**
   * @param key a unique name of the query
   * @param client the name by which the client's share of the slots is counted
   */
  | { readonly step: 'begin'; readonly key: string; readonly client: string; readonly query: TapQuery }
  /** Requests the known state of the tables. */
  | { readonly step: 'state' }
  /** Cancels a query that is being started. */
  | { readonly step: 'giveUp'; readonly key: string }
  | { readonly step: 'part' | 'end'; readonly job: number };
export interface TapStarted {
  readonly job: number;
  readonly begun: TapBegun;
}
/** The answer to a step: the started query, a part of its answer or null at the end, or the state of the tables. */
export type TapAnswer = TapStarted | TapState | Uint8Array | null;

/** The kind of jobs that run queries. */
export const TAP_JOB = 'tap';

/** The request of a job: a query, or the reason why its parameters are invalid. */
export type TapJobRequest = TapQuery | { readonly refused: string };

/** The interval between a job's attempts, if too many queries run or the tables do not exist yet. */
const AGAIN_MS = 500;
/** How long a query waits for a slot. */
const WAIT_MS = 10_000;
/** The maximum number of waiting queries. */
const MAX_WAITING = 64;
/**
 * The maximum number of queries, per slot, that wait for their client to request the next part. They hold memory of the
 * engine.
 */
const MAX_BETWEEN = 3;
/** If the process does not answer within this time after a query's time limit, it counts as hung and is killed. */
const HANG_MS = 15_000;
/** The time limit for starting the process. */
const OPEN_MS = 60_000;
/** How long the process may take to end by itself. */
const CLOSE_MS = 2000;
/** The maximum number of threads. Each one holds 2,048 rows of all columns at each step of a query. */
const MAX_THREADS = 2;
/** The minimum interval between updates of the tables. The engine waits longer if an update takes longer. */
const REFRESH_SECONDS = 1;
/** Up to this number of changed objects, rows need not be sorted, because a query scans them quickly. */
const MERGE_AFTER = 20_000;
/** The memory of the process beyond the engine's own count, MiB: its code, and the strings that queries make. */
const UNCOUNTED_MIB = 192;
/**
 * The niceness of the engine, as for small tables: queries must not delay other requests, which take microseconds. With
 * 10, a small query waits too long for each turn of the engine's threads.
 */
const NICENESS = 5;
/** Memory that the engine's library reserves but does not use, MiB. */
const RESERVED_MIB = 48;
/**
 * The steps that the engine can do besides one for each slot: updates of the tables, new tables, measurements of memory,
 * and the next rows of queries that pause. 16 cost a small query a fifth more processor time, because idle threads take
 * turns.
 */
const OTHER_STEPS = 4;
/**
 * The heap can be small because the process has few objects. A small heap is collected often, which frees the memory of
 * the engine's library.
 */
const FLAGS = ['--max-old-space-size=96', '--max-semi-space-size=4', '--expose-gc'];
/**
 * Options of DuckDB's jemalloc: freed memory is returned to the system at once. Otherwise one query would leave too
 * little for the next.
 */
const ALLOCATOR = 'retain:false,dirty_decay_ms:0,muzzy_decay_ms:0';
/**
 * The maximum number of attempts for a query. It is retried if other queries hold the memory, or if its process ends for
 * an unknown reason. Each pause is twice as long as the previous one.
 */
const MAX_TRIES = 5;

const NOT_INSTALLED =
  'DuckDB is not installed here: npm install @duckdb/node-api; the single executable has none, so run the npm package instead';
const SWITCHED_OFF = 'queries in ADQL are switched off here (TAP_MAX_QUERIES)';
const ENDED = 'the engine of queries has ended';
const GIVEN_UP = 'the query was cancelled';
const STARVED = 'other queries have taken the memory that this one needs';
const ENDS_ENGINE = 'the engine of queries ends twice, both times while it runs this query: split the query';
const HANGS = 'the engine of queries cannot interrupt this query, which takes longer than is allowed: split the query';

/** The process ended before it answered. */
class EngineEnded extends Unavailable {
  /**
   * The query that ended it: this one or another one, which it could not interrupt, the only one that ran, or an unknown
   * one.
   */
  readonly by: 'this' | 'other' | 'alone' | 'unknown';

  constructor(by: EngineEnded['by']) {
    super(ENDED);
    this.by = by;
  }
}
/** Other queries may hold the memory. */
class Starved extends Unavailable {}

/**
 * A query in the engine, which owns what is held for it. It has a slot at least while it starts, and while a part of its
 * answer is made.
 */
class Running implements Disposable {
  engine!: EngineLink;
  readonly slot: SteppedSlot;
  readonly lastsMs: number;
  /** The directories of parts of catalogs and of uploaded tables. */
  readonly directories: (string | undefined)[] = [];
  readonly #onDispose: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(slot: SteppedSlot, lastsMs: number, onDispose: () => void) {
    this.slot = slot;
    this.lastsMs = lastsMs;
    this.#onDispose = onDispose;
  }

  /** Disposes of it if its next step is not requested in time. */
  waitForStep(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this[Symbol.dispose](), this.lastsMs).unref();
  }

  /** May be called again: a directory may have been made since. */
  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.slot.leave();
    for (const directory of this.directories) removeDirectory(directory);
    this.#onDispose();
  }
}

export class Tap {
  readonly #config: AdqlConfig;
  readonly #log: Log;
  readonly #slots: ClientSlots;
  readonly #uploads: UploadReader;
  readonly #sources: SourceReader;
  readonly #childMemory: ChildMemory;
  /**
   * The queries that ran when the process ended. They run again one at a time, because one of them may end the next
   * process, too.
   */
  readonly #suspects = new Semaphore(1);
  #engine: EngineLink | undefined;
  #lastJob = 0;
  readonly #jobs = new Map<number, Running>();
  /** The queries that are being started, by their keys. */
  readonly #beginning = new Map<string, AbortController>();

  constructor(
    config: AdqlConfig,
    log: Log,
    admission: ClientAdmission,
    reading: ReadingProcesses,
    childMemory: ChildMemory,
  ) {
    this.#config = config;
    this.#log = log;
    this.#uploads = new UploadReader(config, log, reading);
    this.#sources = new SourceReader(config, log, reading);
    this.#childMemory = childMemory;
    const slots = config.TAP_MAX_QUERIES;
    const isFull = `${slots} queries in ADQL run already, or this client has ${Math.ceil(slots / 2)} of them`;
    this.#slots = admission.slots({ slots, isFull, maxWaiting: MAX_WAITING, maxBetween: MAX_BETWEEN * slots });
  }

  /** The state of the tables; undefined while no engine runs, or it has not caught up with the journal yet. */
  get state(): TapState | undefined {
    return this.#engine?.state;
  }

  /** @throws Unavailable if there is no engine, the engine has ended, or too many queries run */
  async step(asked: TapStep): Promise<TapAnswer> {
    if (asked.step === 'giveUp') {
      this.#beginning.get(asked.key)?.abort();
      return null;
    }
    if (asked.step === 'state') return this.state ?? null;
    if (asked.step === 'begin') return await this.#started(asked);
    return asked.step === 'part' ? await this.#part(asked.job) : await this.#end(asked.job);
  }

  /** Runs a query whose answer is written to a file. See `JobRunner`. */
  async run(
    { id, client, request }: Job & JobRequest,
    { input, output, maxOutputBytes }: JobPaths,
    ends: AbortSignal,
  ): Promise<JobResult> {
    const asked = request as TapJobRequest;
    if ('refused' in asked) throw new JobError(asked.refused);
    let query: EngineQuery | undefined;
    const attempt = async () => {
      query ??= await this.#uploads.forJob({ ...asked, uploadPath: input }, ends);
      const slot = await this.#slotInTime(client, ends);
      const { job, begun } = await this.#begin(ends, query, slot, this.#sources.forJob(ends), { client, key: id });
      try {
        return begun.outcome === 'begun' ? await this.#store(job, query, begun, output, maxOutputBytes) : begun;
      } finally {
        void this.#end(job).catch(() => {});
      }
    };
    try {
      for (;;) {
        const refused = (message: string) => ({ outcome: 'refused' as const, message });
        const result = await this.#again(attempt, refused, Number.POSITIVE_INFINITY);
        if (!('outcome' in result)) return result;
        if (result.outcome !== 'early') throw new JobError(result.message);
        await sleep(AGAIN_MS, undefined, { signal: ends });
      }
    } catch (error) {
      throw error instanceof Unavailable ? new JobError(error.message) : error;
    } finally {
      removeDirectory(query?.tables);
    }
  }

  async #started({ key, client, query: asked }: TapStep & { step: 'begin' }): Promise<TapStarted> {
    const controller = new AbortController();
    const gone = controller.signal;
    this.#beginning.set(key, controller);
    let tables: string | undefined;
    let running: Running | undefined;
    try {
      const query = await this.#uploads.inTime(client, asked, gone);
      ({ tables } = query);
      const started = await this.#again<TapStarted>(
        async () => {
          const slot = await this.#slotUnless(gone, client);
          const read = this.#sources.inTime(client, new Budget(query.seconds), gone);
          return await this.#begin(gone, query, slot, read, { client, key: client });
        },
        message => ({ job: 0, begun: { outcome: 'refused', message } }),
        query.seconds,
      );
      if (started.begun.outcome === 'early') throw new Unavailable(started.begun.message);
      running = this.#jobs.get(started.job);
      return started;
    } catch (error) {
      if (error instanceof JobError) return { job: 0, begun: { outcome: 'refused', message: error.message } };
      throw error;
    } finally {
      this.#beginning.delete(key);
      // Until here the query may be retried, with the same tables.
      if (running) running.directories.push(tables);
      else removeDirectory(tables);
    }
  }

  /**
   * Runs a query again if that may help: if other queries held the memory, or have ended the process, or may have.
   * @param refused the result for a query that ends the process
   * @param seconds a query whose process has ended is not begun again after this time
   */
  async #again<T>(act: () => Promise<T>, refused: (message: string) => T, seconds: number): Promise<T> {
    const untilMs = performance.now() + 1000 * seconds;
    const inTime = () => {
      if (performance.now() > untilMs) throw new Unavailable(ENDED);
      return act();
    };
    let isSuspect = false;
    for (let tries = 1; ; tries++) {
      try {
        return await (isSuspect ? this.#suspects.run(1, inTime) : act());
      } catch (error) {
        if (error instanceof EngineEnded) {
          if (error.by === 'this') return refused(HANGS);
          if (error.by === 'alone' && isSuspect) return refused(ENDS_ENGINE);
          if (performance.now() > untilMs) throw error;
          if (error.by === 'other') {
            tries--;
            continue;
          }
          isSuspect = true;
        } else if (!(error instanceof Starved)) throw error;
        if (tries === MAX_TRIES) throw error;
        await sleep(AGAIN_MS * 2 ** (tries - 1));
      }
    }
  }

  async #store(
    job: number,
    { format: { mediaType } }: EngineQuery,
    begun: TapBegun & { outcome: 'begun' },
    path: string,
    maxBytes: number,
  ): Promise<JobResult> {
    const file = await open(path, 'w', 0o600);
    try {
      let bytes = 0;
      const next = async () => (begun.isWhole ? null : await this.#part(job));
      for (let part: Uint8Array | null = begun.part; part; part = await next()) {
        bytes += part.length;
        if (bytes > maxBytes || part.length > spareBytesAt(dirname(path)))
          throw new JobError('there is no room for its result: ask for fewer rows or columns');
        await file.writeFile(part);
      }
      await file.sync();
      return { mediaType, bytes, about: begun.state };
    } finally {
      await file.close();
    }
  }

  async #slotUnless(gone: AbortSignal, client: string): Promise<SteppedSlot> {
    try {
      return await this.#slot(client, WAIT_MS, gone);
    } catch (error) {
      throw gone.aborted ? new Unavailable(GIVEN_UP) : error;
    }
  }

  async #slot(client: string, milliseconds: number, gone?: AbortSignal): Promise<SteppedSlot> {
    if (this.#config.TAP_MAX_QUERIES === 0) throw new Unavailable(SWITCHED_OFF, NEVER);
    const slot = await this.#slots.enterStepped(client, milliseconds, gone);
    const unwatch = this.#childMemory.watch();
    const leave = () => {
      unwatch();
      slot.leave();
    };
    return { ...slot, leave };
  }

  /** Waits for a slot as long as necessary. */
  async #slotInTime(client: string, ends: AbortSignal): Promise<SteppedSlot> {
    for (;;) {
      ends.throwIfAborted();
      try {
        return await this.#slot(client, AGAIN_MS);
      } catch (error) {
        if (!(error instanceof Unavailable) || this.#config.TAP_MAX_QUERIES === 0) throw error;
        await sleep(AGAIN_MS, undefined, { signal: ends });
      }
    }
  }

  /**
   * @param slot is released when the query fails or ends
   * @param ends cancels the query
   * @param read reads the parts of catalogs that the query needs
   */
  async #begin(
    ends: AbortSignal,
    query: EngineQuery,
    slot: SteppedSlot,
    read: ReadSources,
    requester: Requester,
  ): Promise<TapStarted> {
    const job = ++this.#lastJob;
    const end = () => void this.#end(job).catch(() => {});
    const lastsMs = 1000 * query.seconds + HANG_MS;
    const running = new Running(slot, lastsMs, () => {
      this.#jobs.delete(job);
      ends.removeEventListener('abort', end);
    });
    let begun: EngineBegun | undefined;
    try {
      if (ends.aborted) throw new Unavailable(GIVEN_UP);
      const engine = (this.#engine ??= this.#start());
      running.engine = engine;
      this.#jobs.set(job, running);
      ends.addEventListener('abort', end);
      running.waitForStep();
      await engine.opened;
      begun = (await this.#ask(engine, { kind: 'begin', job, query, requester }, lastsMs)) as EngineBegun;
      const directory = join(this.#config.NEARSKY_DATA, 'tap', `${process.pid}-${randomUUID()}`);
      if (begun.outcome === 'reading') running.directories.push(directory);
      while (begun.outcome === 'reading') {
        if (!this.#jobs.has(job)) throw new Unavailable(GIVEN_UP);
        const parts = await read(begun.parts, directory);
        begun = (await this.#ask(engine, { kind: 'resume', job, directory, read: parts }, lastsMs)) as EngineBegun;
      }
      if (begun.outcome === 'unavailable') throw new Unavailable(begun.message);
      return { job, begun };
    } finally {
      // The parts of catalogs could not be read.
      if (begun?.outcome === 'reading') await this.#end(job).catch(() => {});
      if (begun?.outcome === 'begun' && !begun.isWhole) slot.pause();
      else running[Symbol.dispose]();
    }
  }

  async #part(job: number): Promise<Uint8Array | null> {
    const running = this.#jobs.get(job);
    if (!running) throw new Unavailable(GIVEN_UP);
    const { engine, lastsMs, slot } = running;
    running.waitForStep();
    await slot.resume();
    running.waitForStep();
    try {
      const part = await this.#ask(engine, { kind: 'part', job }, lastsMs);
      if (part === null) running[Symbol.dispose]();
      return part as Uint8Array | null;
    } finally {
      slot.pause();
    }
  }

  /**
   * The slot is released when the query's work has really ended, because a query that is being planned continues for a
   * while.
   */
  async #end(job: number): Promise<null> {
    using running = this.#jobs.get(job);
    if (running) await this.#ask(running.engine, { kind: 'end', job }, HANG_MS);
    return null;
  }

  #start(): EngineLink {
    if (!isInstalled()) throw new Unavailable(NOT_INSTALLED, NEVER);
    const { NEARSKY_DATA, TAP_MAX_QUERIES, TAP_MEMORY_MIB, TAP_EARLIER_STATES, TAP_MAX_SOURCES_MIB } = this.#config;
    const memoryMib = TAP_MEMORY_MIB + UNCOUNTED_MIB + RESERVED_MIB;
    let engine: EngineLink;
    try {
      engine = new EngineLink(NEARSKY_DATA, memoryMib, TAP_MAX_QUERIES + OTHER_STEPS, error => {
        if (this.#engine === engine) this.#engine = undefined;
        const ended = this.#runningIn(engine);
        for (const running of ended) running[Symbol.dispose]();
        if (error) this.#log('tap_engine_ended', { error, queries: ended.length });
        return ended.length;
      });
    } catch (error) {
      throw new Unavailable(`the engine of queries cannot be started: ${messageOf(error)}`);
    }
    const options = {
      dataDir: NEARSKY_DATA,
      memoryMib: TAP_MEMORY_MIB,
      threads: Math.min(MAX_THREADS, availableParallelism()),
      refreshSeconds: REFRESH_SECONDS,
      mergeAfter: MERGE_AFTER,
      earlierStates: TAP_EARLIER_STATES,
      maxSourceBytes: TAP_MAX_SOURCES_MIB * 2 ** 20,
    };
    this.#childMemory.add(this.#member(engine), engine.child);
    engine.opened = this.#ask(engine, { kind: 'open', options }, OPEN_MS);
    engine.opened.catch(() => engine.kill());
    return engine;
  }

  #runningIn(engine: EngineLink): Running[] {
    return [...this.#jobs.values()].filter(running => running.engine === engine);
  }

  /**
   * An idle engine caches parts of tables. It ends if other work needs its memory. A small engine keeps running,
   * because it takes only 60 MiB but a second to start. A query is never ended for the sake of others.
   */
  #member(engine: EngineLink): Member {
    const isBusy = () => this.#runningIn(engine).length > 0;
    return {
      pid: engine.child.pid,
      get isBusy() {
        return isBusy();
      },
      end: mib => !isBusy() && mib > IDLE_MIB && engine.leave(),
    };
  }

  /** Sends a message to the engine. Ends the engine if it does not answer in time. */
  async #ask(engine: EngineLink, message: EngineRequest, mostMs: number): Promise<EngineAnswer> {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = !engine.child.killed && 'job' in message;
      if (isLate) engine.endedBy = 'other';
      engine.kill();
    }, mostMs);
    try {
      return await engine.ask(message);
    } catch (error) {
      throw isLate ? new EngineEnded('this') : error;
    } finally {
      clearTimeout(timer);
    }
  }

  async close(): Promise<void> {
    await this.#engine?.close();
  }
}

/** Why this service can answer no queries at all; undefined if it can. */
export function whyNoQueries(config: Config): string | undefined {
  if (adqlSettings.of(config).TAP_MAX_QUERIES === 0) return SWITCHED_OFF;
  return isInstalled() ? undefined : NOT_INSTALLED;
}

export function canQuery(config: Config): boolean {
  return whyNoQueries(config) === undefined;
}

/** Whether DuckDB is installed. Does not load it. */
export function isInstalled(): boolean {
  try {
    createRequire(programFile('package.json')).resolve('@duckdb/node-api');
    return true;
  } catch {
    return false;
  }
}

/** The engine's process, and the requests that it has not answered. */
class EngineLink {
  opened: Promise<unknown> = Promise.resolve();
  /** The state of its tables, when it was last reported. */
  state: TapState | undefined;
  /** See `EngineEnded.by`. */
  endedBy: 'other' | undefined;
  readonly child: ChildProcess;
  readonly #calls: Caller<EngineRequest, EngineFailure>;
  readonly #onEnd: (error: string | undefined) => number;
  readonly #ended: Promise<void>;
  #isEnded = false;
  #isClosed = false;
  #isLeaving = false;

  /**
   * @param steps the number of steps that the engine can do at the same time
   * @param onEnd called once, without an error if the process was ended on purpose; returns the number of queries that
   * ran in it
   */
  constructor(dataDir: string, memoryMib: number, steps: number, onEnd: (error: string | undefined) => number) {
    this.#onEnd = onEnd;
    const threads = libraryThreads(steps);
    const program = processProgram('src/capabilities/adql/engine_process', dataDir);
    const [command, ...args] = boundedCommand(memoryMib + threads.reservedMib, NICENESS, program);
    // `fork` would give the process every permission under Deno.
    this.child = spawn(command!, args, {
      env: { ...process.env, ...engineFlags(...FLAGS), ...threads.env, ...FEW_HEAPS, DUCKDB_JE_MALLOC_CONF: ALLOCATOR },
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    this.#calls = new Caller(
      request =>
        this.child.send(request, error => {
          if (error) this.#end(messageOf(error));
        }),
      failure => (failure === null ? new Starved(STARVED) : new Unavailable(failure)),
    );
    this.child.on('message', (message: Reply<EngineFailure> | Refreshed) => {
      if ('state' in message) this.state = message.state;
      else this.#calls.hear(message);
    });
    this.#ended = new Promise(resolve => this.child.once('error', () => resolve()).once('exit', () => resolve()));
    this.child.on('error', error => this.#end(messageOf(error)));
    this.child.on('exit', (code, signal) => {
      this.#isClosed ||= this.#isLeaving && code === 0;
      this.#end(`the process ended with ${signal ?? code}`);
    });
    // The engine does not keep the service from ending.
    this.child.unref();
    this.child.channel?.unref();
  }

  ask(request: EngineRequest): Promise<EngineAnswer> {
    return this.#calls.ask(request);
  }

  /** Asks the process to end if it is idle; it may decline. Returns false if it has been asked and has not answered. */
  leave(): boolean {
    if (this.#isLeaving) return false;
    this.#isLeaving = true;
    const declined = () => {
      this.#isLeaving = false;
    };
    this.ask({ kind: 'leave' }).then(declined, () => {});
    return true;
  }

  /** Kills the process, whatever it is doing. */
  kill(): void {
    this.child.kill('SIGKILL');
  }

  /**
   * Lets the process end; tables that are being made are abandoned. Resolves when it has ended: the engine of the next
   * service takes over only the tables of an ended process.
   */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.child.connected) this.child.disconnect();
    const timer = setTimeout(() => this.kill(), CLOSE_MS);
    await this.#ended;
    clearTimeout(timer);
  }

  #end(error: string): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    const queries = this.#onEnd(this.#isClosed ? undefined : error);
    this.#calls.end(new EngineEnded(this.endedBy ?? (queries === 1 && !this.child.killed ? 'alone' : 'unknown')));
  }
}
