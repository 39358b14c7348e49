import { setImmediate } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Semaphore } from '../../../src/core/base/semaphore.ts';

const test = suite('base/semaphore');

test('work runs at once up to the whole capacity; the rest waits in its order, also behind work that does not fit', async () => {
  const semaphore = new Semaphore(3);
  const running = new Set<string>();
  const ends = new Map<string, () => void>();
  const begin = (name: string, weight: number) =>
    semaphore.run(weight, async () => {
      running.add(name);
      await new Promise<void>(end => ends.set(name, end));
      running.delete(name);
    });
  const work = [begin('a', 1), begin('b', 2), begin('c', 9), begin('d', 1)];
  const runs = async (...names: string[]) => {
    await setImmediate();
    assert.equal([...running], names);
  };
  await runs('a', 'b');
  ends.get('b')!();
  await runs('a');
  ends.get('a')!();
  await runs('c');
  ends.get('c')!();
  await runs('d');
  ends.get('d')!();
  await Promise.all(work);
  await runs();
});

test('work that throws releases its capacity', async () => {
  const semaphore = new Semaphore(1);
  const error = new Error('of the work');
  const failing = semaphore.run(1, () => Promise.reject(error));
  const next = semaphore.run(1, async () => 'done');
  await failing.then(
    () => assert.unreachable(),
    thrown => assert.is(thrown, error),
  );
  assert.is(await next, 'done');
});

test.run();
