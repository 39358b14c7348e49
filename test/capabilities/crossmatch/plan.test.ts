import { pixelOf } from '@nearsky/sky-index';
import { Coverage } from '@nearsky/sky-index/areas';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type PlannedCatalog, planCatalog } from '../../../src/capabilities/crossmatch/plan.ts';
import { anywhere, HARD_PLACES, offset, seededRandom } from '../../oracle/skies.ts';

const RADIUS_ARCSEC = 60;
const ORDERS = [1, 4, 9];
const BEARINGS = 64;

/** A catalog in which every pixel of each of the orders is a partition. */
function catalog(): PlannedCatalog {
  const ofOrder = (order: number) => ({ get: (ipix: number) => ({ order, ipix, files: [`${order}/${ipix}`] }) });
  const partitions = new Map(ORDERS.map(order => [order, ofOrder(order)]));
  return { coverage: Coverage.fromRanges(0, Uint32Array.of(0, 12)), partitions } as unknown as PlannedCatalog;
}

test('names the partition of every place in the disc, at each order', () => {
  const random = seededRandom(3);
  const places = [...HARD_PLACES, ...Array.from({ length: 300 }, () => anywhere(random))];
  const { searches } = planCatalog(
    catalog(),
    Float64Array.from(places, ({ ra }) => ra),
    Float64Array.from(places, ({ dec }) => dec),
    RADIUS_ARCSEC,
  );
  const planned = new Set(searches.flatMap(({ file, objects }) => objects.map(object => `${object} ${file}`)));
  for (const [object, place] of places.entries()) {
    for (let i = 0; i < BEARINGS; i++) {
      const { ra, dec } = offset(place, RADIUS_ARCSEC, (2 * Math.PI * i) / BEARINGS);
      for (const order of ORDERS)
        assert.ok(planned.has(`${object} ${order}/${pixelOf(order, ra, dec)}`), `${place.ra} ${place.dec} ${order}`);
    }
  }
  assert.is(
    planned.size,
    searches.reduce((sum, { objects }) => sum + objects.length, 0),
    'each partition once',
  );
});

test.run();
