/** What becomes of requests when the thread that answers them dies, runs out of memory, or hangs. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type App, createApp } from '../../src/app.ts';
import { openStore } from '../../src/store/store.ts';
import { Writer } from '../../src/store/writer.ts';
import { configOf, delivery, eventually, NOW_US, type Settings } from '../http/support.ts';

const test = suite('serve/threads');

const ENTRY = new URL('./fixtures/mortal_worker.ts', import.meta.url);
const [DEATH, MEMORY, HANG, GOOD] = [1, 2, 3, 100];

/** Runs a test over an app of two query threads that some objects are too much for. */
async function withMortals(
  body: (get: (id: number) => Promise<Response>, app: App) => Promise<void>,
  settings: Settings = {},
): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'nearsky-test-'));
  const store = openStore(directory, 'write');
  await new Writer(store).ingest([delivery(BigInt(GOOD))], NOW_US);
  const config = configOf(directory, { NEARSKY_WORKERS: '2', NEARSKY_WORKER_HEAP_MIB: '48', ...settings });
  const app = createApp({ config, log: () => {}, entry: ENTRY });
  await eventually('the app is ready', async () => app.ready || undefined);
  await app.warm();
  try {
    await body(id => app.fetch(new Request(`http://nearsky.test/api/objects/${id}`)), app);
  } finally {
    await app.close();
    await store.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function assertUnavailable(response: Response): Promise<void> {
  assert.equal([response.status, response.headers.get('Retry-After')], [503, '30'], await response.text());
}

for (const [what, poison, rounds] of [
  ['dies', DEATH, 3],
  ['runs out of memory', MEMORY, 1],
] as const) {
  test(`a thread that ${what}: its requests are 503, and another thread takes its place`, () =>
    withMortals(async (get, app) => {
      for (let round = 0; round < rounds; round++) {
        await assertUnavailable(await get(poison));
        await eventually('others are answered', async () => (await get(GOOD)).status === 200 || undefined);
      }
      assert.ok(app.metrics.get('failedTasks') >= rounds);
    }));
}

test('while one thread dies, requests of the other one are answered', () =>
  withMortals(async get => {
    const answers = await Promise.all([DEATH, ...Array(20).fill(GOOD)].map(get));
    await assertUnavailable(answers[0]!);
    for (const { status } of answers) assert.ok(status === 200 || status === 503, `${status}`);
    assert.is((await get(GOOD)).status, 200);
  }));

test('a thread that hangs: its request gets an answer when its budget is spent, and another thread takes its place', () =>
  withMortals(
    async get => {
      const hung = await Promise.all([get(HANG), get(HANG)]);
      for (const { status } of hung) assert.ok(status === 400 || status === 503, `${status}`);
      await eventually('others are answered', async () => (await get(GOOD)).status === 200 || undefined);
    },
    { API_REQUEST_BUDGET_SECONDS: '0.3' },
  ));

test.run();
