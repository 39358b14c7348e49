import { readFileSync } from 'node:fs';
import {
  conePixels,
  pixel24,
  pixel29,
  pixelCentre,
  pixelCentre29,
  pixelNeighbours,
  pixelOf,
  separationArcsec,
} from '@nearsky/sky-index';
import { Coverage } from '@nearsky/sky-index/areas';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { anywhere, HARD_PLACES, offset, seededRandom, somewhere } from '../oracle/skies.ts';

const test = suite('healpix');

/** Pixels and centres from healpy. */
const healpy: {
  orders: number[];
  positions: [ra: number, dec: number, ...pixels: number[]][];
  centres: [order: number, ipix: number, ra: number, dec: number][];
} = JSON.parse(readFileSync(new URL('../fixtures/healpix.json', import.meta.url), 'utf8'));

test('pixels are those of healpy', () => {
  for (const [ra, dec, ...pixels] of healpy.positions)
    assert.equal(
      healpy.orders.map(order => pixelOf(order, ra, dec)),
      pixels,
      `ra ${ra} dec ${dec}`,
    );
});

test('centres are those of healpy, and lie in their pixel', () => {
  for (const [order, ipix, ra, dec] of healpy.centres) {
    const centre = pixelCentre(order, ipix);
    assert.ok(separationArcsec(ra, dec, centre.ra, centre.dec) < 1e-6, `order ${order} pixel ${ipix}`);
    assert.is(pixelOf(order, centre.ra, centre.dec), ipix);
  }
});

test('a pixel of order 24 holds those of order 29', () => {
  const random = seededRandom(24);
  for (const { ra, dec } of [...HARD_PLACES, ...Array.from({ length: 1000 }, () => anywhere(random))])
    assert.is(BigInt(pixel24(ra, dec)), pixel29(ra, dec) >> 10n, `ra ${ra} dec ${dec}`);
});

test('ra 360 is ra 0', () => {
  for (const dec of [-90, -60, -20, 0, 41.8, 90]) assert.is(pixelOf(13, 360, dec), pixelOf(13, 0, dec));
});

test('a float64 below ra 360, where faces meet: a pixel whose disc holds the point across the seam', () => {
  const ra = 360 - 2 ** -44;
  for (const corner of [41.8103148957786, -41.8103148957786])
    for (let ulps = -4; ulps <= 4; ulps++) {
      const dec = corner + ulps * 2 ** -47;
      for (const order of [0, 5, 13]) {
        const across = conePixels(order, 0, dec, 0.001);
        assert.ok(across.includes(pixelOf(order, ra, dec)), `order ${order} dec ${dec}: ${pixelOf(order, ra, dec)}`);
      }
    }
});

test('conePixels holds the pixel of every point of the disc, at most nine where the disc is smaller than a pixel', () => {
  const random = seededRandom(5);
  for (let i = 0; i < 3000; i++) {
    const centre = somewhere(random, HARD_PLACES);
    const radius = 10 ** (random() * 4.5 - 1);
    const order = Math.floor(random() * (radius > 100 ? 9 : 14));
    const pixels = conePixels(order, centre.ra, centre.dec, radius);
    assert.equal(
      pixels,
      [...new Set(pixels)].sort((a, b) => a - b),
    );
    for (let k = 0; k < 40; k++) {
      const point = offset(centre, radius * (k < 20 ? 1 : Math.sqrt(random())), random() * 2 * Math.PI);
      if (separationArcsec(centre.ra, centre.dec, point.ra, point.dec) > radius) continue;
      const pixel = pixelOf(order, point.ra, point.dec);
      assert.ok(pixels.includes(pixel), `order ${order} ra ${centre.ra} dec ${centre.dec} radius ${radius}`);
    }
    if (radius < 1) assert.ok(pixels.length <= 9);
  }
});

