import { copyFileSync, mkdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { catalogFiles, type HatsTable, openHats } from '@nearsky/hats';
import { findSkymap } from '@nearsky/hats/skymap';
import { pixelOf } from '@nearsky/sky-index';
import { Coverage } from '@nearsky/sky-index/areas';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { coverageFromMap, coverageFromRows, openCoverage } from '../../../src/capabilities/catalogs/coverage.ts';
import { PixelSet } from '../../../src/capabilities/catalogs/pixel_set.ts';
import { surveyCatalog } from '../../../src/capabilities/catalogs/survey.ts';
import type { CatalogColumns } from '../../../src/core/store/catalog_registration.ts';
import { fixtures, published, rejection } from '../../core/catalogs/support.ts';
import { writtenMap } from '../../core/catalogs/write_fits.ts';
import { writeHats } from '../../core/catalogs/write_hats.ts';
import { withDirectory } from '../../directory.ts';

const test = suite('coverage');

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

test('a finer map is degraded, a coarser one taken as it is [Catalogs]', () =>
  withDirectory(async directory => {
    const path = writtenMap(directory, {
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
    const path = writtenMap(directory, { order: 1, values: new Array(48).fill(0) });
    assert.match((await rejection(mapAt(path, 1))).message, /covers no part of the sky/);
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
    const [map] = [writtenMap(directory, { order: 1, values: Array.from({ length: 48 }, () => 1) })];
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
    assert.is(
      (
        await mapAt(
          join(partial, (await findSkymap({ files: await catalogFiles(partial), properties: new Map() }))!),
          8,
        )
      ).order,
      4,
    );
  }));

test.run();
