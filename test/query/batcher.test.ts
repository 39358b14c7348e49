/** The batcher: bounded, and always an answer within the budget. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ApiError } from '../../src/http/errors.ts';
import { Batcher } from '../../src/query/batcher.ts';
import { Budget } from '../../src/query/budget.ts';
import { Pool } from '../../workers/pool.ts';
import type { Query } from '../../workers/tasks.ts';
import { failure } from '../store/support.ts';

const ENTRY = new URL('../workers/fixtures/moody_worker.ts', import.meta.url);
const QUERY: Query = { kind: 'count', inputs: [{ kind: 'id', sent: '5', diaObjectId: 5n }], filters: null };
const GENERATION = { number: 1, sequence: 0, arenas: [], replacedBytes: 0 };

const test = suite('query/batcher');

/** A batcher over a thread that never answers a query. */
async function withBatcher(maxQueued: number, body: (batcher: Batcher) => Promise<void>): Promise<void> {
  const pool = new Pool({ threads: 1, entry: ENTRY });
  // The thread would hold up the end of the test for as long as the pool waits for it.
  const run: Pool['run'] = (task, options) => pool.run(task, { ...options, timeoutMs: 500 });
  const limited = Object.assign(Object.create(pool) as Pool, { threads: 1, tasksPerThread: 1, run });
  await body(
    new Batcher({ pool: limited, generation: () => GENERATION, onStaleIndex: () => {}, log: () => {}, maxQueued }),
  );
  await pool.close();
}

async function codeOf(promise: Promise<unknown>): Promise<string> {
  const error = await failure(() => promise);
  return error instanceof ApiError ? error.code : `${error}`;
}

test('a full queue refuses at once; what was taken is answered when its budget is spent', () =>
  withBatcher(3, async batcher => {
    const answers = Array.from({ length: 6 }, () => codeOf(batcher.run(QUERY, new Budget(0.1))));
    // One is in the thread, three wait.
    assert.equal(await Promise.all(answers.slice(4)), ['service_unavailable', 'service_unavailable']);
    assert.equal(await Promise.all(answers.slice(0, 4)), [
      'query_too_expensive',
      ...Array(3).fill('service_unavailable'),
    ]);
  }));

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

test.run();
