import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Deferred } from '../../../src/capabilities/crossmatch/deferred.ts';

const test = suite('crossmatch/deferred');

test('an object is put off twice as long each time, up to ten minutes, and from the start again once it succeeded', () => {
  const deferred = new Deferred();
  let nowMs = 5;
  assert.is(deferred.nextDueMs, Number.POSITIVE_INFINITY);
  const delays: number[] = [];
  for (let attempt = 0; attempt < 8; attempt++) {
    deferred.defer([1n], nowMs);
    const dueMs = deferred.nextDueMs;
    delays.push((dueMs - nowMs) / 1000);
    assert.equal([deferred.has(1n, dueMs - 1), deferred.isDue(1n, dueMs - 1)], [true, false]);
    assert.equal([deferred.has(1n, dueMs), deferred.isDue(1n, dueMs)], [false, true]);
    nowMs = dueMs + attempt;
  }
  assert.equal(delays, [10, 20, 40, 80, 160, 320, 600, 600]);
  deferred.settle(nowMs);
  assert.equal([deferred.size, deferred.nextDueMs], [0, Number.POSITIVE_INFINITY]);
  deferred.defer([1n], nowMs);
  assert.is(deferred.nextDueMs, nowMs + 10_000);
});

test('settling leaves those that are not due, and those that were put off again', () => {
  const deferred = new Deferred();
  deferred.defer([1n, 2n], 0);
  deferred.defer([3n], 4000);
  deferred.settle(9999);
  assert.is(deferred.size, 3);
  deferred.defer([2n], 10_000);
  deferred.settle(10_000);
  assert.equal(
    [1n, 2n, 3n].map(id => deferred.has(id, 12_000)),
    [false, true, true],
  );
  assert.equal([deferred.size, deferred.nextDueMs], [2, 14_000]);
});

test.run();
