import { separationArcsec } from '@nearsky/sky-index';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ObjectZones } from '../../../src/capabilities/crossmatch/zones.ts';
import { anywhere, offset, type Place, seededRandom } from '../../oracle/skies.ts';

/** Places whose discs reach over the seam or a pole, and elsewhere. */
const CENTRES: readonly Place[] = [
  { ra: 0, dec: 0 },
  { ra: 360, dec: 20 },
  { ra: 1e-5, dec: -60 },
  { ra: 359.99999, dec: 89.9 },
  { ra: 120, dec: 90 },
  { ra: 300, dec: -90 },
  { ra: 200, dec: -89.9999 },
  { ra: 10, dec: 45 },
];

for (const radiusArcsec of [0.01, 1, 60]) {
  test(`within ${radiusArcsec} arcsec are those that a scan finds, wherever they are on the sky`, () => {
    const random = seededRandom(radiusArcsec * 1000);
    const around = (place: Place) => offset(place, 3 * radiusArcsec * random(), 2 * Math.PI * random());
    for (const centres of [CENTRES, ...CENTRES.map(place => [place]), [anywhere(random), anywhere(random)]]) {
      const objects = centres.flatMap(place => [place, ...Array.from({ length: 20 }, () => around(place))]);
      const [ra, dec] = [objects.map(place => place.ra), objects.map(place => place.dec)];
      const zones = new ObjectZones(Float64Array.from(ra), Float64Array.from(dec), radiusArcsec);
      for (const place of [
        ...objects,
        ...centres.flatMap(centre => Array.from({ length: 40 }, () => around(centre))),
      ]) {
        const found: (readonly [number, number])[] = [];
        zones.near(place.ra, place.dec, (object, separation) => found.push([object, separation]));
        const expected = objects.flatMap((object, at) => {
          const separation = separationArcsec(object.ra, object.dec, place.ra, place.dec);
          return separation <= radiusArcsec ? [[at, separation] as const] : [];
        });
        assert.equal(
          found.sort(([a], [b]) => a - b),
          expected,
          `${place.ra} ${place.dec}`,
        );
        assert.is(zones.hasNear(place.ra, place.dec), expected.length > 0);
      }
    }
  });
}

test('where there are no objects, nothing is near', () => {
  const zones = new ObjectZones(new Float64Array(0), new Float64Array(0), 1);
  assert.is(zones.hasNear(0, 0), false);
  zones.near(0, 0, () => assert.unreachable());
});

test.run();
