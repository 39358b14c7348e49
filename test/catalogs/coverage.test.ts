import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Coverage, pixelOf } from '../../index/mod.ts';
import { coverageFromMap, coverageFromRows, findCoverageMap, openCoverage } from '../../src/catalogs/coverage.ts';
import { CatalogError } from '../../src/catalogs/errors.ts';
import { openHealpixMap } from '../../src/catalogs/fits.ts';
import { openHats } from '../../src/catalogs/hats.ts';
import { withDirectory } from '../e2e/support.ts';
import { fixtures, hasShared, shared } from './support.ts';
import { type MapOptions, writeHealpixMap } from './write_fits.ts';
import { writeHats } from './write_hats.ts';

const test = suite('coverage');

function coveredOf(path: string): { order: number; pixels: number[] } {
  const map = openHealpixMap(path);
  const pixels: number[] = [];
  map.forEachCovered(ipix => pixels.push(ipix));
  map.close();
  return { order: map.order, pixels };
}

function written(directory: string, options: MapOptions): string {
  const path = join(directory, 'map.fits');
  writeHealpixMap(path, options);
  return path;
}

const values = Array.from({ length: 48 }, (_, ipix) => (ipix % 7 === 3 ? ipix : 0));
const covered = values.flatMap((value, ipix) => (value > 0 ? [ipix] : []));

test('full-sky maps of every number type, with repeat counts', () =>
  withDirectory(async directory => {
    for (const letter of ['B', 'I', 'J', 'K', 'E', 'D'] as const) {
      for (const repeat of [1, 4, 48]) {
        const path = written(directory, { order: 1, values, letter, repeat });
        assert.equal(coveredOf(path), { order: 1, pixels: covered }, `${repeat}${letter}`);
      }
    }
  }));

test('partial maps with a pixel column', () =>
  withDirectory(async directory => {
    const path = written(directory, { order: 6, values: [2, 0, 5, 1], pixels: [7, 8, 49_151, 9], letter: 'D' });
    assert.equal(coveredOf(path), { order: 6, pixels: [7, 49_151, 9] });
    const inRows = written(directory, {
      order: 6,
      values: [2, 0, 5, 1],
      pixels: [7, 8, 49_151, 9],
      letter: 'J',
      repeat: 2,
    });
    assert.equal(coveredOf(inRows), { order: 6, pixels: [7, 49_151, 9] });
  }));

test('what stands for no value: UNSEEN, BAD_DATA, TNULL, NaN, infinity, negative; scaled unsigned integers', () =>
  withDirectory(async directory => {
    const floats = new Array(48).fill(0);
    floats.splice(0, 6, -1.6375e30, Number.NaN, Number.POSITIVE_INFINITY, -3, 1e-9, 77.1);
    for (const letter of ['E', 'D'] as const) {
      assert.equal(coveredOf(written(directory, { order: 1, values: floats, letter })).pixels, [4, 5]);
      assert.equal(
        coveredOf(written(directory, { order: 1, values: floats, letter, cards: { BAD_DATA: 77.1 } })).pixels,
        [4],
      );
    }
    const integers = new Array(48).fill(0);
    integers.splice(0, 3, 9, 1, 255);
    assert.equal(
      coveredOf(written(directory, { order: 1, values: integers, letter: 'J', cards: { TNULL1: 255 } })).pixels,
      [0, 1],
    );
    // An unsigned 32-bit 0 is stored as -2^31.
    const unsigned = integers.map(value => value - 2 ** 31);
    assert.equal(
      coveredOf(written(directory, { order: 1, values: unsigned, letter: 'J', cards: { TZERO1: 2 ** 31 } })).pixels,
      [0, 1, 2],
    );
  }));

test('what cannot be used is refused with its reason', () =>
  withDirectory(async directory => {
    const refusal = (cards: MapOptions['cards']) => {
      const path = written(directory, { order: 1, values, ...(cards ? { cards } : {}) });
      return () => coveredOf(path);
    };
    assert.throws(refusal({ ORDERING: 'RING' }), /NESTED order: current value is RING/);
    assert.throws(refusal({ ORDERING: undefined }), /NESTED order: current value is none/);
    assert.throws(refusal({ COORDSYS: 'G' }), /COORDSYS must be equatorial: current value is G/);
    assert.throws(refusal({ NSIDE: 3 }), /NSIDE must be a power of two/);
    assert.throws(refusal({ INDXSCHM: 'EXPLICIT' }), /no PIXEL column/);
    assert.throws(refusal({ TFORM1: '8A' }), /no number column/);
    assert.throws(refusal({ PIXTYPE: 'OTHER' }), /no HEALPix table/);
    assert.throws(refusal({ NSIDE: 1 }), /pixel outside the sky at NSIDE 1/);
    assert.throws(refusal({ NAXIS2: 4800 }), /ends early/);
    assert.throws(refusal({ TFORM1: '3K' }), /its columns take 24 bytes of a row and NAXIS1 is 8/);
    assert.throws(refusal({ TFIELDS: 1e9 }), /TFIELDS must be 0 to 999/);
    // A table that is to be skipped, backwards.
    assert.throws(refusal({ PIXTYPE: 'OTHER', NAXIS1: -60 }), /size of 0 or more: current value is -2880/);
    writeFileSync(join(directory, 'text.fits'), 'not a FITS file'.padEnd(3000));
    assert.throws(() => coveredOf(join(directory, 'text.fits')), /no FITS file/);
    assert.throws(
      () => coveredOf(join(directory, 'missing.fits')),
      (error: Error) => error instanceof CatalogError && /ENOENT/.test(error.message),
    );
  }));

