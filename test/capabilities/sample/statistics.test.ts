/** Intervals against exact sums in Python's `decimal`, latitudes against astropy 5.2. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { poissonInterval, wilsonInterval } from '../../../src/capabilities/sample/statistics.ts';

const test = suite('sample/statistics');

test('the interval of Poisson, from 0 to a million', () => {
  const exact: readonly (readonly [number, [number, number]])[] = [
    [0, [0, 0]],
    [0.01, [0, 0]],
    [0.5, [0, 2]],
    [3.2, [0, 7]],
    [8.4, [3, 15]],
    [41.25, [29, 54]],
    [1000, [938, 1062]],
    [123456.7, [122769, 124146]],
  ];
  for (const [mean, interval] of exact) assert.equal(poissonInterval(mean), interval, `${mean}`);
});

test('the interval of Wilson', () => {
  assert.is(wilsonInterval(0, 0), null);
  for (const [successes, trials, low, high] of [
    [0, 10, 0, 0.27753279986],
    [3, 10, 0.107791267406, 0.603221852539],
    [75, 500, 0.121375957691, 0.183961080632],
    [10, 10, 0.722467200137, 1],
  ] as const) {
    const found = wilsonInterval(successes, trials)!;
    assert.ok(Math.abs(found[0] - low) < 1e-9 && Math.abs(found[1] - high) < 1e-9, `${found}`);
  }
});

test.run();