test('a coverage contains what its pixels contain', () => {
  const random = seededRandom(6);
  for (const order of [0, 3, 8, 13]) {
    const pixels = Array.from({ length: 300 }, () => {
      const { ra, dec } = anywhere(random);
      return pixelOf(order, ra, dec);
    });
    const coverage = Coverage.fromPixels(order, pixels);
    const set = new Set(pixels);
    assert.is(coverage.size, set.size);
    assert.equal(Coverage.fromRanges(order, coverage.ranges), coverage);
    for (let i = 0; i < 1000; i++) {
      const { ra, dec } = anywhere(random);
      assert.is(coverage.contains(ra, dec), set.has(pixelOf(order, ra, dec)));
    }
    for (const pixel of set) {
      const centre = pixelCentre(order, pixel);
      assert.ok(coverage.contains(centre.ra, centre.dec));
    }
  }
});

test('the centre of a pixel at order 29 lies in it, and within a milliarcsecond of the positions there', () => {
  const random = seededRandom(8);
  for (let i = 0; i < 2000; i++) {
    const { ra, dec } = i % 2 ? anywhere(random) : somewhere(random, HARD_PLACES);
    const centre = pixelCentre29(pixel29(ra, dec));
    assert.ok(separationArcsec(ra, dec, centre.ra, centre.dec) < 1e-3, `${ra} ${dec}`);
  }
});

test('the neighbours of a pixel are the pixels around it', () => {
  for (const order of [0, 1, 3, 13]) {
    const random = seededRandom(order);
    for (let i = 0; i < 200; i++) {
      const { ra, dec } = i % 2 ? anywhere(random) : somewhere(random, HARD_PLACES);
      const pixel = pixelOf(order, ra, dec);
      const around = pixelNeighbours(order, pixel);
      assert.is(new Set([pixel, ...around]).size, around.length + 1);
      assert.ok(around.length === 8 || around.length === 7 || (order === 0 && around.length === 6), `${around}`);
      for (const each of around) assert.ok(pixelNeighbours(order, each).includes(pixel));
      const fine = Math.min(13, order + 2);
      const parts = 4 ** (fine - order);
      const beside = Array.from({ length: parts }, (_, part) => pixelNeighbours(fine, pixel * parts + part)).flat();
      assert.equal(
        new Set(pixelNeighbours(order, pixel, fine).sort()),
        new Set(beside.filter(each => Math.floor(each / parts) !== pixel).sort()),
      );
      if (order < 13) continue;
      for (const touched of conePixels(order, ra, dec, 5)) assert.ok([pixel, ...around].includes(touched));
    }
  }
});

test('a coverage touches a disc whenever one of its pixels does', () => {
  const random = seededRandom(7);
  const order = 8;
  let outside = 0;
  for (let i = 0; i < 2000; i++) {
    const { ra, dec } = somewhere(random, HARD_PLACES);
    const near = offset({ ra, dec }, 10 ** (random() * 4 - 1), random() * 2 * Math.PI);
    const coverage = Coverage.fromPixels(order, [pixelOf(order, near.ra, near.dec)]);
    const separation = separationArcsec(ra, dec, near.ra, near.dec);
    if (separation > 3600) continue;
    assert.ok(coverage.touches(ra, dec, separation));
    if (!coverage.contains(ra, dec)) outside++;
  }
  assert.ok(outside > 100);
  assert.not.ok(Coverage.fromPixels(8, []).touches(10, 10, 1));
});

test('orders, pixels, ranges and radii out of range are refused', () => {
  assert.throws(() => pixelOf(14, 0, 0), /order .*14/);
  assert.throws(() => pixelOf(1.5, 0, 0), /order .*1.5/);
  assert.throws(() => pixelOf(3, 400, 0), /ra .*400/);
  assert.throws(() => conePixels(3, 0, 0, 4000), /radius .*4000/);
  assert.throws(() => Coverage.fromPixels(0, [12]), /0 to 11 \(12 was given\)/);
  assert.throws(() => Coverage.fromRanges(0, Uint32Array.of(3, 2)), /ascend/);
  assert.throws(() => Coverage.fromRanges(0, Uint32Array.of(3)), /pairs/);
});

test.run();
