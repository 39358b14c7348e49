/** H3 cells as keys, and the cells of a disc, against H3 itself. */

import { separationArcsec } from '@nearsky/sky-index';
import * as fc from 'fast-check';
import { cellToBoundary, cellToLatLng, cellToParent, getNumCells, latLngToCell } from 'h3-js';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  ancestor,
  cellCount,
  cellOfKey,
  cellsInDisc,
  centreOfKey,
  everyKey,
  FINEST_RESOLUTION,
  keyCount,
  keyOfCell,
  keyOfPosition,
  keysTouching,
} from '../../../src/capabilities/sky_map/cells.ts';

const test = suite('sky_map/cells');

const position = fc.record({
  ra: fc.oneof(fc.double({ min: 0, max: 360, noNaN: true }), fc.constantFrom(0, 180, 360)),
  dec: fc.oneof(fc.double({ min: -90, max: 90, noNaN: true }), fc.constantFrom(-90, 0, 90)),
});
const resolution = fc.integer({ min: 0, max: FINEST_RESOLUTION });

test('a key is its cell, and its ancestors are those of H3', () => {
  fc.assert(
    fc.property(position, resolution, ({ ra, dec }, resolution) => {
      const finest = keyOfPosition(ra, dec);
      assert.is(cellOfKey(finest, FINEST_RESOLUTION), latLngToCell(dec, ra, FINEST_RESOLUTION));
      const key = ancestor(finest, FINEST_RESOLUTION - resolution);
      assert.is(cellOfKey(key, resolution), cellToParent(cellOfKey(finest, FINEST_RESOLUTION), resolution));
      assert.is(keyOfCell(cellOfKey(key, resolution), resolution), key);
      assert.ok(key < keyCount(resolution));
    }),
  );
});

test('every key of a resolution, each once', () => {
  for (const resolution of [0, 1, 2, 3]) {
    const keys = new Set(everyKey(resolution));
    assert.is(keys.size, getNumCells(resolution));
    assert.is(keys.size, cellCount(resolution));
  }
});

/** Degrees. */
const cornersOf = (key: number, resolution: number) =>
  cellToBoundary(cellOfKey(key, resolution)).map(([dec, ra]) => ({ ra: (ra + 360) % 360, dec }));

test('the cells of a disc: none is missed that has its centre or a corner in it, and none is far away', () => {
  const everyCell = [0, 1, 2, 3].map(resolution => [...everyKey(resolution)]);
  const cases = fc.record({ disc: position, radiusDeg: fc.double({ min: 0.01, max: 180, noNaN: true }) });
  fc.assert(
    fc.property(cases, fc.integer({ min: 0, max: 2 }), ({ disc: { ra, dec }, radiusDeg }, resolution) => {
      const found = keysTouching({ ra, dec, radiusDeg }, resolution);
      const size = 16 / Math.sqrt(7) ** resolution;
      for (const key of everyCell[resolution]!) {
        const centre = centreOfKey(key, resolution);
        const distances = [centre, ...cornersOf(key, resolution)].map(
          point => separationArcsec(ra, dec, point.ra, point.dec) / 3600,
        );
        if (distances.some(distance => distance <= radiusDeg)) assert.ok(found.has(key), `${key} is missed`);
        if (found.has(key)) assert.ok(distances[0]! <= radiusDeg + size + 1e-9, `${key} is far away`);
      }
      assert.ok(found.has(ancestor(keyOfPosition(ra, dec), FINEST_RESOLUTION - resolution)));
    }),
    { numRuns: 40 },
  );
});

test('fine cells of a small disc are those of H3 around it', () => {
  fc.assert(
    fc.property(position, fc.double({ min: 0.001, max: 0.5, noNaN: true }), ({ ra, dec }, radiusDeg) => {
      const found = keysTouching({ ra, dec, radiusDeg }, FINEST_RESOLUTION);
      // Points on circles in the disc, each of which lies in a cell.
      for (let i = 0; i < 60; i++) {
        const angle = (i / 60) * 2 * Math.PI;
        const offset = radiusDeg * (i % 2 ? 0.999 : 0.5);
        const toDec = dec + offset * Math.sin(angle);
        const toRa = ra + (offset * Math.cos(angle)) / Math.cos((toDec * Math.PI) / 180);
        if (Math.abs(toDec) > 89 || separationArcsec(ra, dec, toRa, toDec) / 3600 > radiusDeg) continue;
        assert.ok(found.has(keyOfPosition(toRa, toDec)));
      }
      assert.ok(found.size <= 2 * cellsInDisc(FINEST_RESOLUTION, radiusDeg + 0.03) + 10, `${found.size} cells`);
    }),
    { numRuns: 40 },
  );
});

test('no corner is farther from its centre than a search reaches', () => {
  for (const key of everyKey(3)) {
    const [dec, ra] = cellToLatLng(cellOfKey(key, 3));
    const reach = Math.max(...cornersOf(key, 3).map(corner => separationArcsec(ra, dec, corner.ra, corner.dec)));
    assert.ok(reach / 7 ** 2 < 51, 'four resolutions finer, 60 arcsec are enough');
  }
});

test.run();
