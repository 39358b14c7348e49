import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { slope } from '../../bench/report.ts';
import { plot } from '../../bench/soak_plot.ts';
import { SoakSky, transientName } from '../../bench/soak_sky.ts';

test('the slope of a straight line with a few peaks is that of the line', () => {
  const points = Array.from({ length: 100 }, (_, x) => [x, 3 * x + (x % 17 === 0 ? 5000 : 0)] as const);
  assert.is(slope(points), 3);
  assert.ok(Number.isNaN(slope([[1, 2]])));
});

test('an object of the sky is the same at every call, and known again by its id', () => {
  const [one, other] = [new SoakSky(5), new SoakSky(5)];
  for (const number of [0, 1, 59_999, 60_000, 2_000_000]) {
    assert.equal(one.object(number), other.object(number));
    assert.is(one.numberOf(one.object(number).id), number);
  }
  assert.is(one.numberOf(one.object(7).id + 1n), undefined);
  assert.is(one.numberOf(0n), undefined);
});

test('no two transients have one name', () => {
  assert.is(new Set(Array.from({ length: 30_000 }, (_, i) => transientName(i))).size, 30_000);
});

test('a plot leaves gaps where there is no value, and is well-formed', () => {
  const svg = plot(
    'a & b',
    [
      {
        title: 't',
        lines: [
          {
            label: 'l',
            points: [
              [0, 1],
              [1, Number.NaN],
              [2, 3],
              [3, 4],
            ],
          },
        ],
      },
    ],
    [1.5],
  );
  assert.is(svg.match(/M[\d. ]+L/g)?.length, 1, 'one stretch of two points');
  assert.not.match(svg, /NaN|undefined/);
  assert.match(svg, /a &amp; b/);
});

test.run();
