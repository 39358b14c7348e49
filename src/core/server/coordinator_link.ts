/** The coordinator's interface for serving threads. */
import type { MessagePort } from 'node:worker_threads';
import type { Budget } from '../base/budget.ts';
import type { Channel } from '../base/channel.ts';
import { logTo } from '../base/log.ts';
import { Unavailable } from '../base/refusal.ts';
import { noteGarbage } from '../base/shared_memory.ts';
import type { SharedState } from '../base/shared_state.ts';
import type { PublishedGeneration } from '../generations/tasks.ts';
import { Caller } from '../pool/rpc.ts';
import type { Coordination } from '../service/coordination.ts';
import type { Call, Failure, ToMain, ToServer } from './messages.ts';

/** How long after a call's budget the coordinator may still report why there is no answer. */
const LATE_MS = 250;

export class CoordinatorLink implements Coordination {
  readonly state: SharedState;
  onGeneration = () => {};
  readonly log = logTo((event, fields) => this.send({ kind: 'log', event, fields }));
  readonly #port: MessagePort;
  readonly #calls = new Caller<Call, Failure>(call => this.send(call), errorOf);
  #generation: PublishedGeneration | undefined;
  /** The number of bytes that the indexer had replaced when it last announced a generation. */
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
          return this.#calls.hear(message.reply);
      }
    });
  }

  get generation(): PublishedGeneration | undefined {
    return this.#generation;
  }

  #publish(generation: PublishedGeneration | undefined): void {
    this.#generation = generation;
    if (generation) {
      noteGarbage(generation.replacedBytes - this.#replacedBytes);
      this.#replacedBytes = generation.replacedBytes;
    }
    this.onGeneration();
  }

  discard(generation: number): void {
    this.send({ kind: 'stale', number: generation });
    if (this.#generation?.number === generation) this.#generation = undefined;
  }

  async ask<Asked, Answer>({ name, isHeld }: Channel<Asked, Answer>, asked: Asked, budget: Budget): Promise<Answer> {
    const { remainingMs } = budget;
    const call = { kind: 'call', channel: { name, isHeld }, asked, budgetMs: remainingMs } as const;
    const reply = await this.#calls.askWithin<Answer>(call, remainingMs + LATE_MS);
    if (!reply) throw new Unavailable('the service is busy');
    return reply.answer;
  }

  release({ name, isHeld }: Channel<never, unknown>, slot: number): void {
    this.send({ kind: 'release', channel: { name, isHeld }, slot });
  }

  send(message: ToMain): void {
    this.#port.postMessage(message);
  }

  /** Closes the link: no messages are sent or received any more. */
  close(): void {
    this.#port.close();
  }
}

function errorOf({ isRefusal, message, retryAfterSeconds }: Failure): Error {
  return isRefusal ? new Unavailable(message, retryAfterSeconds) : new Error(message);
}
