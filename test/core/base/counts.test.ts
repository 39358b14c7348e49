/** Counters in shared memory, and what the database keeps of them. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Counts } from '../../../src/core/base/counts.ts';
import { SharedState } from '../../../src/core/base/shared_state.ts';
import { openStore } from '../../../src/core/store/store.ts';
import { Writer } from '../../../src/core/store/writer.ts';
import { withDirectory } from '../../directory.ts';

const test = suite('core/base/counts');

const [A, B] = ['a_total', 'b_total'].map(name => ({ name, help: '' })) as [
  { name: string; help: string },
  { name: string; help: string },
];
const newCounts = (state = new SharedState()) => new Counts([A, B], state.counts);
const both = (counts: Counts) => [counts.get(A), counts.get(B)];

test('threads count together; a later process goes on, and two processes count what both have stored', () =>
  withDirectory(async directory => {
    const store = openStore(directory, 'write');
    const writer = new Writer(store);
    const state = new SharedState();
    const [counts, otherThread] = [newCounts(state), newCounts(new SharedState(state.memory))];
    counts.add(A, 2);
    otherThread.add(A, 3);
    otherThread.add(B, 2 ** 40);
    await writer.keepCounts(counts);
    assert.equal(both(otherThread), [5, 2 ** 40]);
    assert.not(counts.hasNew);

    const next = newCounts();
    next.add(A, 10);
    await writer.keepCounts(next);
    assert.equal(both(next), [15, 2 ** 40]);
    counts.add(A, 1);
    assert.ok(counts.hasNew);
    await writer.keepCounts(counts);
    assert.is(counts.get(A), 16);
    // Whoever has counted nothing since does not look.
    assert.equal(both(next), [15, 2 ** 40]);
    await writer.keepCounts(next);
    assert.equal(both(next), [16, 2 ** 40]);
    await store.close();
  }));

test('what cannot be stored is stored later, once', () =>
  withDirectory(async directory => {
    const counts = newCounts();
    counts.add(B, 4);
    assert.throws(() =>
      counts.keep(() => {
        throw new Error('the disk is full');
      }),
    );
    assert.ok(counts.hasNew);
    const store = openStore(directory, 'write');
    for (let i = 0; i < 2; i++) await new Writer(store).keepCounts(counts);
    assert.equal(both(counts), [0, 4]);
    await store.close();
  }));

test('a counter that its capability does not name', () => {
  assert.throws(() => newCounts().add({ name: 'c_total', help: '' }, 1), /the counter c_total is missing/);
});

test.run();
