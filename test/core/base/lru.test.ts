import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { setRecent } from '../../../src/core/base/lru.ts';

const test = suite('base/lru');

test('of more entries than may be held, the one that was set longest ago is dropped', () => {
  const map = new Map<string, number>();
  for (const [i, key] of ['a', 'b', 'a', 'c'].entries()) setRecent(map, key, i, 2);
  assert.equal(
    [...map],
    [
      ['a', 2],
      ['c', 3],
    ],
  );
});

test.run();
