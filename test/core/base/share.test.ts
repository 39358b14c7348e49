/** What is left of something that clients share. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Share } from '../../../src/core/base/share.ts';

const test = suite('base/share');

/** How many slots of `max` each client gets, if they take turns until nothing is left for any. */
function slotsOf(max: number, clients: readonly string[]): number[] {
  const share = new Share(max);
  for (let taken = -1; taken !== share.held; ) {
    taken = share.held;
    for (const client of clients) if (share.left(client) > 0) share.add(client);
  }
  return clients.map(client => share.heldBy(client));
}

test('one client gets half of the slots, rounded up, and all together get no more than there are', () => {
  const alone = [0, 1, 2, 3, 4, 5].map(max => slotsOf(max, ['a'])[0]);
  assert.equal(alone, [0, 1, 1, 2, 2, 3]);
  assert.equal(slotsOf(5, ['a', 'b']), [3, 2]);
  assert.equal(slotsOf(5, ['a', 'b', 'c']), [2, 2, 1]);
});

test('bytes fit up to the half, and up to the whole, inclusive', () => {
  const share = new Share(100);
  assert.is(share.left('a'), 50);
  share.add('a', 40);
  share.add('b', 50);
  assert.equal([share.left(), share.left('a'), share.left('b'), share.left('c')], [10, 10, 0, 10]);
  share.add('c', 30);
  assert.equal([share.left(), share.leftOfHalf('a'), share.leftOfHalf('b')], [-20, 10, 0], 'more than fits');
});

test('who has freed everything is no longer counted; holders count one each', () => {
  const share = new Share(8, [{ client: 'a' }, { client: 'b' }, { client: 'a' }]);
  assert.equal([share.held, share.clients, share.heldBy('a')], [3, 2, 2]);
  share.free('a');
  share.free('b');
  assert.equal([share.held, share.clients, share.heldBy('b')], [1, 1, 0]);
});

test('the half is of what there is now', () => {
  let spare = 80;
  const share = new Share(held => Math.min(1000, held + spare));
  assert.is(share.left('a'), 40);
  share.add('a', 40);
  spare = 20;
  assert.equal([share.left(), share.left('a'), share.left('b')], [20, -10, 20]);
});

test.run();
