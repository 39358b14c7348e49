/** Long queries take turns, one step per turn of the event loop, and never exceed their budgets. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Admission } from '../../src/answers/admission.ts';
import { LongQueries, type NotBegun } from '../../src/answers/long_queries.ts';
import { Budget } from '../../src/base/budget.ts';
import { ThreadMetrics } from '../../src/metrics/thread_metrics.ts';

const test = suite('answers/long_queries');

const begun = () => new LongQueries(new Admission(new ThreadMetrics()));

/** A query with this number of steps, which records each step. */
function steps(name: string, count: number, notes: string[], seconds = 60): NotBegun {
  let done = 0;
  return {
    budget: new Budget(seconds),
    reserve: () => true,
    step: () => {
      notes.push(name);
      return ++done === count ? `${name} is done` : undefined;
    },
  };
}

test('they take turns, four at once; those behind them begin when one is done', async () => {
  const notes: string[] = [];
  const long = begun();
  const answers = [...'abcde'].map((name, i) => long.answer(steps(name, i === 0 ? 2 : 3, notes)));
  assert.equal(notes, [], 'the turn of the request is over first');
  assert.equal(
    await Promise.all(answers),
    [...'abcde'].map(name => `${name} is done`),
  );
  assert.is(notes.join(''), 'abcdabcdebcdee');
});

test('one that has done its first step goes on', async () => {
  const notes: string[] = [];
  assert.is(await begun().goOn(steps('a', 2, notes)), 'a is done');
});

test('so many go on at once and no more: all of them would run out of time together', async () => {
  const long = begun();
  const going = Array.from({ length: 300 }, () => long.goOn(steps('a', 1, [])).catch((error: Error) => error.name));
  const answers = await Promise.all(going);
  const refused = answers.filter(answer => answer === 'Unavailable').length;
  assert.ok(refused > 0 && answers.includes('a is done'), `${refused} of 300 were refused`);
});

test('between two steps there is a turn of the event loop', async () => {
  const notes: string[] = [];
  const answer = begun().answer(steps('step', 40, notes));
  let isDone = false;
  void answer.then(() => {
    isDone = true;
  });
  while (!isDone) {
    await new Promise(resolve => setImmediate(resolve));
    notes.push('turn');
  }
  assert.not.match(notes.join(), /step,step,step/);
});

test('turns that have accepted a connection go without a step, but not for ever', async () => {
  const notes: string[] = [];
  let looks = 0;
  let accepted = 0;
  const long = new LongQueries(new Admission(new ThreadMetrics()), () => {
    looks++;
    notes.push('look');
    return accepted;
  });
  accepted = 1;
  assert.is(await long.answer(steps('step', 2, notes)), 'step is done');
  assert.equal(notes, ['look', 'look', 'step', 'look', 'step']);
  const crowded = new LongQueries(new Admission(new ThreadMetrics()), () => ++looks);
  assert.is(await crowded.answer(steps('step', 3, notes)), 'step is done');
});

test('one that fails fails alone', async () => {
  const long = begun();
  const failing: NotBegun = {
    budget: new Budget(60),
    reserve: () => true,
    step: () => {
      throw new RangeError('no luck');
    },
  };
  const [bad, good] = await Promise.allSettled([long.answer(failing), long.answer(steps('a', 3, []))]);
  assert.equal([bad.status, good.status], ['rejected', 'fulfilled']);
});

test('one that waits until its budget is spent was not too expensive: it may be answered another time', async () => {
  const notes: string[] = [];
  const long = begun();
  const budget = new Budget(60);
  let isOver = false;
  const endless: NotBegun = { budget, reserve: () => true, step: () => (isOver ? 'over' : undefined) };
  const others = Array.from({ length: 4 }, () => long.answer(endless));
  const late = await long.answer(steps('late', 1, notes, 0.05)).catch((error: Error) => error.name);
  assert.equal([late, notes], ['Unavailable', []]);
  isOver = true;
  await Promise.all(others);
});

test('one that finds no memory lets those go ahead that need less, and is refused before its budget is spent', async () => {
  const notes: string[] = [];
  const long = begun();
  const greedy = { ...steps('greedy', 1, notes, 1), reserve: () => false };
  const refused = long.answer(greedy).catch((error: Error) => [error.name, greedy.budget.spent]);
  assert.is(await long.answer(steps('modest', 2, notes)), 'modest is done');
  assert.equal([await refused, notes.join()], [['Unavailable', false], 'modest,modest']);
  let asked = 0;
  const patient = { ...steps('patient', 1, notes), reserve: () => ++asked === 3 };
  assert.is(await long.answer(patient), 'patient is done');
});

test.run();