test('a finer map is degraded, a coarser one taken as it is', () =>
  withDirectory(async directory => {
    const path = written(directory, {
      order: 3,
      values: Array.from({ length: 768 }, (_, ipix) => Number(ipix === 64 || ipix === 79 || ipix === 700)),
    });
    const degraded = coverageFromMap(path, 1);
    assert.is(degraded.order, 1);
    assert.is(degraded.source, 'map.fits');
    assert.equal([...openCoverage(degraded).ranges], [4, 5, 43, 44]);
    assert.is(coverageFromMap(path, 3).order, 3);
    const asItIs = coverageFromMap(path, 8);
    assert.is(asItIs.order, 3);
    assert.equal(openCoverage(asItIs).ranges, Coverage.fromPixels(3, [64, 79, 700]).ranges);
  }));

test('an empty map is refused', () =>
  withDirectory(async directory => {
    const path = written(directory, { order: 1, values: new Array(48).fill(0) });
    assert.throws(() => coverageFromMap(path, 1), /covers no part of the sky/);
  }));

test('which file is the map', () =>
  withDirectory(async directory => {
    assert.is(findCoverageMap(directory), undefined);
    for (const name of ['skymap.4.fits', 'skymap.10.fits', 'point_map.fits', 'skymap.fits']) {
      writeFileSync(join(directory, name), '');
      assert.is(findCoverageMap(directory), join(directory, name));
    }
  }));

test('from the rows where there is no map; rows without a position do not count', () =>
  withDirectory(async directory => {
    const ra = [10, 10.001, 200, null, Number.NaN, 361];
    const dec = [-5, -5.001, 60, 1, 1, 1];
    writeHats(directory, {
      name: 'rows',
      columns: [
        { name: 'ra', type: 'DOUBLE', data: ra },
        { name: 'dec', type: 'DOUBLE', data: dec },
      ],
      ra: 'ra',
      dec: 'dec',
      skymapOrder: null,
    });
    const table = await openHats(directory);
    let rows = 0;
    const coverage = await coverageFromRows(
      table,
      { id: '', ra: 'ra', dec: 'dec', payload: [] },
      8,
      progress => (rows = progress.rows),
    );
    assert.is(rows, 6);
    assert.is(coverage.source, 'rows');
    assert.equal(
      openCoverage(coverage).ranges,
      Coverage.fromPixels(8, [pixelOf(8, 10, -5), pixelOf(8, 200, 60)]).ranges,
    );
  }));

test('the coverage map of a catalog agrees with its rows', async () => {
  const table = await openHats(join(fixtures, 'small_sky_healpix13'));
  const columns = { id: 'id', ra: 'ra', dec: 'dec', payload: [] };
  const rows = await coverageFromRows(table, columns, 2);
  const map = coverageFromMap(join(table.location, 'skymap.fits'), 8);
  assert.is(map.order, 2);
  assert.equal(map.ranges, rows.ranges);
  assert.equal(coverageFromMap(join(table.location, 'point_map.fits'), 8).ranges, map.ranges);
});

(hasShared ? test : test.skip)('every map in the shared data, at every order, agrees with the rows', () =>
  withDirectory(async directory => {
    const table = await openHats(join(shared, 'hats/small_sky_source'));
    const columns = { id: 'source_id', ra: 'source_ra', dec: 'source_dec', payload: [] };
    for (const [name, order] of [
      ['skymap.fits', 6],
      ['point_map.fits', 6],
      ['skymap.4.fits', 4],
      ['skymap.2.fits', 2],
    ] as const) {
      const map = coverageFromMap(join(table.location, name), 6);
      assert.equal([map.order, map.ranges], [order, (await coverageFromRows(table, columns, order)).ranges], name);
    }
    mkdirSync(join(directory, 'partial'));
    copyFileSync(join(table.location, 'skymap.4.fits'), join(directory, 'partial', 'skymap.4.fits'));
    assert.is(coverageFromMap(findCoverageMap(join(directory, 'partial'))!, 8).order, 4);
  }),
);

test.run();
