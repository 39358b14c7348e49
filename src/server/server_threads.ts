/**
 * The threads that serve, as the main thread sees them: started, told of each generation, answered, watched, replaced,
 * ended.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { Budget } from '../base/budget.ts';
import { messageOf } from '../base/error_text.ts';
import type { Log } from '../base/log.ts';
import { programModule } from '../base/program_files.ts';
import { Unavailable } from '../base/refusal.ts';
import { withTimeout } from '../base/timeout.ts';
import type { Config } from '../config/config.ts';
import type { ThreadsWatched } from '../metrics/service_metrics.ts';
import { ThreadMetrics } from '../metrics/thread_metrics.ts';
import { Pool } from '../pool/pool.ts';
import { type Reply, reply } from '../pool/rpc.ts';
import type { PublishedGeneration } from '../publish/tasks.ts';
import type { Coordination } from '../service/coordination.ts';
import type { Failure, ToMain, ToServer } from './messages.ts';
import { BEAT_MS, type ServeTask } from './server_thread.ts';

/** The time beyond a request's budget for which a thread may give no sign of life. */
const HUNG_MS = 5000;
/**
 * A thread that dies younger than this is replaced only when this time has passed since its start. A thread that dies as
 * it starts would otherwise keep the process busy.
 */
const SHORT_LIFE_MS = 5000;
const REPLACE_MS = 500;
/** The time beyond its drain that a thread may take to end, and the time that an ended thread may take to be gone. */
const END_MS = 1000;
const GONE_MS = 3000;

export interface ServerThreadsOptions {
  readonly config: Config;
  readonly log: Log;
  /** The number of threads, at least 1. */
  readonly threads: number;
  readonly coordination: Coordination;
  /**
   * Called when a thread hangs and cannot be ended (Deno 2.9.5 ends no endless loop): its socket goes on to take a
   * share of the connections, and nobody answers these before the process ends.
   */
  readonly onUnending?: () => void;
  /** The module of the threads; tests give one whose threads misbehave. */
  readonly entry?: URL;
}

/** A server thread and its successors: when a thread ends, the next one takes its place. */
class Child {
  readonly metrics = new ThreadMetrics();
  /** The port to the present thread. */
  link: MessagePort | undefined;
  /** Ends the present thread. */
  ends = new AbortController();
  /** Resolves when the present thread has ended. */
  ended: Promise<void> = Promise.resolve();
  /**
   * Whether the present thread has given a sign of life: ending a thread that still loads its modules would end the
   * process with it.
   */
  hasBegun = false;
  /** The last sign of life, and the number of checks since that found no new one. */
  beats = 0;
  missed = 0;

  send(message: ToServer): void {
    this.link?.postMessage(message);
  }
}

export class ServerThreads {
  readonly #options: ServerThreadsOptions;
  readonly #config: Config;
  readonly #pool: Pool;
  readonly #children: readonly Child[];
  readonly #watch: ReturnType<typeof setInterval>;
  #port: number;
  #operations: readonly string[] = [];
  #replaced = 0;
  #isClosing = false;

