/**
 * The main thread's control of the serving threads: it starts them, tells them each generation, answers their requests,
 * and watches, replaces and ends them.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { Budget } from '../base/budget.ts';
import type { Channel } from '../base/channel.ts';
import { messageOf } from '../base/error_text.ts';
import type { Log } from '../base/log.ts';
import { Unavailable } from '../base/refusal.ts';
import { withTimeout } from '../base/timeout.ts';
import type { Config } from '../config/config.ts';
import type { PublishedGeneration } from '../generations/tasks.ts';
import type { ThreadsWatched } from '../metrics/measured.ts';
import { ThreadMetrics } from '../metrics/thread_metrics.ts';
import { Pool } from '../pool/pool.ts';
import { type Reply, reply } from '../pool/rpc.ts';
import type { Coordination } from '../service/coordination.ts';
import type { Failure, ToMain, ToServer } from './messages.ts';
import { BEAT_MS, type ServeTask } from './server_thread.ts';

/** A thread counts as hung if it shows no sign of life for this long after a request's budget. */
const HUNG_MS = 5000;
/**
 * If a thread dies within this time after its start, it is replaced only when the time is over. Otherwise a thread that
 * always dies at its start would keep the process busy.
 */
const SHORT_LIFE_MS = 5000;
const REPLACE_MS = 500;
/** The time limit for a thread to end after its drain, and for a terminated thread to disappear. */
const END_MS = 1000;
const GONE_MS = 3000;

interface ServerThreadsOptions {
  readonly config: Config;
  readonly log: Log;
  /** The number of threads, at least 1. */
  readonly threads: number;
  readonly coordination: Coordination;
  /**
   * Called if a thread hangs and cannot be ended (Deno 2.9.5 cannot end an endless loop). Its socket continues to
   * accept a share of the connections. These stay unanswered until the process ends.
   */
  readonly onUnending?: () => void;
  /** The module of the threads; tests use one whose threads misbehave. */
  readonly module?: ServeTask['module'];
}

/** A serving thread and its successors: when a thread ends, the next one replaces it. */
class Child {
  readonly metrics = new ThreadMetrics();
  /** The slots that the thread holds, by the name of their channel. */
  readonly held = new Map<string, Set<number>>();
  link: MessagePort | undefined;
  ends = new AbortController();
  /** Resolves when the current thread has ended. */
  ended: Promise<void> = Promise.resolve();
  /** Whether the current thread has sent a heartbeat. A thread that is still loading its modules has not hung. */
  hasBegun = false;
  /** The last heartbeat, and the number of later checks that found no new one. */
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
    const { config, threads } = options;
    this.#options = options;
    this.#config = config;
    this.#port = config.NEARSKY_PORT;
    this.#children = Array.from({ length: threads }, () => new Child());
    this.#pool = new Pool({ threads, maxHeapMib: config.NEARSKY_WORKER_HEAP_MIB });
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
    // The first thread may choose a free port, which then applies to all.
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

  /** Starts the thread of a child. Resolves when it listens; rejects if it ends before. */
  #start(child: Child): Promise<void> {
    const { port1: link, port2 } = new MessageChannel();
    const listening = Promise.withResolvers<void>();
    const task: ServeTask = {
      module: this.#options.module ?? 'src/serving_thread',
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
      if (message.kind !== 'listening') void this.#hear(child, link, message);
      else {
        this.#port = message.port;
        this.#operations = message.operations;
        // A generation may have been published while the thread started.
        this.publish(this.#options.coordination.generation);
        listening.resolve();
      }
    });
    // Under both runtimes, the other side of the port closes with its thread.
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
    for (const [name, slots] of child.held)
      for (const slot of slots) this.#options.coordination.release(heldChannel(name), slot);
    child.held.clear();
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
   * Ends threads without a heartbeat. Time in which this thread itself is not running does not count, for example while
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

  /** Keeps a slot that a thread holds, to release it when the thread ends. */
  #hold(child: Child, link: MessagePort, name: string, slot: number): void {
    const slots = child.held.get(name) ?? new Set();
    if (child.link === link) child.held.set(name, slots.add(slot));
    else this.#options.coordination.release(heldChannel(name), slot);
  }

  async #hear(child: Child, link: MessagePort, message: Exclude<ToMain, { kind: 'listening' }>): Promise<void> {
    const { coordination, log } = this.#options;
    switch (message.kind) {
      case 'stale':
        return coordination.discard(message.number);
      case 'log':
        return log(message.event, message.fields);
      case 'release':
        child.held.get(message.channel.name)?.delete(message.slot);
        return coordination.release(message.channel, message.slot);
      case 'call': {
        const { channel, asked, budgetMs } = message;
        const work = async () => {
          const answer = await coordination.ask(channel, asked, new Budget(budgetMs / 1000));
          if (channel.isHeld) this.#hold(child, link, channel.name, answer as number);
          return answer;
        };
        const send = (reply: Reply<Failure>) => link.postMessage({ kind: 'reply', reply } satisfies ToServer);
        return reply(message, work, send, failureOf);
      }
    }
  }
}

const heldChannel = (name: string): Channel<never, unknown> => ({ name, isHeld: true });

function failureOf(error: unknown): Failure {
  const refusal = error instanceof Unavailable ? error : undefined;
  return {
    isRefusal: refusal !== undefined,
    message: messageOf(error),
    retryAfterSeconds: refusal?.retryAfterSeconds,
  };
}
