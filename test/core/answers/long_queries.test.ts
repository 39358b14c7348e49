/** Long queries take turns, one step per turn of the event loop, and never exceed their budgets. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Admission } from '../../../src/core/answers/admission.ts';
import { LongQueries, type NotBegun } from '../../../src/core/answers/long_queries.ts';
import { Budget } from '../../../src/core/base/budget.ts';
import { ThreadMetrics } from '../../../src/core/metrics/thread_metrics.ts';

const test = suite('answers/long_queries');

const begun = () => new LongQueries(new Admission(new ThreadMetrics()));

interface Asked {
  readonly seconds?: number;
  readonly client?: string;
  /** Called by each step. */
  readonly onStep?: () => void;
}

/** A query with this number of steps, which records each step. */
function steps(name: string, count: number, notes: string[], asked: Asked = {}): NotBegun<string> {
  const { seconds = 60, client = 'one', onStep = () => {} } = asked;
  let done = 0;
  return {
    budget: new Budget(seconds),
    client,
    reserve: () => true,
    step: () => {
      notes.push(name);
      onStep();
      return ++done === count ? `${name} is done` : undefined;
    },
  };
}

/** Long queries by a clock that only their steps advance. */
function timed(stepMs = 2) {
  let nowMs = 0;
  const now = () => nowMs;
  const long = new LongQueries(new Admission(new ThreadMetrics(), now), () => 0, now);
  const notes: string[] = [];
  const of = (client: string, count: number, onStep = () => {}) =>
    steps(client, count, notes, {
      client,
      onStep: () => {
        nowMs += stepMs;
        onStep();
      },
    });
  return { long, of, notes };
}

test('two queries of a client take turns, and when one is done the next begins', async () => {
  const notes: string[] = [];
  const long = begun();
  const answers = [...'abc'].map((name, i) => long.answer(steps(name, i === 0 ? 2 : 3, notes)));
  assert.equal(notes, [], 'the turn of the request is over first');
  assert.equal(
    await Promise.all(answers),
    [...'abc'].map(name => `${name} is done`),
  );
  assert.is(notes.join(''), 'ababcbcc');
});

test('clients take turns, four at once', async () => {
  const { long, of, notes } = timed();
  await Promise.all([...'abcdef'].map(client => long.answer(of(client, 2))));
  assert.is(notes.join(''), 'abcdaebfcdef');
});

test('the next step goes to the client that has used the least time, even beside a client with many more queries', async () => {
  const { long, of, notes } = timed();
  const others: Promise<unknown>[] = [];
  const arrive = () => {
    if (notes.length === 6) others.push(long.answer(of('n', 4)), long.goOn(of('q', 2)));
  };
  const hog = Array.from({ length: 100 }, () => long.answer(of('h', 3, arrive)));
  await Promise.all(hog);
  await Promise.all(others);
  assert.is(notes.slice(0, 13).join(''), 'hhhhhhqnqnnnh');
});

test('older use counts less: who was alone for long does not wait until another one has used as much', async () => {
  const { long, of, notes } = timed(50);
  let other: Promise<unknown> | undefined;
  await long.answer(of('h', 250, () => void (notes.length === 200 && (other = long.answer(of('n', 100))))));
  await other;
  const alone = notes.slice(200).indexOf('h');
  assert.ok(alone > 5 && alone < 20, `${alone} steps`);
});

test('of the unanswered queries, one client has half; another one is answered beside two such clients', async () => {
  const long = begun();
  const outcome = (answering: Promise<unknown>) => answering.catch((error: Error) => error.name);
  const ask = (client: string) => outcome(long.answer(steps(client, 1, [], { client })));
  const hogs = ['h', 'i'].flatMap(client => Array.from({ length: 150 }, () => ask(client)));
  assert.is(await ask('n'), 'n is done');
  const refused = (await Promise.all(hogs)).map(is => is === 'Unavailable');
  assert.equal([refused.indexOf(true), refused.lastIndexOf(false), refused.filter(Boolean).length], [128, 277, 44]);
});

test('one that has done its first step is not refused because others wait, but one client has half of those, too', async () => {
  const long = begun();
  const hogs = ['h', 'i'].flatMap(client =>
    Array.from({ length: 128 }, () => long.answer(steps(client, 2, [], { client }))),
  );
  const going = Array.from({ length: 300 }, () =>
    long.goOn(steps('n', 1, [], { client: 'n' })).catch((error: Error) => error.name),
  );
  const answers = await Promise.all(going);
  assert.is(answers.filter(answer => answer === 'n is done').length, 128);
  assert.is(answers.filter(answer => answer === 'Unavailable').length, 172);
  await Promise.all(hogs);
});

test('one that has done its first step goes on', async () => {
  const notes: string[] = [];
  assert.is(await begun().goOn(steps('a', 2, notes)), 'a is done');
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
  const failing: NotBegun<string> = {
    budget: new Budget(60),
    client: 'one',
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
  const endless: NotBegun<string> = {
    budget,
    client: 'one',
    reserve: () => true,
    step: () => (isOver ? 'over' : undefined),
  };
  const others = Array.from({ length: 4 }, () => long.answer(endless));
  const late = await long.answer(steps('late', 1, notes, { seconds: 0.05 })).catch((error: Error) => error.name);
  assert.equal([late, notes], ['Unavailable', []]);
  isOver = true;
  await Promise.all(others);
});

test('one that finds no memory lets those go ahead that need less, and is refused before its budget is spent', async () => {
  const notes: string[] = [];
  const long = begun();
  const greedy = { ...steps('greedy', 1, notes, { seconds: 1 }), reserve: () => false };
  const refused = long.answer(greedy).catch((error: Error) => [error.name, greedy.budget.spent]);
  assert.is(await long.answer(steps('modest', 2, notes)), 'modest is done');
  assert.equal([await refused, notes.join()], [['Unavailable', false], 'modest,modest']);
  let asked = 0;
  const patient = { ...steps('patient', 1, notes), reserve: () => ++asked === 3 };
  assert.is(await long.answer(patient), 'patient is done');
});

test.run();
