/** The main thread, as a further acceptor sees it. */
import type { MessagePort } from 'node:worker_threads';
import type { ProbeAnswer, PublishedGeneration } from '../../workers/tasks.ts';
import { MAX_BODY_BYTES } from '../contract/limits.ts';
import type { Exchange } from '../http/exchange.ts';
import { readUpTo } from '../http/incoming.ts';
import { REQUEST_ID_HEADER } from '../http/request_id.ts';
import type { Answer } from '../http/respond.ts';
import { type Log, plainly } from '../log.ts';
import type { IndexSource } from '../publish/index_source.ts';
import type { CallName, Calls, ToAcceptor, ToMain } from './protocol.ts';

export class MainThread implements IndexSource {
  readonly #port: MessagePort;
  readonly #waiting = new Map<number, (answer: never) => void>();
  #calls = 0;
  #current: PublishedGeneration | undefined;
  #probe: Promise<ProbeAnswer | undefined> | undefined;

  constructor(port: MessagePort, onDrain: (drainMs: number) => void) {
    this.#port = port;
    port.on('message', (message: ToAcceptor) => {
      switch (message.kind) {
        case 'generation':
          this.#current = message.generation;
          return;
        case 'drain':
          return onDrain(message.drainMs);
        case 'answer':
          this.#waiting.get(message.id)?.(message.answer as never);
          this.#waiting.delete(message.id);
      }
    });
  }

  readonly log: Log = (event, fields) => {
    // What cannot be cloned is text in the log anyway.
    this.send({ kind: 'log', event, fields: fields && JSON.parse(JSON.stringify(fields, plainly)) });
  };

  get current(): PublishedGeneration | undefined {
    return this.#current;
  }

  discard(generation: number): void {
    this.send({ kind: 'stale', number: generation });
    if (this.#current?.number === generation) this.#current = undefined;
  }

  /** Callers at the same time share one look. */
  probe(): Promise<ProbeAnswer | undefined> {
    this.#probe ??= this.#call('probe', null).finally(() => {
      this.#probe = undefined;
    });
    return this.#probe;
  }

  /** Has a request answered there. */
  async forward({ request, requestId, peerAddress, budget }: Exchange): Promise<Answer> {
    const { method, url, headers } = request;
    const body = request.body && (await readUpTo(request.body, MAX_BODY_BYTES + 1, budget.remainingMs));
    const budgetMs = budget.remainingMs;
    return await this.#call('forward', {
      method,
      url,
      headers: [...headers, [REQUEST_ID_HEADER.toLowerCase(), requestId]],
      body: body?.buffer ?? null,
      peerAddress,
      budgetMs,
    });
  }

  send(message: ToMain): void {
    this.#port.postMessage(message);
  }

  #call<N extends CallName>(name: N, asked: Calls[N]['asked']): Promise<Calls[N]['answer']> {
    const id = ++this.#calls;
    return new Promise(resolve => {
      this.#waiting.set(id, resolve);
      this.send({ kind: 'call', id, name, asked });
    });
  }
}
