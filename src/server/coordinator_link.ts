/** The coordinator, as a thread that serves sees it. */
import type { MessagePort } from 'node:worker_threads';
import type { Budget } from '../base/budget.ts';
import { logTo } from '../base/log.ts';
import { Unavailable } from '../base/refusal.ts';
import { discard } from '../base/shared_memory.ts';
import type { SharedState } from '../base/shared_state.ts';
import { withTimeout } from '../base/timeout.ts';
import type { PublishedGeneration } from '../publish/tasks.ts';
import type { CallName, Calls, Coordination } from '../service/coordination.ts';
import type { Reply, ToMain, ToServer } from './messages.ts';

/** The time beyond a call's budget in which the coordinator may say why there is no answer. */
const LATE_MS = 250;

export class CoordinatorLink implements Coordination {
  readonly state: SharedState;
  onGeneration = () => {};
  readonly log = logTo((event, fields) => this.send({ kind: 'log', event, fields }));
  readonly #port: MessagePort;
  readonly #calls = new Map<number, PromiseWithResolvers<{ readonly answer: Calls[CallName]['answer'] }>>();
  #callCount = 0;
  #generation: PublishedGeneration | undefined;
  /** The bytes that the publisher had replaced when it last announced a generation. */
  #replacedBytes: number;

  constructor(
    port: MessagePort,
    state: SharedState,
    generation: PublishedGeneration | undefined,
    onDrain: (drainMs: number) => void,
  ) {
    this.state = state;
    this.#port = port;
    this.#generation = generation;
    this.#replacedBytes = generation?.replacedBytes ?? 0;
    port.on('message', (message: ToServer) => {
      switch (message.kind) {
        case 'generation':
          return this.#publish(message.generation);
        case 'drain':
          return onDrain(message.drainMs);
        case 'reply':
          return this.#settle(message);
      }
    });
  }

  get generation(): PublishedGeneration | undefined {
    return this.#generation;
  }

  #publish(generation: PublishedGeneration | undefined): void {
    this.#generation = generation;
    if (generation) {
      discard(generation.replacedBytes - this.#replacedBytes);
      this.#replacedBytes = generation.replacedBytes;
    }
    this.onGeneration();
  }

  discard(generation: number): void {
    this.send({ kind: 'stale', number: generation });
    if (this.#generation?.number === generation) this.#generation = undefined;
  }

  async ask<N extends CallName>(name: N, asked: Calls[N]['asked'], budget: Budget): Promise<Calls[N]['answer']> {
    const number = ++this.#callCount;
    const call = Promise.withResolvers<{ readonly answer: Calls[CallName]['answer'] }>();
    this.#calls.set(number, call);
    const { remainingMs } = budget;
    this.send({ kind: 'call', number, name, asked, budgetMs: remainingMs });
    const reply = await withTimeout(call.promise, remainingMs + LATE_MS).finally(() => this.#calls.delete(number));
    if (!reply) throw new Unavailable('the service is busy');
    return reply.answer;
  }

  free(slot: number): void {
    this.send({ kind: 'free', slot });
  }

  send(message: ToMain): void {
    this.#port.postMessage(message);
  }

  /** Nothing comes or goes any more. */
  close(): void {
    this.#port.close();
  }

  #settle(reply: Reply): void {
    const call = this.#calls.get(reply.number);
    if ('answer' in reply) {
      call?.resolve(reply);
      return;
    }
    const { isRefusal, message, retryAfterSeconds } = reply.failure;
    call?.reject(isRefusal ? new Unavailable(message, retryAfterSeconds) : new Error(message));
  }
}
