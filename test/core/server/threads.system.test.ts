/** The fate of connections when the thread that serves them dies, runs out of memory, or hangs. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Coordinator } from '../../../src/core/coordinator.ts';
import { ServerThreads } from '../../../src/core/server/server_threads.ts';
import { openStore } from '../../../src/core/store/store.ts';
import { Writer } from '../../../src/core/store/writer.ts';
import { PARTS } from '../../capabilities.ts';
import { isDeno } from '../../runtime.ts';
import { configOf, delivery, eventually, NOW_US } from '../http/support.ts';
import { Client as Connection, parseAnswer } from './support.ts';

const test = suite('server/threads');

const MODULE = 'test/core/server/fixtures/mortal_server';
const [DEATH, MEMORY, HANG, GOOD] = [1, 2, 3, 100];

/** A client with one connection, which is kept. (The agent of Deno's node:http asks again over another one when it has ended.) */
class Client {
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
async function withMortals(
  body: (one: Client, other: Client, threads: ServerThreads, port: number) => Promise<void>,
  onUnending?: () => void,
): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'nearsky-test-'));
  const store = openStore(directory, 'write');
  await new Writer(store).ingest([delivery(BigInt(GOOD))], NOW_US);
  const config = configOf(directory, {
    NEARSKY_PORT: '0',
    NEARSKY_WORKER_HEAP_MIB: '64',
    API_REQUEST_BUDGET_SECONDS: '0.5',
    // One for each client.
    NEARSKY_MAX_STREAM_AREAS: '2',
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
async function poison(one: Client, other: Client, id: number): Promise<void> {
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

/** Whether a new connection has come to a thread that is none of these. */
async function newcomer(port: number, former: readonly string[]): Promise<true | undefined> {
  const client = new Client(port);
  const status = await client.get(GOOD);
  client.close();
  return (status === 200 && !former.includes(client.thread)) || undefined;
}

/** Opens a stream that follows an area, over a connection of its own. */
async function follow(port: number) {
  const connection = new Connection(port);
  connection.send('GET /api/stream/matches?area=CIRCLE%201%202%203 HTTP/1.1', 'Host: x');
  const { status, headers } = parseAnswer(await connection.until(received => received.includes('\r\n\r\n')));
  return { status, thread: headers.get('x-request-id')!.split('-')[0], close: () => connection.socket.destroy() };
}

test('the areas that the streams of a thread follow are free when it dies', () =>
  withMortals(async (one, other, _, port) => {
    await eventually('a stream is on the thread of the one client', async () => {
      const { status, thread, close } = await follow(port);
      if (status === 200 && thread === one.thread) return true;
      close();
      return undefined;
    });
    const refused = await follow(port);
    assert.is(refused.status, 503);
    refused.close();
    await poison(one, other, DEATH);
    await eventually('another stream follows an area', async () => {
      const { status, close } = await follow(port);
      close();
      return status === 200 || undefined;
    });
  }));

const ENDS = [
  ['dies', DEATH],
  ['runs out of memory', MEMORY],
  ['hangs', HANG],
] as const;
for (const [what, id] of ENDS.slice(0, isDeno ? 2 : 3)) {
  test(`a thread that ${what} ends its own connections only, and is replaced`, () =>
    withMortals(async (one, other, threads, port) => {
      const former = [one.thread, other.thread];
      await poison(one, other, id);
      await eventually('it is replaced', () => newcomer(port, former));
      assert.is(await other.get(GOOD), 200);
      assert.equal([other.thread, threads.watched.replaced], [former[1], 1]);
    }));
}

if (!isDeno) {
  test('a thread that hangs before it listens is replaced', () =>
    withMortals(async (one, other, threads, port) => {
      const former = [one.thread, other.thread];
      process.env.STUCK = '1';
      await poison(one, other, DEATH);
      await eventually('there is a first one', async () => threads.watched.replaced === 1 || undefined);
      // A thread has the environment of the moment in which it begins.
      await new Promise(resolve => setTimeout(resolve, 1000));
      delete process.env.STUCK;
      await eventually('there is a good one', () => newcomer(port, former));
      assert.is(threads.watched.replaced, 2);
    }));
}

if (isDeno) {
  test('a thread that hangs, and that Deno cannot end, is the end of the process, and the others answer until then', () => {
    let isUnending = false;
    return withMortals(
      async (one, other, threads) => {
        const poisoned = one.get(HANG);
        while (!isUnending) assert.is(await other.get(GOOD), 200);
        assert.is(threads.watched.replaced, 0);
        one.close();
        assert.is(await poisoned, undefined);
      },
      () => {
        isUnending = true;
      },
    );
  });
  // The thread would keep the process running forever.
  test.after(() => void setTimeout(() => process.exit(), 1000));
}

test.run();
