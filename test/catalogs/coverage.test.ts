import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Coverage, pixelOf } from '@nearsky/sky-index';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { CatalogError, MissingFile } from '../../src/catalogs/catalog_errors.ts';
import { coverageFromMap, coverageFromRows, findCoverageMap, openCoverage } from '../../src/catalogs/coverage.ts';
import { catalogFiles, openLocalFile } from '../../src/catalogs/files.ts';
import { openHealpixMap } from '../../src/catalogs/fits.ts';
import { type HatsTable, openHats } from '../../src/catalogs/hats.ts';
import { PixelSet } from '../../src/catalogs/pixel_set.ts';
import { surveyCatalog } from '../../src/catalogs/survey.ts';
import type { CatalogColumns } from '../../src/store/catalog_registration.ts';
import { withDirectory } from '../directory.ts';
import { fixtures, published, rejection } from './support.ts';
import { healpixMap, type MapOptions } from './write_fits.ts';
import { writeHats } from './write_hats.ts';

const test = suite('coverage');

async function coveredOf(path: string): Promise<{ order: number; pixels: number[] }> {
  const file = openLocalFile(path);
  try {
    const map = await openHealpixMap(file);
    const pixels: number[] = [];
    await map.forEachCovered(ipix => pixels.push(ipix));
    return { order: map.order, pixels };
  } finally {
    file.close();
  }
}

/** The whole sky. */
const partitions = Array.from({ length: 12 }, (_, ipix) => ({ order: 0, ipix, files: [] }));
const mapAt = async (path: string, order: number) =>
  coverageFromMap({ files: await catalogFiles(dirname(path)), partitions, properties: new Map() }, basename(path), {
    order,
    isDense: true,
  });
async function fromRows(table: HatsTable, columns: CatalogColumns, order: number) {
  const pixels = new PixelSet(order);
  const survey = await surveyCatalog(table.files, table.partitions, columns, { depth: 'rows', pixels });
  assert.equal(survey.problems, []);
  return { coverage: coverageFromRows(pixels, { isDense: true }), rows: survey.rows };
}
const mapIn = async (directory: string) =>
  findCoverageMap({ files: await catalogFiles(directory), properties: new Map() });

function written(directory: string, options: MapOptions): string {
  const path = join(directory, 'map.fits');
  writeFileSync(path, healpixMap(options));
  return path;
}

const values = Array.from({ length: 48 }, (_, ipix) => (ipix % 7 === 3 ? ipix : 0));
const covered = values.flatMap((value, ipix) => (value > 0 ? [ipix] : []));

test('full-sky maps of every number type, with repeat counts', () =>
  withDirectory(async directory => {
    for (const letter of ['B', 'I', 'J', 'K', 'E', 'D'] as const) {
      for (const repeat of [1, 4, 48]) {
        const path = written(directory, { order: 1, values, letter, repeat });
        assert.equal(await coveredOf(path), { order: 1, pixels: covered }, `${repeat}${letter}`);
      }
    }
  }));

test('partial maps with a pixel column', () =>
  withDirectory(async directory => {
    const path = written(directory, { order: 6, values: [2, 0, 5, 1], pixels: [7, 8, 49_151, 9], letter: 'D' });
    assert.equal(await coveredOf(path), { order: 6, pixels: [7, 49_151, 9] });
    const inRows = written(directory, {
      order: 6,
      values: [2, 0, 5, 1],
      pixels: [7, 8, 49_151, 9],
      letter: 'J',
      repeat: 2,
    });
    assert.equal(await coveredOf(inRows), { order: 6, pixels: [7, 49_151, 9] });
  }));

