/** Shared by the tests of the server: a server with limits of its own, and clients that write bytes. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Answer } from '../../../src/core/http/respond.ts';
import { HttpServer, type ListenOptions } from '../../../src/core/server/http_server.ts';
import { type ServerLimits, serverLimits } from '../../../src/core/server/server_limits.ts';

export interface Serving {
  readonly server: HttpServer;
  readonly port: number;
}

export const text = (body: string, status = 200): Answer => ({
  status,
  headers: { 'Content-Type': 'text/plain' },
  body,
});

/** Runs a test with a server on a free port. */
export async function withServer(
  answer: ListenOptions['answer'],
  body: (serving: Serving) => Promise<void>,
  limits: Partial<ServerLimits> = {},
  options: Partial<ListenOptions> = {},
): Promise<void> {
  const server = new HttpServer({
    answer,
    host: '127.0.0.1',
    port: 0,
    limits: { ...serverLimits(20_000, 5, 1), ...limits },
    ...options,
  });
  const port = await server.listen();
  try {
    await body({ server, port });
  } finally {
    await server.close(100);
  }
}

/** Headers that may differ between two answers to the same request. */
export const OF_THE_MOMENT = /(?:Date|X-Request-Id|X-As-Of|Content-Length): [^\r]*\r\n/gi;

/** A connection that stores the bytes that it receives. */
export class Client {
  readonly socket: Socket;
  readonly #chunks: Buffer[] = [];
  readonly ended: Promise<void>;

  constructor(port: number) {
    this.socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    this.socket.on('data', chunk => this.#chunks.push(chunk as Buffer));
    this.ended = new Promise(resolve => {
      for (const event of ['end', 'error', 'close']) this.socket.on(event, () => resolve());
    });
  }

  static async connected(port: number): Promise<Client> {
    const client = new Client(port);
    await once(client.socket, 'connect');
    return client;
  }

  send(...lines: readonly string[]): this {
    this.socket.write(`${lines.join('\r\n')}\r\n\r\n`);
    return this;
  }

  get received(): string {
    return Buffer.concat(this.#chunks).toString('latin1');
  }

  /** The bytes that have come when `check` is first satisfied, or the connection has ended. */
  async until(check: (received: string) => boolean): Promise<string> {
    while (!check(this.received) && !this.socket.destroyed && !this.socket.readableEnded) {
      await new Promise(resolve => setTimeout(resolve, 5));
    }
    return this.received;
  }
}

/** Sends this on a new connection, and returns everything until the server ends the connection. */
export async function exchange(port: number, ...lines: readonly string[]): Promise<string> {
  const client = new Client(port).send(...lines);
  await client.ended;
  client.socket.destroy();
  return client.received;
}

/** Status, headers by lowercase name, and body of the first answer in a text. */
export function parseAnswer(received: string) {
  const [head = '', ...rest] = received.split('\r\n\r\n');
  const [statusLine = '', ...lines] = head.split('\r\n');
  const headers = new Map(
    lines.map(line => line.split(': ', 2) as [string, string]).map(([k, v]) => [k.toLowerCase(), v]),
  );
  return { status: Number(statusLine.split(' ')[1]), headers, body: rest.join('\r\n\r\n') };
}
