/** Which long queries are admitted, and which are refused at once. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Admission } from '../../../src/core/answers/admission.ts';
import { Budget } from '../../../src/core/base/budget.ts';
import { ThreadMetrics } from '../../../src/core/metrics/thread_metrics.ts';

const test = suite('answers/admission');

/** Admission with a clock that the test advances. */
function admitting() {
  let nowMs = 0;
  const metrics = new ThreadMetrics();
  const admission = new Admission(metrics, () => nowMs);
  const ask = (client = 'one') => {
    try {
      admission.requireRoom({ client, budget: new Budget(5) });
    } catch (error) {
      return (error as Error).name;
    }
    admission.begin(client);
    return 'taken';
  };
  /** Completes queries at this interval. */
  const answer = (count: number, ms: number, client = 'one') => {
    for (let i = 0; i < count; i++) {
      nowMs += ms;
      admission.end(client, true);
    }
  };
  return { ask, answer, admission, metrics, pass: (ms: number) => (nowMs += ms) };
}

const many = (ask: (client?: string) => string, count: number, client = 'one') =>
  Array.from({ length: count }, () => ask(client)).filter(is => is === 'taken').length;

test('takes what will wait for a fifth of its budget at most at the present rate, and refuses the rest at once [P4]', () => {
  const { ask, answer, metrics } = admitting();
  assert.is(many(ask, 40), 40, 'no rate is known yet');
  answer(20, 19.9);
  // 50 a second: 50 may wait, and 20 do.
  assert.is(many(ask, 60), 31);
  assert.equal([metrics.get('refusedQueries'), metrics.get('waitingQueries')], [29, 51]);
  answer(1, 19.9);
  assert.is(ask(), 'taken');
});

test('the rate is that of the last answers: it follows when they become slower or faster', () => {
  const { ask, answer } = admitting();
  many(ask, 60);
  answer(30, 10);
  assert.is(ask(), 'taken');
  answer(20, 200);
  assert.is(ask(), 'Unavailable');
  answer(7, 200);
  assert.is(many(ask, 1), 1, 'a few are always taken');
  answer(4, 1);
  many(ask, 4);
  for (let round = 0; round < 10; round++) {
    answer(4, 1);
    many(ask, 4);
  }
  assert.is(many(ask, 60), 60);
});

test('a thread that stands still for a moment is no reason to refuse', () => {
  const { ask, answer, pass } = admitting();
  many(ask, 10);
  answer(6, 1);
  pass(3000);
  assert.is(ask(), 'taken');
});

test('what was given up says nothing of the rate; there is an end to what waits', () => {
  const { ask, admission } = admitting();
  assert.equal([many(ask, 300), many(ask, 300, 'another')], [128, 128], 'one client has half');
  admission.end('one', false);
  assert.is(ask(), 'taken');
});

test('the expected wait of a client is that of its own queries and of as many of each other client', () => {
  const { ask, answer } = admitting();
  assert.is(many(ask, 30), 30);
  answer(10, 99);
  // Ten a second: ten may wait, and 20 do.
  assert.is(ask(), 'Unavailable');
  assert.is(many(ask, 20, 'another'), 5, 'its fifth has ten before it');
  assert.is(many(ask, 20, 'a third'), 3);
});

test.run();