test('what stands for no value: UNSEEN, BAD_DATA, TNULL, NaN, infinity, negative; scaled unsigned integers', () =>
  withDirectory(async directory => {
    const floats = new Array(48).fill(0);
    floats.splice(0, 6, -1.6375e30, Number.NaN, Number.POSITIVE_INFINITY, -3, 1e-9, 77.1);
    for (const letter of ['E', 'D'] as const) {
      assert.equal((await coveredOf(written(directory, { order: 1, values: floats, letter }))).pixels, [4, 5]);
      assert.equal(
        (await coveredOf(written(directory, { order: 1, values: floats, letter, cards: { BAD_DATA: 77.1 } }))).pixels,
        [4],
      );
    }
    const integers = new Array(48).fill(0);
    integers.splice(0, 3, 9, 1, 255);
    assert.equal(
      (await coveredOf(written(directory, { order: 1, values: integers, letter: 'J', cards: { TNULL1: 255 } }))).pixels,
      [0, 1],
    );
    // An unsigned 32-bit 0 is stored as -2^31.
    const unsigned = integers.map(value => value - 2 ** 31);
    assert.equal(
      (await coveredOf(written(directory, { order: 1, values: unsigned, letter: 'J', cards: { TZERO1: 2 ** 31 } })))
        .pixels,
      [0, 1, 2],
    );
  }));

test('what cannot be used is refused with its reason', () =>
  withDirectory(async directory => {
    const refused = async (cards: MapOptions['cards'], expected: RegExp) => {
      const path = written(directory, { order: 1, values, ...(cards ? { cards } : {}) });
      const error = await rejection(coveredOf(path));
      assert.instance(error, CatalogError);
      assert.match(error.message, expected);
    };
    await refused({ ORDERING: 'RING' }, /NESTED order \(RING was found\)/);
    await refused({ ORDERING: undefined }, /NESTED order \(none was found\)/);
    await refused({ COORDSYS: 'G' }, /COORDSYS must be equatorial \(G was found\)/);
    await refused({ NSIDE: 3 }, /NSIDE must be a power of two/);
    await refused({ INDXSCHM: 'EXPLICIT' }, /no PIXEL column/);
    await refused({ TFORM1: '8A' }, /no number column/);
    await refused({ PIXTYPE: 'OTHER' }, /no HEALPix table/);
    await refused({ NSIDE: 1 }, /rows end at pixel 47 instead of 11/);
    await refused({ NAXIS2: 40 }, /rows end at pixel 39 instead of 47/);
    await refused({ NAXIS2: 40, LASTPIX: 40 }, /rows end at pixel 39 instead of 40/);
    await refused({ NSIDE: 1, LASTPIX: 47 }, /pixel outside the sky at NSIDE 1/);
    await refused({ NAXIS2: 4800, LASTPIX: 4799 }, /ends early/);
    await refused({ TFORM1: '3K' }, /its columns take 24 bytes of a row, and NAXIS1 is 8/);
    await refused({ TFIELDS: 1e9 }, /TFIELDS must be an integer from 0 to 999/);
    // A table that is to be skipped, backwards.
    await refused({ PIXTYPE: 'OTHER', NAXIS1: -60 }, /NAXIS1 must be an integer from 0 to \d+ \(-60 was found\)/);
    writeFileSync(join(directory, 'text.fits'), 'not a FITS file'.padEnd(3000));
    assert.match((await rejection(coveredOf(join(directory, 'text.fits')))).message, /no FITS file/);
    const missing = await rejection(coveredOf(join(directory, 'missing.fits')));
    assert.instance(missing, MissingFile);
    assert.match(missing.message, /ENOENT/);
  }));

test('a finer map is degraded, a coarser one taken as it is', () =>
  withDirectory(async directory => {
    const path = written(directory, {
      order: 3,
      values: Array.from({ length: 768 }, (_, ipix) => Number(ipix === 64 || ipix === 79 || ipix === 700)),
    });
    const degraded = await mapAt(path, 1);
    assert.is(degraded.order, 1);
    assert.is(degraded.source, 'map.fits');
    assert.equal([...openCoverage(degraded).ranges], [4, 5, 43, 44]);
    assert.is((await mapAt(path, 3)).order, 3);
    const asItIs = await mapAt(path, 8);
    assert.is(asItIs.order, 3);
    assert.equal(openCoverage(asItIs).ranges, Coverage.fromPixels(3, [64, 79, 700]).ranges);
  }));

