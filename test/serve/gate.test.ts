/** The gate: what is taken, and what is refused at once. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { ApiError } from '../../src/http/errors.ts';
import { ThreadMetrics } from '../../src/metrics/thread_metrics.ts';
import { Budget } from '../../src/query/budget.ts';
import { QueryGate } from '../../src/query/gate.ts';
import type { Query } from '../../workers/tasks.ts';

const test = suite('serve/gate');

const QUERY: Query = { kind: 'count', inputs: [], filters: null };

/** A gate before something that answers when it is told to, and a clock that goes when it is told to. */
function gated() {
  let nowMs = 0;
  const waiting: (() => void)[] = [];
  const metrics = new ThreadMetrics();
  const runner = {
    run: () => new Promise<Uint8Array<ArrayBuffer>>(resolve => waiting.push(() => resolve(new Uint8Array(0)))),
  };
  const gate = new QueryGate(runner, metrics, () => nowMs);
  const ask = async () => {
    try {
      await gate.run(QUERY, new Budget(5));
      return 'answered';
    } catch (error) {
      return (error as ApiError).code;
    }
  };
  const answer = async (count: number) => {
    for (const resolve of waiting.splice(0, count)) resolve();
    await new Promise(resolve => setTimeout(resolve, 0));
  };
  return { gate, ask, answer, metrics, pass: (ms: number) => (nowMs += ms), waiting };
}

test('takes what will wait for a fifth of its budget at most at the present rate, and refuses the rest at once', async () => {
  const { ask, answer, metrics, pass, waiting } = gated();
  for (let i = 0; i < 250; i++) void ask();
  pass(1000);
  await answer(100);
  // 100 a second: 100 may wait, and 150 do.
  assert.is(await ask(), 'service_unavailable');
  assert.is(metrics.get('refusedQueries'), 1);
  await answer(60);
  assert.equal([metrics.get('waitingQueries'), waiting.length], [90, 90]);
  void ask();
  assert.is(waiting.length, 91, 'taken');
});

test('takes a burst after a pause, whatever the rate was before', async () => {
  const { ask, answer, pass, waiting } = gated();
  for (let i = 0; i < 50; i++) void ask();
  pass(60_000);
  assert.is(await ask(), 'service_unavailable', 'not one answer in a minute');
  await answer(50);
  for (let i = 0; i < 4000; i++) void ask();
  assert.is(waiting.length, 4000);
});

test('a machine that stands still for a moment, at the start or later, is no reason to refuse', async () => {
  const { ask, answer, pass, waiting } = gated();
  for (let i = 0; i < 64; i++) void ask();
  pass(400);
  void ask();
  assert.is(waiting.length, 65, 'not one answer in 400 ms');
  await answer(65);
  for (let i = 0; i < 64; i++) void ask();
  for (let window = 0; window < 3; window++) {
    pass(250);
    await answer(60);
    for (let i = 0; i < 60; i++) void ask();
  }
  pass(400);
  await answer(2);
  void ask();
  assert.is(waiting.length, 63, 'two answers in 400 ms, after 240 a second');
  pass(600);
  assert.is(await ask(), 'service_unavailable', 'it stands still for too long');
});

test('a few are always taken', async () => {
  const { ask, pass, waiting } = gated();
  for (let i = 0; i < 16; i++) {
    void ask();
    pass(10_000);
  }
  assert.is(waiting.length, 16);
  assert.is(await ask(), 'service_unavailable');
});

test('long queries have a rate of their own: quick ones do not wait for them', async () => {
  const { gate, ask, pass, waiting } = gated();
  const inputs = Array.from({ length: 201 }, () => ({ kind: 'id', sent: '5', diaObjectId: 5n }) as const);
  const long: Query = { kind: 'count', inputs, filters: null };
  for (let i = 0; i < 4; i++) void gate.run(long, new Budget(5));
  pass(4000);
  assert.is(await gate.run(long, new Budget(5)).catch((error: ApiError) => error.code), 'service_unavailable');
  assert.throws(() => gate.requireRoom('long', new Budget(5)), /too many queries/);
  gate.requireRoom('quick', new Budget(5));
  for (let i = 0; i < 100; i++) void ask();
  assert.is(waiting.length, 104, 'taken');
});

test.run();