  constructor(options: ServerThreadsOptions) {
    const { config, threads, entry = programModule('workers/server') } = options;
    this.#options = options;
    // Sessions of the connector are those of the process, whichever thread has issued them.
    this.#config = {
      ...config,
      MCP_SESSION_SECRET: config.MCP_SESSION_SECRET ?? randomBytes(32).toString('base64url'),
    };
    this.#port = config.NEARSKY_PORT;
    this.#children = Array.from({ length: threads }, () => new Child());
    this.#pool = new Pool({ threads, entry, maxHeapMib: config.NEARSKY_WORKER_HEAP_MIB });
    this.#watch = setInterval(() => this.#look(), BEAT_MS);
  }

  get watched(): ThreadsWatched {
    return {
      threads: this.#children.map(({ metrics }) => metrics),
      operations: this.#operations,
      replaced: this.#replaced,
    };
  }

  /**
   * Starts the threads.
   * @returns the port on which all of them listen
   * @throws Error when a thread cannot listen
   */
  async start(): Promise<number> {
    const [first, ...others] = this.#children;
    // The first one may take a free port, which then is everyone's.
    await this.#start(first!);
    await Promise.all(others.map(child => this.#start(child)));
    return this.#port;
  }

  publish(generation: PublishedGeneration | undefined): void {
    for (const child of this.#children) child.send({ kind: 'generation', generation });
  }

  /** Lets the threads finish their answers, for at most `drainMs`, and ends them. */
  async close(drainMs: number): Promise<void> {
    this.#isClosing = true;
    clearInterval(this.#watch);
    await Promise.all(
      this.#children.map(async child => {
        child.send({ kind: 'drain', drainMs });
        await Promise.race([child.ended, sleep(drainMs + END_MS, undefined, { ref: false })]);
        child.ends.abort();
      }),
    );
    await this.#pool.close();
  }

  /** Starts the thread of a child; resolves when it listens, rejects when it has ended before. */
  #start(child: Child): Promise<void> {
    const { port1: link, port2 } = new MessageChannel();
    const listening = Promise.withResolvers<void>();
    const task: ServeTask = {
      kind: 'serve',
      config: this.#config,
      threads: this.#children.length,
      host: this.#config.NEARSKY_HOST,
      port: this.#port,
      metrics: child.metrics.memory,
      state: this.#options.coordination.state.memory,
      generation: this.#options.coordination.generation,
      link: port2,
    };
    link.on('message', (message: ToMain) => {
      if (message.kind !== 'listening') void this.#hear(link, message);
      else {
        this.#port = message.port;
        this.#operations = message.operations;
        // A generation may have been published while the thread started.
        this.publish(this.#options.coordination.generation);
        listening.resolve();
      }
    });
    // The other side closes with its thread, under both runtimes.
    const gone = new Promise<true>(resolve => link.once('close', () => resolve(true)));
    child.link = link;
    child.ends = new AbortController();
    const startMs = performance.now();
    const run = this.#pool.run(task, {
      transferList: [port2],
      ends: child.ends.signal,
      timeoutMs: Number.POSITIVE_INFINITY,
    });
    child.ended = run.then(
      () => this.#onEnd(child),
      async error => {
        listening.reject(error);
        this.#onEnd(child);
        if (this.#isClosing) return;
        if (await withTimeout(gone, GONE_MS)) return this.#replace(child, error, performance.now() - startMs);
        this.#options.log('server_thread_unending');
        this.#options.onUnending?.();
      },
    );
    return listening.promise;
  }

  #onEnd(child: Child): void {
    child.link?.unref();
    child.link = undefined;
    child.hasBegun = false;
    child.missed = 0;
    this.#options.coordination.state.freeAnswers(child.metrics.get('answerKib'));
    for (const gauge of ['connections', 'openRequests', 'waitingQueries', 'answerKib', 'streams'] as const)
      child.metrics.set(gauge, 0);
  }

  async #replace(child: Child, error: unknown, lifeMs: number): Promise<void> {
    this.#replaced++;
    this.#options.log('server_thread_replaced', { error: messageOf(error) });
    if (lifeMs < SHORT_LIFE_MS) await sleep(REPLACE_MS, undefined, { ref: false });
    if (this.#isClosing) return;
    this.#start(child).catch(error => this.#options.log('server_thread_failed', { error: messageOf(error) }));
  }

  /**
   * Ends threads without a sign of life. Time does not count while this thread stands still itself, for example while
   * the process is stopped.
   */
  #look(): void {
    const limit = (1000 * this.#config.API_REQUEST_BUDGET_SECONDS + HUNG_MS) / BEAT_MS;
    for (const child of this.#children) {
      const beats = child.metrics.get('beats');
      if (beats !== child.beats) child.hasBegun = true;
      child.missed = beats === child.beats && child.hasBegun ? child.missed + 1 : 0;
      child.beats = beats;
      if (child.missed <= limit) continue;
      this.#options.log('server_thread_hung', { seconds: (child.missed * BEAT_MS) / 1000 });
      child.ends.abort();
    }
  }

  async #hear(link: MessagePort, message: Exclude<ToMain, { kind: 'listening' }>): Promise<void> {
    const { coordination, log } = this.#options;
    switch (message.kind) {
      case 'stale':
        return coordination.discard(message.number);
      case 'log':
        return log(message.event, message.fields);
      case 'free':
        return coordination.free(message.slot);
      case 'call': {
        const { name, asked, budgetMs } = message;
        const work = () => coordination.ask(name, asked, new Budget(budgetMs / 1000));
        const send = (reply: Reply<Failure>) => link.postMessage({ kind: 'reply', reply } satisfies ToServer);
        return reply(message, work, send, failureOf);
      }
    }
  }
}

function failureOf(error: unknown): Failure {
  const refusal = error instanceof Unavailable ? error : undefined;
  return {
    isRefusal: refusal !== undefined,
    message: messageOf(error),
    retryAfterSeconds: refusal?.retryAfterSeconds,
  };
}