test('an empty map is refused', () =>
  withDirectory(async directory => {
    const path = written(directory, { order: 1, values: new Array(48).fill(0) });
    assert.match((await rejection(mapAt(path, 1))).message, /covers no part of the sky/);
  }));

test('which file is the map', () =>
  withDirectory(async directory => {
    assert.is(await mapIn(directory), undefined);
    for (const name of ['skymap.4.fits', 'skymap.10.fits', 'point_map.fits', 'skymap.fits']) {
      writeFileSync(join(directory, name), '');
      assert.is(await mapIn(directory), name);
    }
  }));

test('from the rows where there is no map; rows without a position do not count', () =>
  withDirectory(async directory => {
    const ra = [10, 10.001, 200, null, Number.NaN, 12, 361];
    const dec = [-5, -5.001, 60, 1, 1, 91, 1];
    writeHats(directory, {
      name: 'rows',
      columns: [
        { name: 'id', type: 'INT64', data: [1n, 2n, 3n, 4n, 5n, null, 7n] },
        { name: 'ra', type: 'DOUBLE', data: ra },
        { name: 'dec', type: 'DOUBLE', data: dec },
      ],
      ra: 'ra',
      dec: 'dec',
      skymapOrder: null,
    });
    const table = await openHats(directory);
    const { coverage, rows } = await fromRows(table, { id: 'id', ra: 'ra', dec: 'dec', payload: [] }, 8);
    assert.equal(rows, { rows: 7, withoutPosition: 3, withoutId: 1 });
    assert.is(coverage.source, 'rows');
    assert.equal(
      openCoverage(coverage).ranges,
      Coverage.fromPixels(8, [pixelOf(8, 10, -5), pixelOf(8, 200, 60), pixelOf(8, 1, 1)]).ranges,
    );
  }));

test('what the map covers and no partition holds is left out: an object there was not searched', () =>
  withDirectory(async directory => {
    const [map] = [written(directory, { order: 1, values: Array.from({ length: 48 }, () => 1) })];
    const held = [
      { order: 0, ipix: 3, files: [] },
      { order: 3, ipix: 64 * 5 + 17, files: [] },
    ];
    const coverage = await coverageFromMap(
      { files: await catalogFiles(directory), partitions: held, properties: new Map() },
      basename(map!),
      { order: 2, isDense: true },
    );
    assert.is(coverage.pixelsLeftOut, 48 - 5);
    assert.equal(openCoverage(coverage).ranges, Coverage.fromPixels(1, [12, 13, 14, 15, 4 * 5 + 1]).ranges);
  }));

test('the coverage map of a catalog agrees with its rows', async () => {
  const table = await openHats(join(fixtures, 'small_sky_healpix13'));
  const columns = { id: 'id', ra: 'ra', dec: 'dec', payload: [] };
  const { coverage: rows } = await fromRows(table, columns, 2);
  const map = await mapAt(join(table.files.location, 'skymap.fits'), 8);
  assert.is(map.order, 2);
  assert.equal(map.ranges, rows.ranges);
  assert.equal((await mapAt(join(table.files.location, 'point_map.fits'), 8)).ranges, map.ranges);
});

test('every map in the published data, at every order, agrees with the rows', () =>
  withDirectory(async directory => {
    const table = await openHats(join(published, 'hats/small_sky_source'));
    const columns = { id: 'source_id', ra: 'source_ra', dec: 'source_dec', payload: [] };
    for (const [name, order] of [
      ['skymap.fits', 6],
      ['point_map.fits', 6],
      ['skymap.4.fits', 4],
      ['skymap.2.fits', 2],
    ] as const) {
      const map = await mapAt(join(table.files.location, name), 6);
      assert.equal([map.order, map.ranges], [order, (await fromRows(table, columns, order)).coverage.ranges], name);
    }
    mkdirSync(join(directory, 'partial'));
    copyFileSync(join(table.files.location, 'skymap.4.fits'), join(directory, 'partial', 'skymap.4.fits'));
    const partial = join(directory, 'partial');
    assert.is((await mapAt(join(partial, (await mapIn(partial))!), 8)).order, 4);
  }));

test.run();
