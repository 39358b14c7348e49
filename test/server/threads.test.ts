/** What becomes of connections when the thread that serves them dies, runs out of memory, or hangs. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent as HttpAgent, get as httpGet, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServerThreads } from '../../src/server/server_threads.ts';
import { Coordinator } from '../../src/service/coordinator.ts';
import { openStore } from '../../src/store/store.ts';
import { Writer } from '../../src/store/writer.ts';
import { configOf, delivery, eventually, NOW_US, type Settings } from '../http/support.ts';
import { needs } from '../needs.ts';
import { isDeno } from '../runtime.ts';

const test = suite('server/threads');
const provenTest = needs(test, isDeno ? 'the end of a server thread is not mastered under Deno yet' : undefined);

const ENTRY = new URL('./fixtures/mortal_server.ts', import.meta.url);
const [DEATH, MEMORY, HANG, GOOD] = [1, 2, 3, 100];

/** A client with one connection, which is kept. */
class Client {
  readonly #agent = new HttpAgent({ keepAlive: true, maxSockets: 1 });
  readonly #port: number;
  /** The thread that has the connection, by the ids that it gives to requests. */
  thread = '';

  constructor(port: number) {
    this.#port = port;
  }

  /** The status of the answer; undefined when the connection has ended without one. */
  async get(id: number): Promise<number | undefined> {
    try {
      const request = httpGet({ port: this.#port, host: '127.0.0.1', path: `/api/objects/${id}`, agent: this.#agent });
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      this.thread = `${response.headers['x-request-id']}`.split('-')[0]!;
      response.resume();
      await once(response, 'end');
      return response.statusCode;
    } catch {
      return undefined;
    }
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** Runs a test with two threads that some objects are too much for, and a client of each of them. */
async function withMortals(
  body: (one: Client, other: Client, threads: ServerThreads, port: number) => Promise<void>,
  settings: Settings = {},
): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'nearsky-test-'));
  const store = openStore(directory, 'write');
  await new Writer(store).ingest([delivery(BigInt(GOOD))], NOW_US);
  const config = configOf(directory, { NEARSKY_PORT: '0', NEARSKY_WORKER_HEAP_MIB: '64', ...settings });
  const log = () => {};
  const coordinator: Coordinator = new Coordinator({
    config,
    log,
    threads: () => threads.watched,
    onGeneration: generation => threads.publish(generation),
  });
  const threads: ServerThreads = new ServerThreads({
    config,
    log,
    threads: 2,
    coordination: coordinator,
    entry: ENTRY,
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

for (const [what, poison] of [
  ['dies', DEATH],
  ['runs out of memory', MEMORY],
  ['hangs', HANG],
] as const) {
  provenTest(`a thread that ${what} ends its own connections only, and is replaced`, () =>
    withMortals(
      async (one, other, threads, port) => {
        const former = [one.thread, other.thread];
        let isOver = false;
        const poisoned = one.get(poison).finally(() => {
          isOver = true;
        });
        let answered = 0;
        do {
          assert.is(await other.get(GOOD), 200, `after ${answered}`);
          answered++;
        } while (!isOver);
        assert.is(await poisoned, undefined);
        await eventually('it is replaced', async () => {
          const client = new Client(port);
          const status = await client.get(GOOD);
          client.close();
          return (status === 200 && !former.includes(client.thread)) || undefined;
        });
        assert.is(await other.get(GOOD), 200);
        assert.equal([other.thread, threads.watched.replaced], [former[1], 1]);
      },
      { API_REQUEST_BUDGET_SECONDS: '0.5' },
    ),
  );
}

test.run();
