/** An index of many areas against a test of every area and every disc. */
import { pixel29, separationArcsec } from '@nearsky/sky-index';
import {
  type Area,
  AreaIndex,
  areaOfProbability,
  areaOfRanges,
  areaOfShape,
  circle,
  Discs,
  discArrays,
  polygon,
  type Region,
} from '@nearsky/sky-index/areas';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { anywhere, HARD_PLACES, offset, type Place, seededRandom } from '../oracle/skies.ts';

const test = suite('index/area_index');

function finished<T>(steps: Generator<unknown, T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

const random = seededRandom(40);
const somewhere = (reachArcsec: number): Place =>
  random() < 0.5
    ? anywhere(random)
    : offset(HARD_PLACES[Math.floor(random() * HARD_PLACES.length)]!, reachArcsec * random(), 7 * random());

function randomArea(kind: number): Area {
  const { ra, dec } = somewhere(36_000);
  if (kind === 0) return finished(areaOfShape(circle(ra, dec, 3600 * 60 * random() ** 3)));
  if (kind === 1) {
    const corners = [0, 1, 2, 3].map(i => offset({ ra, dec }, 3600 * (1 + 20 * random()), i * 1.5 + random()));
    return finished(areaOfShape(polygon(corners.map(corner => [corner.ra, corner.dec] as const))));
  }
  if (kind === 2) {
    const order = Math.floor(30 * random());
    const shift = BigInt(2 * (29 - order));
    const firsts = BigInt64Array.from({ length: 50 }, () => {
      const place = somewhere(36_000);
      return (pixel29(place.ra, place.dec) >> shift) << shift;
    });
    return finished(
      areaOfRanges(
        firsts,
        firsts.map(first => first + (1n << shift)),
      ),
    );
  }
  const pixels = 4 ** 13;
  const firsts = Float64Array.from({ length: 768 }, (_, i) => i * pixels);
  const ends = firsts.map(first => first + pixels);
  return finished(areaOfProbability({ firsts, ends, density: firsts.map(() => random() ** 8) }, 0.9)).withoutLevels();
}

test('every position is found in the areas that contain it, and in no other, also when areas have gone', () => {
  const index = new AreaIndex<number>();
  const regions = new Map<number, Region>();
  const look = () => {
    let inside = 0;
    for (let i = 0; i < 3000; i++) {
      const { ra, dec } = somewhere(7200);
      const wanted = [...regions].filter(([, region]) => region.contains(ra, dec)).map(([key]) => key);
      assert.equal(index.at(ra, dec), wanted, `${ra} ${dec}`);
      inside += wanted.length;
    }
    return inside;
  };
  for (let key = 0; key < 100; key++) {
    const region = randomArea(key % 4);
    regions.set(key, region);
    index.add(key, region);
  }
  assert.ok(look() > 3000);
  for (let key = 0; key < 100; key += 3) {
    regions.delete(key);
    index.delete(key);
  }
  index.delete(0);
  assert.is(index.size, regions.size);
  assert.ok(look() > 2000);
});

test('discs contain the positions that are near a centre, edges included', () => {
  for (const radius of [0, 0.5, 30, 3600]) {
    const centres = Array.from({ length: 300 }, () => somewhere(3600));
    const [ra, dec] = [Float64Array.from(centres, c => c.ra), Float64Array.from(centres, c => c.dec)];
    const discs = new Discs(discArrays(ra, dec, radius), radius);
    const index = new AreaIndex<string>();
    index.add('discs', discs);
    let inside = 0;
    for (let i = 0; i < 2000; i++) {
      const centre = centres[i % centres.length]!;
      const place = i % 5 === 0 ? centre : i % 5 === 1 ? anywhere(random) : offset(centre, 2 * radius * random(), i);
      const isNear = centres.some(c => separationArcsec(c.ra, c.dec, place.ra, place.dec) <= radius);
      assert.is(discs.contains(place.ra, place.dec), isNear);
      assert.equal(index.at(place.ra, place.dec), isNear ? ['discs'] : [], `${radius}: ${place.ra} ${place.dec}`);
      if (isNear) inside++;
    }
    assert.ok(inside >= 400);
  }
});

test.run();
