/** Coverage maps: which file is the map, and which of its pixels have values. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CatalogError, catalogFiles, MissingFile, openLocalFile } from '@nearsky/hats';
import { findSkymap, openHealpixMap } from '@nearsky/hats/skymap';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { rejection } from '../core/catalogs/support.ts';
import { type MapOptions, writtenMap } from '../core/catalogs/write_fits.ts';
import { withDirectory } from '../directory.ts';

const test = suite('hats/skymap');

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

const mapIn = async (directory: string) => findSkymap({ files: await catalogFiles(directory), properties: new Map() });

const values = Array.from({ length: 48 }, (_, ipix) => (ipix % 7 === 3 ? ipix : 0));
const covered = values.flatMap((value, ipix) => (value > 0 ? [ipix] : []));

test('full-sky maps of every number type, with repeat counts', () =>
  withDirectory(async directory => {
    for (const letter of ['B', 'I', 'J', 'K', 'E', 'D'] as const) {
      for (const repeat of [1, 4, 48]) {
        const path = writtenMap(directory, { order: 1, values, letter, repeat });
        assert.equal(await coveredOf(path), { order: 1, pixels: covered }, `${repeat}${letter}`);
      }
    }
  }));

test('partial maps with a pixel column', () =>
  withDirectory(async directory => {
    const path = writtenMap(directory, { order: 6, values: [2, 0, 5, 1], pixels: [7, 8, 49_151, 9], letter: 'D' });
    assert.equal(await coveredOf(path), { order: 6, pixels: [7, 49_151, 9] });
    const inRows = writtenMap(directory, {
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
      assert.equal((await coveredOf(writtenMap(directory, { order: 1, values: floats, letter }))).pixels, [4, 5]);
      assert.equal(
        (await coveredOf(writtenMap(directory, { order: 1, values: floats, letter, cards: { BAD_DATA: 77.1 } })))
          .pixels,
        [4],
      );
    }
    const integers = new Array(48).fill(0);
    integers.splice(0, 3, 9, 1, 255);
    assert.equal(
      (await coveredOf(writtenMap(directory, { order: 1, values: integers, letter: 'J', cards: { TNULL1: 255 } })))
        .pixels,
      [0, 1],
    );
    // An unsigned 32-bit 0 is stored as -2^31.
    const unsigned = integers.map(value => value - 2 ** 31);
    assert.equal(
      (await coveredOf(writtenMap(directory, { order: 1, values: unsigned, letter: 'J', cards: { TZERO1: 2 ** 31 } })))
        .pixels,
      [0, 1, 2],
    );
  }));

test('what cannot be used is refused with its reason', () =>
  withDirectory(async directory => {
    const refused = async (cards: MapOptions['cards'], expected: RegExp) => {
      const path = writtenMap(directory, { order: 1, values, ...(cards ? { cards } : {}) });
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
    // A table that must be skipped, backwards.
    await refused({ PIXTYPE: 'OTHER', NAXIS1: -60 }, /NAXIS1 must be an integer from 0 to \d+ \(-60 was found\)/);
    writeFileSync(join(directory, 'text.fits'), 'not a FITS file'.padEnd(3000));
    assert.match((await rejection(coveredOf(join(directory, 'text.fits')))).message, /no FITS file/);
    const missing = await rejection(coveredOf(join(directory, 'missing.fits')));
    assert.instance(missing, MissingFile);
    assert.match(missing.message, /ENOENT/);
  }));

test('which file is the map', () =>
  withDirectory(async directory => {
    assert.is(await mapIn(directory), undefined);
    for (const name of ['skymap.4.fits', 'skymap.10.fits', 'point_map.fits', 'skymap.fits']) {
      writeFileSync(join(directory, name), '');
      assert.is(await mapIn(directory), name);
    }
  }));

test.run();
