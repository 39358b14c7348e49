/** The queries in ADQL of one process: another process runs them, whose end harms none but these. */
import { type ChildProcess, fork } from 'node:child_process';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { messageOf } from '../base/error_text.ts';
import type { Log } from '../base/log.ts';
import { programFile, programModule } from '../base/program_files.ts';
import { Unavailable } from '../base/refusal.ts';
import type { Config } from '../config/config.ts';
import type { TapBegun, TapQuery } from './engine.ts';
import type { FromEngine, ToEngine } from './engine_process.ts';

export type TapStep =
  | { readonly step: 'begin'; readonly query: TapQuery }
  | { readonly step: 'part' | 'end'; readonly job: number };
export interface TapStarted {
  readonly job: number;
  readonly begun: TapBegun;
}
/** The answer to a step: the query that was begun, a part of its answer, or null at the end. */
export type TapAnswer = TapStarted | Uint8Array | null;

/** The time beyond that of a query after which the process is taken to hang, and is ended. */
const HANG_MS = 15_000;
/** The time in which the process may end by itself. */
const CLOSE_MS = 2000;
const MAX_THREADS = 4;

const NOT_INSTALLED = 'DuckDB is not installed here: npm install @duckdb/node-api, or run nearsky from a checkout';

export class Tap {
  readonly #config: Config;
  readonly #log: Log;
  #engine: EngineLink | undefined;
  #lastJob = 0;
  /** The engine of each query that runs, and when the query was last heard of. */
  readonly #jobs = new Map<number, { readonly engine: EngineLink; heardMs: number }>();

  constructor(config: Config, log: Log) {
    this.#config = config;
    this.#log = log;
  }

  /** @throws Unavailable where there is no engine, it has ended, or too many queries run */
  async step(asked: TapStep): Promise<TapAnswer> {
    if (asked.step === 'begin') return await this.#begin(asked.query);
    const { job, step } = asked;
    const running = this.#jobs.get(job);
    if (!running) {
      if (step === 'end') return null;
      throw new Unavailable('the query was given up');
    }
    running.heardMs = performance.now();
    if (step === 'end') this.#jobs.delete(job);
    const part = await this.#ask(running.engine, { kind: step, job });
    if (part === null) this.#jobs.delete(job);
    return part as Uint8Array | null;
  }

  async #begin(query: TapQuery): Promise<TapAnswer> {
    const { TAP_MAX_QUERIES, TAP_QUERY_SECONDS } = this.#config;
    if (TAP_MAX_QUERIES === 0) throw new Unavailable('queries in ADQL are switched off here (TAP_MAX_QUERIES)');
    const forgotten = performance.now() - 1000 * TAP_QUERY_SECONDS - HANG_MS;
    for (const [job, { heardMs }] of this.#jobs) if (heardMs < forgotten) this.#jobs.delete(job);
    if (this.#jobs.size >= TAP_MAX_QUERIES) throw new Unavailable(`${TAP_MAX_QUERIES} queries in ADQL run already`);
    const engine = (this.#engine ??= this.#start());
    const job = ++this.#lastJob;
    this.#jobs.set(job, { engine, heardMs: performance.now() });
    try {
      await engine.opened;
      const begun = (await this.#ask(engine, { kind: 'begin', job, query })) as TapBegun;
      if (begun.outcome === 'unavailable') throw new Unavailable(begun.message);
      if (begun.outcome === 'refused') this.#jobs.delete(job);
      return { job, begun };
    } catch (error) {
      this.#jobs.delete(job);
      throw error;
    }
  }

  #start(): EngineLink {
    if (!isInstalled()) throw new Unavailable(NOT_INSTALLED);
    const { NEARSKY_DATA, TAP_MEMORY_MIB, TAP_QUERY_SECONDS, TAP_REFRESH_SECONDS } = this.#config;
    let engine: EngineLink;
    try {
      engine = new EngineLink(error => {
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
      querySeconds: TAP_QUERY_SECONDS,
      refreshSeconds: TAP_REFRESH_SECONDS,
    };
    engine.opened = this.#ask(engine, { kind: 'open', options });
    engine.opened.catch(() => engine.kill());
    return engine;
  }

  /** An engine that does not answer is ended. */
  async #ask(engine: EngineLink, message: Parameters<EngineLink['ask']>[0]): Promise<TapBegun | Uint8Array | null> {
    const timer = setTimeout(() => engine.kill(), 1000 * this.#config.TAP_QUERY_SECONDS + HANG_MS);
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
  constructor(onEnd: (error: string | undefined) => void) {
    this.#onEnd = onEnd;
    this.#child = fork(fileURLToPath(programModule('workers/tap_engine')), [], {
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      execArgv: [],
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

  /** Lets the process end: its part of a snapshot is given up. */
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
