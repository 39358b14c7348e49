/** The queries in ADQL of one process: another process runs them, whose end harms none but these. */
import { type ChildProcess, spawn } from 'node:child_process';
import { open } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { messageOf } from '../base/error_text.ts';
import type { Log } from '../base/log.ts';
import { programFile, programModule } from '../base/program_files.ts';
import { Unavailable } from '../base/refusal.ts';
import { programArguments } from '../base/runtime.ts';
import type { Config } from '../config/config.ts';
import type { Job, JobResult } from '../jobs/job.ts';
import { JobError, type JobPaths } from '../jobs/job_queue.ts';
import type { TapBegun } from './engine.ts';
import type { FromEngine, ToEngine } from './engine_process.ts';
import type { TapQuery } from './job.ts';

export type TapStep =
  | { readonly step: 'begin'; readonly query: TapQuery }
  | { readonly step: 'part' | 'end'; readonly job: number };
export interface TapStarted {
  readonly job: number;
  readonly begun: TapBegun;
}
/** The answer to a step: the query that was begun, a part of its answer, or null at the end. */
export type TapAnswer = TapStarted | Uint8Array | null;

/** The kind of jobs that are queries. */
export const TAP_JOB = 'tap';

/** The request of a job: a query, or the reason why its parameters make none. */
export type TapJobRequest = TapQuery | { readonly refused: string };

/** The interval in which a job tries again, where too many queries run or the tables are not made yet. */
const AGAIN_MS = 500;
/** The time beyond that of a query after which the process is taken to hang, and is ended. */
const HANG_MS = 15_000;
/** The time for the process to start. */
const OPEN_MS = 60_000;
/** The time in which the process may end by itself. */
const CLOSE_MS = 2000;
const MAX_THREADS = 4;

const NOT_INSTALLED = 'DuckDB is not installed here: npm install @duckdb/node-api, or run nearsky from a checkout';

export class Tap {
  readonly #config: Config;
  readonly #log: Log;
  #engine: EngineLink | undefined;
  #lastJob = 0;
  /** The engine of each query that runs, and until when the query is heard of, or forgotten. */
  readonly #jobs = new Map<number, { readonly engine: EngineLink; readonly lastsMs: number; untilMs: number }>();

  constructor(config: Config, log: Log) {
    this.#config = config;
    this.#log = log;
  }

  /** @throws Unavailable where there is no engine, it has ended, or too many queries run */
  async step(asked: TapStep): Promise<TapAnswer> {
    if (asked.step === 'begin') {
      if (this.#isFull) throw new Unavailable(`${this.#config.TAP_MAX_QUERIES} queries in ADQL run already`);
      const job = this.#enter(asked.query);
      const begun = await this.#begin(job, asked.query);
      if (begun.outcome === 'early') throw new Unavailable(begun.message);
      return { job, begun };
    }
    return asked.step === 'part' ? await this.#part(asked.job) : await this.#end(asked.job);
  }

  /** Carries out a query whose answer goes to a file. See `JobRunner`. */
  async run({ request }: Job, { input, output, maxOutputBytes }: JobPaths, ends: AbortSignal): Promise<JobResult> {
    const asked = request as TapJobRequest;
    if ('refused' in asked) throw new JobError(asked.refused);
    const query = asked.uploads.length > 0 ? { ...asked, uploadPath: input } : asked;
    let job = 0;
    const end = () => void this.#end(job).catch(() => {});
    ends.addEventListener('abort', end);
    try {
      for (;;) {
        while (this.#isFull) await sleep(AGAIN_MS, undefined, { signal: ends });
        job = this.#enter(query);
        const begun = await this.#begin(job, query);
        if (begun.outcome === 'begun') return await this.#store(job, query, begun, output, maxOutputBytes);
        if (begun.outcome !== 'early') throw new JobError(begun.message);
        await sleep(AGAIN_MS, undefined, { signal: ends });
      }
    } catch (error) {
      throw error instanceof Unavailable ? new JobError(error.message) : error;
    } finally {
      ends.removeEventListener('abort', end);
      end();
    }
  }

  async #store(
    job: number,
    { format: { mediaType } }: TapQuery,
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
        if (bytes > maxBytes) throw new JobError('there is no room for its result: ask for fewer rows or columns');
        await file.writeFile(part);
      }
      await file.sync();
      return { mediaType, bytes, about: null };
    } finally {
      await file.close();
    }
  }

  /** Whether as many queries run as may. */
  get #isFull(): boolean {
    for (const [job, { untilMs }] of this.#jobs) if (untilMs < performance.now()) this.#jobs.delete(job);
    const { TAP_MAX_QUERIES } = this.#config;
    return TAP_MAX_QUERIES > 0 && this.#jobs.size >= TAP_MAX_QUERIES;
  }

  /** Notes a query that is about to begin; its number. */
  #enter({ seconds }: TapQuery): number {
    if (this.#config.TAP_MAX_QUERIES === 0)
      throw new Unavailable('queries in ADQL are switched off here (TAP_MAX_QUERIES)');
    const engine = (this.#engine ??= this.#start());
    const lastsMs = 1000 * seconds + HANG_MS;
    this.#jobs.set(++this.#lastJob, { engine, lastsMs, untilMs: performance.now() + lastsMs });
    return this.#lastJob;
  }

  async #begin(job: number, query: TapQuery): Promise<TapBegun> {
    const { engine, lastsMs } = this.#jobs.get(job)!;
    let begun: TapBegun | undefined;
    try {
      await engine.opened;
      begun = (await this.#ask(engine, { kind: 'begin', job, query }, lastsMs)) as TapBegun;
      if (begun.outcome === 'unavailable') throw new Unavailable(begun.message);
      return begun;
    } finally {
      if (begun?.outcome !== 'begun' || begun.isWhole) this.#jobs.delete(job);
    }
  }

  async #part(job: number): Promise<Uint8Array | null> {
    const running = this.#jobs.get(job);
    if (!running) throw new Unavailable('the query was given up');
    const { engine, lastsMs } = running;
    running.untilMs = performance.now() + lastsMs;
    const part = await this.#ask(engine, { kind: 'part', job }, lastsMs);
    if (part === null) this.#jobs.delete(job);
    return part as Uint8Array | null;
  }

  async #end(job: number): Promise<null> {
    const running = this.#jobs.get(job);
    this.#jobs.delete(job);
    if (running) await this.#ask(running.engine, { kind: 'end', job }, HANG_MS);
    return null;
  }

  #start(): EngineLink {
    if (!isInstalled()) throw new Unavailable(NOT_INSTALLED);
    const { NEARSKY_DATA, TAP_MEMORY_MIB, TAP_REFRESH_SECONDS, TAP_MAX_UPLOAD_MIB, API_MAX_TABLE_ROWS } = this.#config;
    let engine: EngineLink;
    try {
      engine = new EngineLink(NEARSKY_DATA, error => {
        if (this.#engine === engine) this.#engine = undefined;
        for (const [job, { engine: of }] of this.#jobs) if (of === engine) this.#jobs.delete(job);
        if (error) this.#log('tap_engine_ended', { error });
      });
    } catch (error) {
      throw new Unavailable(`the engine of queries cannot be started: ${messageOf(error)}`);
    }
    const options = {
      dataDir: NEARSKY_DATA,
      memoryMib: TAP_MEMORY_MIB,
      threads: Math.min(MAX_THREADS, availableParallelism()),
      refreshSeconds: TAP_REFRESH_SECONDS,
      uploads: { maxRows: API_MAX_TABLE_ROWS, maxBytes: TAP_MAX_UPLOAD_MIB * 2 ** 20 },
    };
    engine.opened = this.#ask(engine, { kind: 'open', options }, OPEN_MS);
    engine.opened.catch(() => engine.kill());
    return engine;
  }

  /** An engine that does not answer in time is ended. */
  async #ask(engine: EngineLink, message: Message, mostMs: number): Promise<TapBegun | Uint8Array | null> {
    const timer = setTimeout(() => engine.kill(), mostMs);
    try {
      return await engine.ask(message);
    } catch (error) {
      throw new Unavailable(`the engine of queries has failed: ${messageOf(error)}`);
    } finally {
      clearTimeout(timer);
    }
  }

  close(): void {
    this.#engine?.close();
  }
}

