/** The further acceptors, as the main thread sees them: started, told of each generation, answered, replaced when they die, and ended. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { App } from '../app.ts';
import type { Config } from '../config.ts';
import { messageOf } from '../error_text.ts';
import { PlainRequest } from '../http/incoming.ts';
import type { Log } from '../log.ts';
import { ThreadMetrics } from '../metrics/thread_metrics.ts';
import { programModule } from '../program_files.ts';
import type { LocalIndex } from '../publish/index_source.ts';
import type { AcceptorData, CallName, Calls, ForwardedRequest, ToAcceptor, ToMain } from './protocol.ts';

/** How long to wait before a dead acceptor is replaced: one that dies as it starts must not keep the process busy. */
const REPLACE_MS = 500;
/** For how much longer than its drain an acceptor may take to end. */
const END_MS = 1000;

export interface CrewOptions {
  readonly config: Config;
  readonly log: Log;
  /** That of the main thread, which answers what is forwarded. */
  readonly app: App;
  readonly index: LocalIndex;
  readonly host: string;
  readonly port: number;
  /** Query threads of each of the further acceptors. */
  readonly workers: readonly number[];
  /** The module of the threads, where a test wants some that die. */
  readonly entry?: URL;
}

/** One place, which one thread after another may hold. */
class Seat {
  readonly metrics = new ThreadMetrics();
  readonly workers: number;
  thread: Worker | undefined;
  ended = () => {};

  constructor(workers: number) {
    this.workers = workers;
  }

  send(message: ToAcceptor): void {
    this.thread?.postMessage(message);
  }
}

export class AcceptorCrew {
  readonly #options: CrewOptions;
  readonly #seats: readonly Seat[];
  #replaced = 0;
  #isClosing = false;

  constructor(options: CrewOptions) {
    this.#options = options;
    this.#seats = options.workers.map(workers => new Seat(workers));
  }

  /** What each of them counts. */
  get metrics(): readonly ThreadMetrics[] {
    return this.#seats.map(({ metrics }) => metrics);
  }

  /** How many threads have died and were replaced. */
  get replaced(): number {
    return this.#replaced;
  }

  /**
   * Starts them; resolves when all of them listen.
   * @throws Error when one cannot
   */
  async start(): Promise<void> {
    await Promise.all(this.#seats.map(seat => this.#fill(seat)));
  }

  /** Tells them of the generation that is published now. */
  publish(): void {
    const generation = this.#options.index.current;
    for (const seat of this.#seats) seat.send({ kind: 'generation', generation });
  }

  /** Has them finish what they answer, for at most `drainMs`, and ends them. */
  async close(drainMs: number): Promise<void> {
    this.#isClosing = true;
    await Promise.all(
      this.#seats.map(async seat => {
        const { thread } = seat;
        if (!thread) return;
        const ended = new Promise<void>(resolve => (seat.ended = resolve));
        seat.send({ kind: 'drain', drainMs });
        await Promise.race([ended, sleep(drainMs + END_MS, undefined, { ref: false })]);
        await thread.terminate();
      }),
    );
  }

  #fill(seat: Seat): Promise<void> {
    const { config, host, port, entry = programModule('src/acceptors/acceptor') } = this.#options;
    const acceptors = this.#seats.length + 1;
    const metrics = seat.metrics.memory;
    const workerData: AcceptorData = { config, acceptors, workers: seat.workers, host, port, metrics };
    const thread = new Worker(entry, { workerData });
    seat.thread = thread;
    seat.send({ kind: 'generation', generation: this.#options.index.current });
    return new Promise((resolve, reject) => {
      thread.on('message', (message: ToMain) => {
        if (message.kind === 'listening') resolve();
        else if (message.kind === 'failed') {
          reject(new Error(message.error));
          void thread.terminate();
        } else void this.#hear(seat, message);
      });
      thread.on('error', error => this.#options.log('acceptor_failed', { error: messageOf(error) }));
      thread.on('exit', () => {
        reject(new Error('an acceptor ended before it listened'));
        void this.#replace(seat, thread);
      });
    });
  }

  async #replace(seat: Seat, dead: Worker): Promise<void> {
    seat.ended();
    if (seat.thread !== dead) return;
    seat.thread = undefined;
    for (const gauge of ['connections', 'openRequests', 'waitingQueries'] as const) seat.metrics.set(gauge, 0);
    if (this.#isClosing) return;
    this.#replaced++;
    this.#options.log('acceptor_replaced', {});
    await sleep(REPLACE_MS, undefined, { ref: false });
    if (this.#isClosing) return;
    await this.#fill(seat).catch(error => this.#options.log('acceptor_failed', { error: messageOf(error) }));
  }

  async #hear(seat: Seat, message: Exclude<ToMain, { kind: 'listening' | 'failed' }>): Promise<void> {
    switch (message.kind) {
      case 'drained':
        return seat.ended();
      case 'stale':
        return this.#options.index.discard(message.number);
      case 'log':
        return this.#options.log(message.event, message.fields);
      case 'call': {
        const { thread } = seat;
        const answer = await this.#answer(message.name, message.asked);
        if (seat.thread === thread) seat.send({ kind: 'answer', id: message.id, answer });
      }
    }
  }

  async #answer(name: CallName, asked: Calls[CallName]['asked']): Promise<Calls[CallName]['answer']> {
    const { app, index } = this.#options;
    if (name === 'probe') return await index.probe();
    const { method, url, headers, body, peerAddress, budgetMs } = asked as ForwardedRequest;
    return await app.handle(
      new PlainRequest(method, url, headers, body && new Uint8Array(body)),
      peerAddress,
      budgetMs / 1000,
    );
  }
}
