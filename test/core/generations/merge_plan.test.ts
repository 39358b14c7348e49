/** Merging keeps the arenas few, and copies a row only a few times. */
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { MAX_ARENAS, planMerge } from '../../../src/core/generations/live_index.ts';

const test = suite('generations/merge_plan');

test('nothing to merge while there are few', () => {
  assert.equal(planMerge([]), []);
  assert.equal(planMerge(Array(MAX_ARENAS).fill(5)), []);
});

test('the smallest are merged, the large one is left alone', () => {
  assert.equal(planMerge([10, 5_000_000, 20, 30, 40, 50, 60, 70, 80]).sort(), [0, 2, 3, 4, 5, 6, 7, 8]);
  assert.equal(planMerge([1, 1, 1, 1, 1000, 4000, 16_000, 64_000, 256_000]).sort(), [0, 1, 2, 3]);
});

test('with any arrivals: at most MAX_ARENAS afterwards, no row lost, each copied at most about log2 times', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 10_000 }), { maxLength: 400 }), arrivals => {
      let arenas: number[] = [];
      let copied = 0;
      let rows = 0;
      for (const arrival of arrivals) {
        rows += arrival;
        arenas.push(arrival);
        const plan = planMerge(arenas);
        const merged = plan.reduce((sum, position) => sum + arenas[position]!, 0);
        if (plan.length > 0) arenas = [...arenas.filter((_, position) => !plan.includes(position)), merged];
        copied += merged;
        assert.ok(arenas.length <= MAX_ARENAS);
      }
      assert.is(
        arenas.reduce((sum, length) => sum + length, 0),
        rows,
      );
      return copied <= rows * (2 + Math.log2(1 + arrivals.length));
    }),
  );
});

test.run();