/** Whether queries can be answered here at all. */
export function canQuery({ TAP_MAX_QUERIES }: Config): boolean {
  return TAP_MAX_QUERIES > 0 && isInstalled();
}

/** Whether DuckDB is there, which is not loaded for that. */
export function isInstalled(): boolean {
  try {
    createRequire(programFile('package.json')).resolve('@duckdb/node-api');
    return true;
  } catch {
    return false;
  }
}

type Message = ToEngine extends infer M ? (M extends unknown ? Omit<M, 'id'> : never) : never;

/** The process, and the questions that it has not answered. */
class EngineLink {
  opened: Promise<unknown> = Promise.resolve();
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, PromiseWithResolvers<TapBegun | Uint8Array | null>>();
  readonly #onEnd: (error: string | undefined) => void;
  #lastId = 0;
  #isEnded = false;
  #isClosed = false;

  /** @param onEnd called once; without an error where it was ended on purpose */
  constructor(dataDir: string, onEnd: (error: string | undefined) => void) {
    this.#onEnd = onEnd;
    const entry = fileURLToPath(programModule('workers/tap_engine'));
    // `fork` would give the process every permission under Deno.
    this.#child = spawn(process.execPath, [...programArguments(programFile('.'), dataDir), entry], {
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    this.#child.on('message', (message: FromEngine) => {
      const waiting = this.#waiting.get(message.id);
      this.#waiting.delete(message.id);
      if ('error' in message) waiting?.reject(new Error(message.error));
      else waiting?.resolve(message.answer);
    });
    this.#child.on('error', error => this.#end(messageOf(error)));
    this.#child.on('exit', (code, signal) => this.#end(`the process ended with ${signal ?? code}`));
    // The service ends although the engine runs.
    this.#child.unref();
    this.#child.channel?.unref();
  }

  ask(message: Message): Promise<TapBegun | Uint8Array | null> {
    if (this.#isEnded) return Promise.reject(new Error('its process has ended'));
    const id = ++this.#lastId;
    const waiting = Promise.withResolvers<TapBegun | Uint8Array | null>();
    this.#waiting.set(id, waiting);
    this.#child.send({ id, ...message } as ToEngine, error => {
      if (error) this.#end(messageOf(error));
    });
    return waiting.promise;
  }

  /** Ends the process at once, whatever it does. */
  kill(): void {
    this.#child.kill('SIGKILL');
  }

  /** Lets the process end: the export that it makes is given up. */
  close(): void {
    this.#isClosed = true;
    if (this.#child.connected) this.#child.disconnect();
    setTimeout(() => this.kill(), CLOSE_MS).unref();
  }

  #end(error: string): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    for (const { reject } of this.#waiting.values()) reject(new Error(error));
    this.#waiting.clear();
    this.#onEnd(this.#isClosed ? undefined : error);
  }
}
