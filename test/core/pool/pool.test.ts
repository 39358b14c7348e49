/** The pool: every task settles, whatever its thread does. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { noteGarbage } from '../../../src/core/base/shared_memory.ts';
import { Pool, type RunOptions } from '../../../src/core/pool/pool.ts';
import { PoolError } from '../../../src/core/pool/pool_error.ts';
import { ThreadEnd } from '../../../src/core/pool/thread_end.ts';
import { eventually } from '../../directory.ts';
import { failure } from '../store/support.ts';
import type { MoodTask } from './fixtures/moody_thread.ts';

const MOODY = 'test/core/pool/fixtures/moody_thread';
const [ANSWER, THROW, HANG, DIE, LATE] = [0, 1, 2, 3, 4];

const test = suite<{ pool: Pool }>('pool/pool');

test.before.each(context => {
  context.pool = new Pool({ threads: 1 });
});

test.after.each(({ pool }) => pool.close());

function run(pool: Pool, mood: number, options?: RunOptions) {
  const task: MoodTask = { module: MOODY, kind: 'mood', mood };
  return pool.run(task, options);
}

test('gives the result, or what the task threw', async ({ pool }) => {
  assert.equal(await run(pool, ANSWER), { mood: 0 });
  const error = await failure(() => run(pool, THROW));
  assert.equal([error.name, error.message, error instanceof PoolError], ['RangeError', 'no luck', false]);
  assert.is((await run(pool, ANSWER)).mood, 0);
});

test('a thread that dies fails its task, and the next task has another thread', async ({ pool }) => {
  assert.instance(await failure(() => run(pool, DIE, { timeoutMs: 5000 })), PoolError);
  assert.is((await run(pool, ANSWER)).mood, 0);
});

test('a thread that hangs fails its task at the timeout, and the next task has another thread', async ({ pool }) => {
  const error = await failure(() => run(pool, HANG, { timeoutMs: 300 }));
  assert.instance(error, PoolError);
  assert.match(error.message, 'waited 300 ms');
  assert.is((await run(pool, ANSWER)).mood, 0);
});

test('a running task is not kept in the memory of the thread that sent it', async ({ pool }) => {
  const ends = new AbortController();
  const start = () => {
    const task: MoodTask = { module: MOODY, kind: 'mood', mood: HANG };
    return {
      hung: pool.run(task, { ends: ends.signal, timeoutMs: Number.POSITIVE_INFINITY }),
      task: new WeakRef(task),
    };
  };
  const { hung, task } = start();
  await eventually('it is collected', async () => {
    noteGarbage(2 ** 25);
    return task.deref() === undefined || undefined;
  });
  ends.abort();
  assert.instance(await failure(() => hung), PoolError);
});

test('what waits behind a hung thread settles too', async ({ pool }) => {
  const hung = run(pool, HANG, { timeoutMs: 300 });
  const behind = run(pool, ANSWER);
  assert.instance(await failure(() => hung), PoolError);
  assert.instance(await failure(() => behind), PoolError);
});

test('an aborted task rejects with the reason at once, and its thread goes on', async ({ pool }) => {
  const reason = new Error('enough');
  const controller = new AbortController();
  const late = run(pool, LATE, { signal: controller.signal });
  controller.abort(reason);
  assert.is(await failure(() => late), reason);
  assert.is(await failure(() => run(pool, ANSWER, { signal: controller.signal })), reason);
  assert.is((await run(pool, ANSWER)).mood, 0);
});

test('closing waits for what runs, and then takes no more', async ({ pool }) => {
  const late = run(pool, LATE);
  await pool.close();
  assert.is((await late).mood, LATE);
  assert.instance(await failure(() => run(pool, ANSWER)), PoolError);
});

test('closing ends no thread that is loading the module of a task', async () => {
  const counts = new SharedArrayBuffer(8);
  const [begun, finished] = [0, 1].map(index => () => Atomics.load(new Int32Array(counts), index));
  const pool = new Pool({ threads: 2, threadData: { counts } });
  const controller = new AbortController();
  const { signal } = controller;
  const tasks = [1, 2].map(() => pool.run({ module: 'test/core/pool/fixtures/slow_thread', kind: 'any' }, { signal }));
  await eventually('both load it', async () => begun!() === 2 || undefined);
  controller.abort(new Error('enough'));
  await Promise.allSettled(tasks);
  await pool.close();
  assert.is(finished!(), 2);
});

for (const how of ['signal', 'ends'])
  test(`no thread is ended while it holds its end: ${how}`, async () => {
    const counts = new SharedArrayBuffer(12);
    const [begun, finished] = [0, 1].map(index => () => Atomics.load(new Int32Array(counts), index));
    const pool = new Pool({ threads: 3, threadData: { counts } });
    const controller = new AbortController();
    const tasks = [1, 2, 3].map(() =>
      pool.run({ module: 'test/core/pool/fixtures/holding_thread', kind: 'any' }, { [how]: controller.signal }),
    );
    await eventually('all hold their end', async () => begun!() > 20 || undefined);
    controller.abort(new Error('enough'));
    for (const task of tasks) await failure(() => task);
    await pool.close();
    // Under Deno, a thread that waited for its end may go on for a moment.
    await eventually('all that began has finished', async () => finished!() === begun!() || undefined);
  });

test('a task whose thread was to end before it began rejects', async ({ pool }) => {
  assert.instance(await failure(() => run(pool, ANSWER, { ends: AbortSignal.abort() })), PoolError);
  assert.is((await run(pool, ANSWER)).mood, 0);
});

test('a thread that died holds its end no longer', async () => {
  const threadEnd = new ThreadEnd();
  const entry = new URL('./fixtures/dying_worker.ts', import.meta.url);
  const thread = new Worker(entry, { workerData: threadEnd.data });
  const { threadId } = thread;
  await once(thread, 'exit');
  threadEnd.gone(threadId);
  // Without a limit: it would wait for ever.
  await threadEnd.run(() => {}, Number.POSITIVE_INFINITY);
});

test('a task that cannot be posted rejects', async ({ pool }) => {
  const task = { module: MOODY, kind: 'mood', mood: () => {} };
  assert.match((await failure(() => pool.run(task as never))).message, /clone/i);
  assert.is((await run(pool, ANSWER)).mood, 0);
});

test.run();
