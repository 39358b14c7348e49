/** The memory of long answers: all threads together never exceed the limit, and all of it is returned. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { AnswerMemory, isMemoryWanted, keep, letGo, replace } from '../../../src/core/answers/answer_memory.ts';
import { SharedState } from '../../../src/core/base/shared_state.ts';
import { ThreadMetrics } from '../../../src/core/metrics/thread_metrics.ts';

const test = suite('answers/answer_memory');

const MIB = 2 ** 20;

function threads() {
  const state = new SharedState();
  const thread = () => {
    const metrics = new ThreadMetrics();
    return { metrics, memory: new AnswerMemory({ limitMib: 16, state: new SharedState(state.memory), metrics }) };
  };
  return { state, one: thread(), other: thread() };
}

const codeOf = (action: () => void): string | undefined => {
  try {
    action();
  } catch (error) {
    return (error as Error).name;
  }
};

test('threads share the limit; who finds none is noted', () => {
  const { state, one, other } = threads();
  const rooms = [one, one, other, other].map(({ memory }, i) => memory.reserve(Number.POSITIVE_INFINITY, `${i}`)!);
  assert.equal([one.metrics.get('answerKib'), other.metrics.get('answerKib')], [8192, 8192]);
  assert.not.ok(isMemoryWanted(state));
  assert.is(one.memory.reserve(1, 'another'), undefined);
  assert.ok(isMemoryWanted(state));
  assert.is(
    codeOf(() => rooms[0]!.cover(5 * MIB)),
    'Unavailable',
  );
  for (const room of rooms.slice(1)) room.shrink(0);
  rooms[0]!.cover(16 * MIB);
  assert.is(
    codeOf(() => rooms[0]!.cover(17 * MIB)),
    'TooExpensive',
    'no memory will ever do',
  );
});

test('the last quarter is for clients that have nothing yet', () => {
  const { state, one } = threads();
  const hold = (client: string) => one.memory.reserve(4 * MIB, client);
  const rooms = Array.from({ length: 4 }, () => hold('a'));
  assert.equal(
    rooms.map(room => room !== undefined),
    [true, true, true, false],
  );
  assert.ok(isMemoryWanted(state));
  const other = hold('b')!;
  assert.is(hold('b'), undefined);
  other.shrink(0);
  assert.is(hold('a'), undefined);
  for (const room of rooms) room?.shrink(0);
  assert.ok(hold('a') && hold('a'), 'all is given back');
});

test('what a body does not need is given back, and all when it is let go of, once', () => {
  const { one } = threads();
  const [body, shorter, shared] = [new Uint8Array(2 * MIB), new Uint8Array(MIB), new Uint8Array(MIB)];
  keep(body, one.memory.reserve(4 * MIB, 'a'));
  assert.is(one.metrics.get('answerKib'), 2048);
  replace(body, shorter);
  assert.equal([one.metrics.get('answerKib'), body.length], [1024, 0]);
  letGo(shared);
  assert.is(shared.length, MIB, 'what was not kept is left alone');
  letGo(shorter);
  letGo(shorter);
  assert.is(one.metrics.get('answerKib'), 0);
});

test.run();
