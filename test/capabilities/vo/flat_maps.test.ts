/** Maps of probability of one order, against a scan of their pixels, and as astropy writes them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pixelCentre } from '@nearsky/sky-index';
import { type Area, nestedOfRing } from '@nearsky/sky-index/areas';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type ReadArea, readArea } from '../../../src/capabilities/catalogs/read_area.ts';
import { AreaError } from '../../../src/core/base/area_error.ts';
import { MAX_AREA_CELLS } from '../../../src/core/contract/limits.ts';
import { healpixMap, type MapOptions } from '../../core/catalogs/write_fits.ts';
import { withDirectory } from '../../directory.ts';
import { needs } from '../../needs.ts';
import { seededRandom } from '../../oracle/skies.ts';
import { pythonWith, runPython, whyNoPython } from '../../python.ts';

const test = suite('vo/flat_maps');

interface FlatMap extends Omit<MapOptions, 'order'> {
  readonly nside: number;
  readonly ordering: 'RING' | 'NESTED';
}

function flatMap({ nside, ordering, cards, ...map }: FlatMap): Uint8Array<ArrayBuffer> {
  const column = map.pixels ? 'TTYPE2' : 'TTYPE1';
  const named = { [column]: 'PROB', ORDERING: ordering, COORDSYS: 'C', NSIDE: nside, ...cards };
  return healpixMap({ letter: 'D', ...map, order: Math.log2(nside), cards: named });
}

function read(bytes: Uint8Array, level?: number): ReadArea {
  const steps = readArea(bytes, level);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

function refused(bytes: Uint8Array, says: RegExp): void {
  try {
    read(bytes);
  } catch (error) {
    assert.instance(error, AreaError);
    assert.match((error as Error).message, says);
    return;
  }
  throw new Error(`it is read, and not refused with ${says}`);
}

const pixelsOf = (order: number) => 12 * 4 ** order;

/** The RING pixels in their order: from north to south, along each ring by right ascension; their NESTED numbers. */
function ringByDefinition(order: number): number[] {
  return Array.from({ length: pixelsOf(order) }, (_, ipix) => ({ ipix, ...pixelCentre(order, ipix) }))
    .sort((a, b) => (Math.abs(a.dec - b.dec) > 1e-9 ? b.dec - a.dec : a.ra - b.ra))
    .map(({ ipix }) => ipix);
}

test('RING pixels are those that the definition counts', () => {
  for (const order of [0, 1, 2, 3, 5])
    assert.equal(
      Array.from({ length: pixelsOf(order) }, (_, ipix) => nestedOfRing(order, ipix)),
      ringByDefinition(order),
    );
  // Each pixel of a deep order is that of its own centre.
  const random = seededRandom(5);
  const seen = new Set<number>();
  for (let i = 0; i < 2000; i++) seen.add(nestedOfRing(13, Math.floor(random() * pixelsOf(13))));
  assert.ok(seen.size > 1990);
  for (const ipix of [0, 1, 3, 4, pixelsOf(13) - 1]) assert.ok(nestedOfRing(13, ipix) < pixelsOf(13));
});

/** The level of each pixel of an order that an area holds; NaN if it does not hold the pixel. */
function levelsIn(area: Area, order: number): Float64Array {
  const levels = new Float64Array(pixelsOf(order)).fill(Number.NaN);
  const side = 4 ** (16 - order);
  for (let range = 0; range < area.length; range++)
    for (let at = area.bounds[2 * range]! / side; at < area.bounds[2 * range + 1]! / side; at++) {
      assert.ok(Number.isInteger(at) && Number.isNaN(levels[at]), `pixel ${at} once`);
      levels[at] = area.levelOf(range);
    }
  return levels;
}

/** The level of each pixel: the share of those that are at least as dense. */
function levelsByScan(values: readonly number[]): number[] {
  const positive = values.filter(value => value > 0);
  const total = positive.reduce((sum, value) => sum + value, 0);
  return values.map(own => positive.filter(value => value >= own).reduce((sum, value) => sum + value, 0) / total);
}

/** @param levels of all pixels, by a scan; `values` are their densities */
function assertLevels(
  area: Area,
  values: readonly number[],
  levels: readonly number[],
  order: number,
  share: number,
): void {
  const found = levelsIn(area, order);
  levels.forEach((level, pixel) => {
    const isInside = values[pixel]! > 0 && level <= share;
    // Where sums differ in their last digit, the edge is on either side.
    if (values[pixel]! > 0 && Math.abs(level - share) < 1e-12) return;
    assert.is(!Number.isNaN(found[pixel]), isInside, `pixel ${pixel} of ${level} at ${share}`);
    if (isInside) assert.ok(Math.abs(found[pixel]! - level) < 1e-12, `level of pixel ${pixel}`);
  });
}

const SHARES = [0.1, 0.5, 0.9, 0.999, 1];

