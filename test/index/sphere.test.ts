import { isPosition, wrapRa } from '@nearsky/sky-index';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const test = suite('sphere');

test('a right ascension of any convention is brought to 0 to 360 degrees, one that lies there is left as it is', () => {
  for (const ra of [0, 5e-324, 180.25, 359.9999999999999, 360]) assert.is(wrapRa(ra), ra);
  for (const [ra, wrapped] of [
    [-20, 340],
    [-180, 180],
    [-359.5, 0.5],
    [360.25, 0.25],
    [3_600_010, 10],
    [-3_600_010, 350],
    [2 ** 60, 136],
    [-1e-20, 360],
  ] as const)
    assert.is(wrapRa(ra), wrapped);
  for (const ra of [-0, -360, 720]) assert.ok(Object.is(Math.abs(wrapRa(ra)), 0));
  for (const ra of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])
    assert.not.ok(isPosition(wrapRa(ra), 0));
});

test.run();
