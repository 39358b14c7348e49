/** Two threads that serve, which some objects overload, and a client of each. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { Coordinator } from '../../../src/core/coordinator.ts';
import { ServerThreads } from '../../../src/core/server/server_threads.ts';
import { openStore } from '../../../src/core/store/store.ts';
import { Writer } from '../../../src/core/store/writer.ts';
import { PARTS } from '../../capabilities.ts';
import { configOf, delivery, eventually, NOW_US, type Settings } from '../http/support.ts';
import { Client as Connection, parseAnswer } from './support.ts';

const MODULE = 'test/core/server/fixtures/mortal_server';
export const [DEATH, MEMORY, HANG, GOOD] = [1, 2, 3, 100];

/** A client with one connection, which is kept. (The agent of Deno's node:http asks again over another one when it has ended.) */
export class Client {
  readonly #connection: Connection;
  /** The thread that has the connection, by the ids that it gives to requests. */
  thread = '';

  constructor(port: number) {
    this.#connection = new Connection(port);
  }

  /** The status of the answer; undefined when the connection has ended without one. */
  async get(id: number): Promise<number | undefined> {
    const before = this.#connection.received.length;
    this.#connection.send(`GET /api/objects/${id} HTTP/1.1`, 'Host: x');
    const received = await this.#connection.until(all => all.length > before && all.endsWith('}'));
    if (received.length === before) return undefined;
    const { status, headers } = parseAnswer(received.slice(before));
    this.thread = headers.get('x-request-id')!.split('-')[0]!;
    return status;
  }

  close(): void {
    this.#connection.socket.destroy();
  }
}

/** Runs a test with two threads that some objects overload, and a client of each thread. */
export async function withMortals(
  body: (one: Client, other: Client, threads: ServerThreads, port: number) => Promise<void>,
  onUnending?: () => void,
  settings: Settings = {},
): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'nearsky-test-'));
  const store = openStore(directory, 'write');
  await new Writer(store).ingest([delivery(BigInt(GOOD))], NOW_US);
  const config = configOf(directory, {
    NEARSKY_PORT: '0',
    NEARSKY_WORKER_HEAP_MIB: '64',
    API_REQUEST_BUDGET_SECONDS: '0.5',
    ...settings,
  });
  const log = () => {};
  const coordinator: Coordinator = new Coordinator({
    parts: PARTS,
    config,
    log,
    threads: () => threads.watched,
  });
  coordinator.onGeneration = () => threads.publish(coordinator.generation);
  const threads: ServerThreads = new ServerThreads({
    config,
    log,
    threads: 2,
    coordination: coordinator,
    module: MODULE as never,
    ...(onUnending && { onUnending }),
  });
  const port = await threads.start();
  const clients: Client[] = [];
  try {
    await eventually('both have a client', async () => {
      const client = new Client(port);
      if ((await client.get(GOOD)) !== 200 || clients.some(({ thread }) => thread === client.thread)) client.close();
      else clients.push(client);
      return clients.length === 2 || undefined;
    });
    await body(clients[0]!, clients[1]!, threads, port);
  } finally {
    for (const client of clients) client.close();
    await threads.close(100);
    await coordinator.close();
    await store.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Requests the object that overloads the thread of `one`; the other thread continues to answer. */
export async function poison(one: Client, other: Client, id: number): Promise<void> {
  let isOver = false;
  const poisoned = one.get(id).finally(() => {
    isOver = true;
  });
  let answered = 0;
  do {
    assert.is(await other.get(GOOD), 200, `after ${answered}`);
    answered++;
  } while (!isOver);
  assert.is(await poisoned, undefined);
}