test('a map in each order and spelling holds what a scan of its pixels finds [Areas]', () => {
  const random = seededRandom(3);
  for (let round = 0; round < 12; round++) {
    const order = round % 4;
    const ring = ringByDefinition(order);
    // Some maps are as smooth as those of a telescope, some are made of larger pixels, and some are partly empty.
    const coarse = Array.from({ length: 12 }, () => random());
    const values = Array.from({ length: pixelsOf(order) }, (_, pixel) => {
      if (round % 3 === 0) return Math.fround(random() ** 8);
      if (round % 3 === 1) return Math.fround(coarse[Math.floor((pixel * 12) / pixelsOf(order))]!);
      return random() < 0.5 ? 0 : Math.fround(10 ** (-30 * random()));
    });
    const inRing = ring.map(nested => values[nested]!);
    const some = [...values.keys()].filter(pixel => values[pixel]! > 0);
    const nside = 2 ** order;
    const levels = levelsByScan(values);
    for (const share of SHARES)
      for (const file of [
        flatMap({ nside, ordering: 'NESTED', values }),
        flatMap({ nside, ordering: 'RING', values: inRing, repeat: 12, letter: 'E' }),
        flatMap({ nside, ordering: 'RING', values: inRing }),
        flatMap({ nside, ordering: 'NESTED', values: some.map(pixel => values[pixel]!), pixels: some }),
        flatMap({
          nside,
          ordering: 'RING',
          values: some.map(pixel => values[pixel]!).reverse(),
          pixels: some.map(pixel => ring.indexOf(pixel)).reverse(),
          letter: 'E',
        }),
      ]) {
        const { kind, level, area } = read(file, share);
        assert.equal([kind, level], ['probability_map', share]);
        assertLevels(area, values, levels, order, share);
      }
  }
});

test('pixels without data have no probability [Areas]', () => {
  const values = [Number.NaN, -1.6375e30, 3, 1, 0, 0, 0, 0, 0, 0, 0, 0];
  const { area } = read(flatMap({ nside: 1, ordering: 'NESTED', values, letter: 'E' }), 1);
  assert.equal(
    [...area.bounds].map(bound => bound / 4 ** 16),
    [2, 3, 3, 4],
  );
});

test('a map that was made of larger pixels may have many more than an area [Areas]', () => {
  const order = 8;
  assert.ok(pixelsOf(order) > MAX_AREA_CELLS);
  const values = Array.from({ length: pixelsOf(order) }, (_, pixel) => 1 + ((pixel >> 12) % 7));
  const { area } = read(flatMap({ nside: 256, ordering: 'NESTED', values, letter: 'E' }), 1);
  assert.is(area.withoutLevels().length, 1);
  // Pixels that are certainly outside are counted during the scan, but not stored.
  const smooth = values.map((_, pixel) => 1e-9 * (1 + (pixel % 1000)) + (pixel < 100 ? 1 : 0));
  assert.ok(read(flatMap({ nside: 256, ordering: 'NESTED', values: smooth })).area.length <= 100);
  refused(flatMap({ nside: 256, ordering: 'NESTED', values: values.map((_, i) => 1 + i) }), /at most 200000/);
});

test('a map that is damaged is refused', () => {
  const map = { nside: 1, ordering: 'NESTED', values: Array(12).fill(1) } as const;
  const one = { ...map, values: [1], pixels: [3] };
  refused(flatMap({ ...map, values: [1, 2] }), /NSIDE 1 must have 12 pixels \(2/);
  refused(flatMap({ ...map, cards: { NSIDE: 3 } }), /power of two.*3 was/);
  refused(flatMap({ ...map, cards: { NSIDE: 1e9 } }), /power of two/);
  refused(flatMap({ ...map, cards: { COORDSYS: 'G' } }), /equatorial/);
  refused(flatMap({ ...map, cards: { TFORM1: '1K' } }), /no column of probabilities/);
  refused(flatMap({ ...map, values: [-1, ...map.values.slice(1)] }), /at least 0 \(-1/);
  refused(flatMap({ ...map, values: map.values.map(() => 0) }), /above 0/);
  refused(flatMap({ ...map, values: map.values.map(() => 1e308) }), /too large/);
  refused(flatMap({ ...one, pixels: [12] }), /0 to 11 \(12/);
  refused(flatMap({ ...one, pixels: [-1] }), /0 to 11 \(-1/);
  refused(flatMap({ ...one, values: [1, 2], pixels: [3, 3] }), /overlap/);
  refused(flatMap(map).subarray(0, 5760), /ends early/);
});

const MODULES = 'astropy, cdshealpix';
const SCRIPT = fileURLToPath(new URL('./make_flat_maps.py', import.meta.url));

needs(test, whyNoPython(MODULES))('maps as healpy and ligo.skymap write them, made by astropy', () =>
  withDirectory(async directory => {
    await runPython(pythonWith(MODULES)!, [SCRIPT, directory]);
    const { order, values, names } = JSON.parse(readFileSync(join(directory, 'maps.json'), 'utf8'));
    assert.ok(names.length >= 5);
    const levels = levelsByScan(values);
    for (const name of names)
      for (const share of SHARES)
        assertLevels(read(readFileSync(join(directory, name)), share).area, values, levels, order, share);
  }),
);

test.run();
