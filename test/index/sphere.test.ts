import { isPosition, RADIANS_PER_ARCSEC, separationArcsec, wrapRa } from '@nearsky/sky-index';
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

test('separations of arcs whose length is known, to 13 digits', () => {
  for (const [ra1, dec1, ra2, dec2, arcsec] of [
    [10, -0.5, 10, 0.5, 3600],
    [359.75, 0, 0.25, 0, 1800],
    [10, 0, 190, 0, 648_000],
    [77, 90, 12, -90, 648_000],
    [0, 60, 180, 60, 216_000],
    // cos(d) = sin(45°)² = cos(60°).
    [0, 45, 90, 45, 216_000],
  ] as const)
    assert.ok(Math.abs(separationArcsec(ra1, dec1, ra2, dec2) / arcsec - 1) < 1e-13, `${[ra1, dec1, ra2, dec2]}`);
  assert.ok(Math.abs((RADIANS_PER_ARCSEC * 648_000) / Math.PI - 1) < 1e-15);
});

test.run();
