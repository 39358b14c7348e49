import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Backoff } from '../../../src/core/base/backoff.ts';

const test = suite('base/backoff');

test('doubles up to the most, of which half to all is waited, and begins anew after a success', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1000 }), fc.integer({ min: 1, max: 1_000_000 }), (firstMs, maxMs) => {
      const backoff = new Backoff(firstMs, maxMs);
      for (const failures of [60, 3]) {
        for (let i = 0; i < failures; i++) {
          const wholeMs = Math.min(maxMs, firstMs * 2 ** i);
          const waitMs = backoff.next();
          assert.ok(waitMs >= wholeMs / 2 && waitMs <= wholeMs, `${waitMs} of ${wholeMs}`);
        }
        backoff.reset();
      }
    }),
  );
});

test('no two wait alike', () => {
  const waits = Array.from({ length: 50 }, () => new Backoff(1000, 60_000).next());
  assert.ok(new Set(waits).size > 40);
});

test.run();
