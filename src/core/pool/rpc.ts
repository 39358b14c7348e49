/**
 * Requests to another thread or process and their replies, over any channel of messages. A number pairs each reply with
 * its request.
 */
import type { MessagePort } from 'node:worker_threads';
import { messageOf } from '../base/error_text.ts';
import { withTimeout } from '../base/timeout.ts';

export interface Numbered {
  readonly id: number;
}

/**
 * @typeParam Failure the type that is sent instead of an error, because structured clone would lose the error's class
 */
export type Reply<Failure = string> = Numbered & ({ readonly answer: unknown } | { readonly failure: Failure });

/** The side that sends requests. */
export class Caller<Request extends object, Failure = string> {
  readonly #send: (request: Request & Numbered) => void;
  readonly #errorOf: (failure: Failure) => unknown;
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  #lastId = 0;
  #end: { readonly error: unknown } | undefined;

  constructor(
    send: (request: Request & Numbered) => void,
    errorOf: (failure: Failure) => unknown = failure => new Error(`${failure}`),
  ) {
    this.#send = send;
    this.#errorOf = errorOf;
  }

  /** The side that sends requests, over a port that carries no other messages. */
  static over<Request extends object>(port: MessagePort): Caller<Request> {
    const caller = new Caller<Request>(request => port.postMessage(request));
    port.on('message', (message: Reply) => caller.hear(message));
    return caller;
  }

  ask<Answer>(request: Request): Promise<Answer> {
    return this.#begin(request).promise as Promise<Answer>;
  }

  /** Like `ask`, but returns undefined if no reply comes within this many milliseconds. */
  async askWithin<Answer>(request: Request, milliseconds: number): Promise<{ readonly answer: Answer } | undefined> {
    const { id, promise } = this.#begin(request);
    const reply = promise.then(answer => ({ answer: answer as Answer }));
    return await withTimeout(reply, milliseconds).finally(() => this.#waiting.delete(id));
  }

  #begin(request: Request): { readonly id: number; readonly promise: Promise<unknown> } {
    const id = ++this.#lastId;
    const call = Promise.withResolvers<unknown>();
    if (this.#end) call.reject(this.#end.error);
    else {
      this.#waiting.set(id, call);
      this.#send({ ...request, id });
    }
    return { id, promise: call.promise };
  }

  hear(reply: Reply<Failure>): void {
    const call = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    if ('answer' in reply) call?.resolve(reply.answer);
    else call?.reject(this.#errorOf(reply.failure));
  }

  /** Fails the requests in progress and all later ones: the other side has ended. */
  end(error: unknown): void {
    this.#end ??= { error };
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}

/** The side that receives requests: answers one request. */
export async function reply<Failure = string>(
  { id }: Numbered,
  work: () => unknown,
  send: (reply: Reply<Failure>) => void,
  failureOf: (error: unknown) => Failure = messageOf as (error: unknown) => Failure,
): Promise<void> {
  try {
    send({ id, answer: await work() });
  } catch (error) {
    send({ id, failure: failureOf(error) });
  }
}

/** Replies to every request of a port that carries no other messages. */
export function replyOver<Request>(port: MessagePort, work: (request: Request) => unknown): void {
  port.on('message', (request: Request & Numbered) => {
    void reply(
      request,
      () => work(request),
      message => port.postMessage(message),
    );
  });
}
