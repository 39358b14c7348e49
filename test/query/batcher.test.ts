/** The batcher: bounded, and always an answer within the budget. */
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ApiError } from '../../src/http/errors.ts';
import { Batcher } from '../../src/query/batcher.ts';
import { textOf } from '../../src/query/body.ts';
import { Budget } from '../../src/query/budget.ts';
import { Pool } from '../../workers/pool.ts';
import type { Query } from '../../workers/tasks.ts';
import { failure } from '../store/support.ts';

const ENTRY = new URL('../workers/fixtures/moody_worker.ts', import.meta.url);
const QUERY: Query = { kind: 'count', inputs: [{ kind: 'id', sent: '5', diaObjectId: 5n }], filters: null };
/** Quick tasks that a thread has at once. */
const TASKS = 3;
const GENERATION = { number: 1, sequence: 0, arenas: [], replacedBytes: 0 };

const test = suite('query/batcher');

/** A batcher over a thread that never answers a query. */
async function withBatcher(
  maxQueued: number,
  body: (batcher: Batcher) => Promise<void>,
  onBatch = (_queries: number) => {},
): Promise<void> {
  const pool = new Pool({ threads: 1, entry: ENTRY });
  // The thread would hold up the end of the test for as long as the pool waits for it.
  const run: Pool['run'] = (task, options) => pool.run(task, { ...options, timeoutMs: 500 });
  const limited = Object.assign(Object.create(pool) as Pool, { threads: 1, run });
  const rest = { generation: () => GENERATION, onStaleIndex: () => {}, log: () => {} };
  await body(new Batcher({ pool: limited, ...rest, maxQueued, onBatch }));
  await pool.close();
}

async function codeOf(promise: Promise<unknown>): Promise<string> {
  const error = await failure(() => promise);
  return error instanceof ApiError ? error.code : `${error}`;
}

test('a full queue refuses at once; what waits in it or in the thread is answered when its budget is spent', () =>
  withBatcher(3, async batcher => {
    const ask = (count: number) => Array.from({ length: count }, () => codeOf(batcher.run(QUERY, new Budget(0.1))));
    const taken: Promise<string>[] = [];
    for (let task = 0; task < TASKS; task++) {
      taken.push(...ask(3));
      await turn();
    }
    const [waiting, refused] = [ask(3), ask(2)];
    assert.equal(await Promise.all(refused), Array(2).fill('service_unavailable'));
    assert.equal(await Promise.all(taken), Array(3 * TASKS).fill('query_too_expensive'));
    assert.equal(await Promise.all(waiting), Array(3).fill('service_unavailable'));
  }));

test('what arrives at once goes as one task, a dozen at once, and while the thread is busy as the next; a long query goes alone', async () => {
  const sizes: number[] = [];
  const record = (queries: number) => sizes.push(queries);
  const ids = Array.from({ length: 1000 }, () => ({ kind: 'id', sent: '5', diaObjectId: 5n }) as const);
  await withBatcher(
    100,
    async batcher => {
      const ask = (query: Query, count: number) =>
        Array.from({ length: count }, () => codeOf(batcher.run(query, new Budget(0.1))));
      const answers = [...ask(QUERY, 7), ...ask({ ...QUERY, inputs: ids }, 2)];
      assert.equal(sizes, [1, 1], 'a long one waits for nothing');
      await turn();
      assert.equal(sizes, [1, 1, 7]);
      answers.push(...ask(QUERY, 20));
      assert.equal(sizes, [1, 1, 7, 12], 'twelve are worth a task');
      await turn();
      assert.equal(sizes, [1, 1, 7, 12, 8]);
      answers.push(...ask(QUERY, 14));
      await turn();
      assert.equal(sizes, [1, 1, 7, 12, 8], 'three tasks are in the thread, the rest waits');
      await Promise.all(answers);
    },
    record,
  );
});

test('a thread that hangs makes its queries unavailable when there is budget left', () =>
  withBatcher(3, async batcher => {
    assert.is(await codeOf(batcher.run(QUERY, new Budget(60))), 'service_unavailable');
  }));

test('without a generation: unavailable', async () => {
  const pool = new Pool({ threads: 1, entry: ENTRY });
  const batcher = new Batcher({ pool, generation: () => undefined, onStaleIndex: () => {}, log: () => {} });
  assert.is(await codeOf(batcher.run(QUERY, new Budget(5))), 'service_unavailable');
  await pool.close();
});

test('bodies are cut out of text as out of bytes; one that fails, or comes when its budget is spent, is an error, and no other', async () => {
  const texts = ['first', '', 'third', 'late', 'last'];
  const ends = texts.map((_, i) => texts.slice(0, i + 1).join('').length);
  const outcomes = ['ok', 'ok', 'too_expensive', 'ok', 'ok'] as const;
  for (const bodies of [texts.join(''), Uint8Array.from(Buffer.from(texts.join(''))).buffer]) {
    const run = async () => {
      await sleep(20);
      return { bodies, ends, outcomes, faults: {} };
    };
    const pool = Object.assign(Object.create(Pool.prototype) as Pool, { threads: 1, run });
    const batcher = new Batcher({ pool, generation: () => GENERATION, onStaleIndex: () => {}, log: () => {} });
    const answers = texts.map(text => batcher.run(QUERY, new Budget(text === 'late' ? 0.001 : 5)));
    const settled = await Promise.allSettled(answers);
    assert.equal(
      settled.map(answer => (answer.status === 'fulfilled' ? textOf(answer.value) : answer.reason.code)),
      ['first', '', 'query_too_expensive', 'query_too_expensive', 'last'],
    );
  }
});

test.run();
