/** Google Pub/Sub as its REST interface is documented: `pull` and `acknowledge` of one subscription, at least once, in any order. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Fault, type HttpRequest, startHttpServer } from './http_server.ts';

export const SUBSCRIPTION = 'projects/a-project/subscriptions/lsst-alerts-json';

export interface PubSubMessage {
  readonly data: Uint8Array;
  readonly attributes?: Readonly<Record<string, string>>;
}

/** An alert as Pitt-Google sends it. */
export const alertOf = (id: bigint, reliability = 0.9): PubSubMessage => ({
  data: Buffer.from(
    `{"diaObject": {"diaObjectId": ${id}, "ra": 10.5, "dec": -20.25}, "diaSource": {"reliability": ${reliability}}}`,
  ),
  attributes: { diaObject_diaObjectId: `${id}` },
});

export interface PubSubServerOptions {
  /** When a message that was not acknowledged is delivered again. */
  readonly ackDeadlineMs?: number;
  /** How long a pull waits if there are no messages. */
  readonly holdMs?: number;
  readonly fault?: (request: HttpRequest) => Fault | undefined;
  /** Whether the headers contain valid credentials. */
  readonly allows?: (headers: HttpRequest['headers']) => boolean;
}

interface Held {
  readonly message: PubSubMessage;
  readonly id: string;
  leasedUntilMs: number;
  deliveries: number;
}

export class PubSubServer {
  /** The `maxMessages` of each request. */
  readonly pulls: number[] = [];
  readonly acknowledged = new Set<string>();
  /** The number of deliveries, including repeated ones. */
  deliveries = 0;
  readonly #options: PubSubServerOptions;
  readonly #held = new Map<string, Held>();
  #nextId = 1;
  #http: Awaited<ReturnType<typeof startHttpServer>> | undefined;

  private constructor(options: PubSubServerOptions) {
    this.#options = options;
  }

  static async start(options: PubSubServerOptions = {}): Promise<PubSubServer> {
    const server = new PubSubServer(options);
    const forbidden = (request: HttpRequest) => (options.allows?.(request.headers) === false ? 403 : undefined);
    server.#http = await startHttpServer(
      request => server.#answer(request),
      request => forbidden(request) ?? options.fault?.(request),
    );
    return server;
  }

  get url(): string {
    return this.#http!.url;
  }

  /** The number of messages that are not acknowledged yet. */
  get waiting(): number {
    return this.#held.size;
  }

  /** The ids of the messages. */
  publish(messages: readonly PubSubMessage[]): string[] {
    return messages.map(message => {
      const id = `${this.#nextId++}`;
      this.#held.set(id, { message, id, leasedUntilMs: 0, deliveries: 0 });
      return id;
    });
  }

  close(): Promise<void> {
    return this.#http!.close();
  }

  async #answer({ url, body }: HttpRequest): Promise<unknown> {
    if (url.pathname === `/v1/${SUBSCRIPTION}:pull`) return await this.#pull(JSON.parse(body).maxMessages);
    if (url.pathname !== `/v1/${SUBSCRIPTION}:acknowledge`) return undefined;
    for (const ackId of JSON.parse(body).ackIds as string[]) {
      const id = ackId.split(':')[0]!;
      if (this.#held.delete(id)) this.acknowledged.add(id);
    }
    return {};
  }

  async #pull(maxMessages: number): Promise<unknown> {
    const { holdMs = 100, ackDeadlineMs = 500 } = this.#options;
    this.pulls.push(maxMessages);
    const untilMs = performance.now() + holdMs;
    for (;;) {
      const now = performance.now();
      const due = [...this.#held.values()].filter(({ leasedUntilMs }) => leasedUntilMs <= now).slice(0, maxMessages);
      if (due.length === 0 && now < untilMs) {
        await sleep(10);
        continue;
      }
      this.deliveries += due.length;
      for (const held of due) held.leasedUntilMs = now + ackDeadlineMs;
      return due.length === 0 ? {} : { receivedMessages: due.map(held => received(held)) };
    }
  }
}

function received(held: Held) {
  const { data, attributes } = held.message;
  const message = {
    data: Buffer.from(data).toString('base64'),
    ...(attributes ? { attributes } : {}),
    messageId: held.id,
    publishTime: '2026-03-06T03:04:05.678Z',
  };
  return { ackId: `${held.id}:${++held.deliveries}`, message };
}
