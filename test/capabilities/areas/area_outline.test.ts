/** Outlines of areas: closed lines at the edge of what is inside, over the poles and the seam, too. */
import { pixelNeighbours, separationArcsec } from '@nearsky/sky-index';
import { areaOfRanges, areaOfShape, circle, type Shape } from '@nearsky/sky-index/areas';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { maxCellRadius } from '../../../index/healpix.ts';
import { areaOutline } from '../../../src/capabilities/areas/area_outline.ts';

const test = suite('areas/area_outline');

function whole<T>(steps: Generator<undefined, T, undefined>): T {
  for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value;
}

const outlineOf = <Part>(shape: Shape<Part>, most = 4000) => whole(areaOutline(whole(areaOfShape(shape)), most));

/** How many edges end at each point. */
function endsOf(edges: readonly number[]): number[] {
  const ends = new Map<string, number>();
  for (let i = 0; i < edges.length; i += 2) {
    const [ra, dec] = [edges[i]!, edges[i + 1]!];
    const key =
      Math.abs(dec) > 89.99999 ? `${Math.sign(dec)}` : `${Math.round(1e6 * ra) % 360e6} ${Math.round(1e6 * dec)}`;
    ends.set(key, (ends.get(key) ?? 0) + 1);
  }
  return [...ends.values()];
}

test('the outline of a circle is closed, and as far from its middle as its radius', () => {
  for (const [ra, dec] of [
    [0, 0],
    [123, 41.8],
    [359.99, -3],
    [45, 89.5],
    [210, -90],
  ] as const)
    for (const radius of [0.01, 1, 20, 100]) {
      const { order, edges } = outlineOf(circle(ra, dec, 3600 * radius));
      assert.ok(edges.length >= 16, `${ra} ${dec} ${radius}`);
      const slack = (2 * maxCellRadius(order) * 180) / Math.PI;
      for (let i = 0; i < edges.length; i += 2) {
        const away = separationArcsec(ra, dec, edges[i]!, edges[i + 1]!) / 3600;
        assert.ok(Math.abs(away - radius) <= slack, `${ra} ${dec} ${radius}: ${away} at order ${order}`);
      }
      assert.ok(endsOf(edges).every(count => count % 2 === 0));
    }
});

test('the edges of single pixels are those to each neighbour across a side; the whole sky has none', () => {
  const order29 = (order: number, pixel: number) => BigInt(pixel) << BigInt(2 * (29 - order));
  const ranges = (order: number, first: number, end: number) =>
    whole(areaOfRanges(BigInt64Array.of(order29(order, first)), BigInt64Array.of(order29(order, end))));
  for (const pixel of [0, 3, 100, 767]) {
    // One pixel of order 3, at the order that allows 16 of them: 4 on a side.
    const { order, edges } = whole(areaOutline(ranges(3, pixel, pixel + 1), 16));
    assert.equal([order, edges.length], [5, 4 * 4 * 4]);
    assert.is(pixelNeighbours(3, pixel, 5).length >= 18, true);
  }
  assert.equal(whole(areaOutline(ranges(0, 0, 12), 4000)).edges, []);
});

test.run();
