/** Footprints of catalogs that other tools wrote, and of made-up skies, where the rows are dense, sparse, uneven or in clusters. */

import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openParquet } from '@nearsky/astrotables/parquet';
import { catalogFiles } from '@nearsky/hats';
import { pixel29, pixelOf } from '@nearsky/sky-index';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  coverageFromMap,
  coverageFromRows,
  openCoverage,
  skyFraction,
} from '../../../src/capabilities/catalogs/coverage.ts';
import { mocCells } from '../../../src/capabilities/catalogs/moc.ts';
import { PixelSet } from '../../../src/capabilities/catalogs/pixel_set.ts';
import { areaIn } from '../../../src/capabilities/catalogs/read_area.ts';
import { type RegisterOptions, registerCatalog } from '../../../src/capabilities/catalogs/register.ts';
import type { StoredCoverage } from '../../../src/core/store/catalog_registration.ts';
import { start } from '../../commands/in_process.ts';
import { healpixMap } from '../../core/catalogs/write_fits.ts';
import { root, withDirectory } from '../../directory.ts';
import { needs } from '../../needs.ts';
import { seededRandom } from '../../oracle/skies.ts';
import { pythonWith, runPython, whyNoPython } from '../../python.ts';

const test = suite('footprint');

const sparse = join(root, 'test/fixtures/sparse');
const double = join(sparse, 'double');
const patch = join(sparse, 'patch.fits');

interface Place {
  readonly ra: number;
  readonly dec: number;
}

/** Evenly on a part of the sky. */
function places(count: number, isIn: (place: Place) => boolean = () => true, seed = 5): Place[] {
  const random = seededRandom(seed);
  const found: Place[] = [];
  while (found.length < count) {
    const place = { ra: 360 * random(), dec: (180 / Math.PI) * Math.asin(2 * random() - 1) };
    if (isIn(place)) found.push(place);
  }
  return found;
}

/** Positions at which a footprint is tested, independent of the rows. */
const probes = (count: number, isIn?: (place: Place) => boolean) => places(count, isIn, 6);

function footprintOf(rows: readonly Place[], order = 8): StoredCoverage {
  const pixels = new PixelSet(order);
  for (const { ra, dec } of rows) pixels.add(pixelOf(order, ra, dec));
  return coverageFromRows(pixels);
}

/** The number of positions outside. */
function outside(coverage: StoredCoverage, where: readonly Place[]): number {
  const opened = openCoverage(coverage);
  return where.filter(({ ra, dec }) => !opened.contains(ra, dec)).length;
}

const register = (location: string, options: Partial<RegisterOptions> = {}) =>
  registerCatalog({ name: 'sparse', idColumn: 'id', description: {} }, location, { addedAtUs: 0, ...options });

test('a sparse catalog of the whole sky covers all of it, with a map and without [Catalogs]', async () => {
  const { coverage } = await register(double);
  assert.is(outside(coverage, probes(20_000)), 0);
  assert.is(coverage.source, 'skymap.fits');
  assert.is(coverage.sparse!.order, 8);
  assert.ok(Math.abs(coverage.sparse!.rowsPerPixel - 2000 / 786_432) < 1e-9);
  assert.is(outside(footprintOf(places(2000)), probes(20_000)), 0);
});

needs(test, whyNoPython('hats_import'))('150,000 sources that hats-import has just written: so does one of these', () =>
  withDirectory(async directory => {
    const location = join(directory, 'big');
    await runPython(pythonWith('hats_import')!, [join(sparse, 'make.py'), location, '150000']);
    const { coverage } = await register(location);
    assert.is(coverage.order, 5);
    assert.is(outside(coverage, probes(20_000)), 0);
  }),
);

test('of skies with few to many sources all is covered', () => {
  for (const [rows, skies] of [
    [200, 20],
    [1000, 20],
    [600_000, 2],
  ] as const)
    for (let sky = 10; sky < 10 + skies; sky++) {
      const coverage = footprintOf(places(rows, undefined, sky));
      assert.equal([rows, sky, outside(coverage, probes(2000))], [rows, sky, 0]);
    }
});

test('densities that differ by thirty between two halves of the sky: all of both is covered', () => {
  const isNorth = ({ dec }: Place) => dec > 0;
  const rows = [...places(60_000, isNorth), ...places(2000, place => !isNorth(place))];
  assert.is(outside(footprintOf(rows), probes(20_000)), 0);
});

test('a sparse survey of one half of the sky ends within a pixel of its edge', () => {
  const coverage = footprintOf(places(20_000, ({ dec }) => dec > 0));
  assert.is(
    outside(
      coverage,
      probes(5000, ({ dec }) => dec > 0),
    ),
    0,
  );
  // No part of a pixel is farther from another than twice the side of a square of its area.
  const reach = (2 * 58.7) / 2 ** coverage.order;
  assert.is.not(coverage.order, 0);
  const far = probes(5000, ({ dec }) => dec < -reach);
  assert.is(outside(coverage, far), far.length);
});

test('a dense survey keeps its edge, its holes and its stray rows at the finest order', () => {
  const isHole = ({ ra, dec }: Place) => Math.hypot(ra - 60, dec - 25) < 2;
  const random = seededRandom(5);
  const rows: Place[] = [];
  while (rows.length < 200_000) {
    const place = { ra: 40 + 40 * random(), dec: (180 / Math.PI) * Math.asin(0.342 + 0.158 * random()) };
    if (!isHole(place)) rows.push(place);
  }
  rows.push({ ra: 0, dec: 0 }, { ra: 200, dec: -80 });
  const coverage = footprintOf(rows);
  assert.equal([coverage.order, coverage.sparse], [8, undefined]);
  const pixels = new PixelSet(8);
  for (const { ra, dec } of rows) pixels.add(pixelOf(8, ra, dec));
  assert.equal(coverage, coverageFromRows(pixels, { isDense: true }));
  assert.not.ok(openCoverage(coverage).contains(60, 25));
});

test('a survey of single fields keeps them: it does not cover the sky between', () => {
  const random = seededRandom(7);
  const rows = places(2000).flatMap(({ ra, dec }) => {
    const at = () => 0.3 * Math.sqrt(random());
    return Array.from({ length: 80 }, () => {
      const [reach, angle] = [at(), 2 * Math.PI * random()];
      return {
        ra: (ra + 360 + (reach * Math.cos(angle)) / Math.cos((dec * Math.PI) / 180)) % 360,
        dec: dec + reach * Math.sin(angle),
      };
    }).filter(place => Math.abs(place.dec) < 90);
  });
  assert.is(footprintOf(rows).order, 8);
});

test('where partitions are missing nothing is covered, and all around them', () =>
  withDirectory(async directory => {
    const location = join(directory, 'part');
    cpSync(double, location, { recursive: true });
    const info = join(location, 'partition_info.csv');
    const isTaken = (line: string) => /^0,(3|7)(,|$)/.test(line);
    writeFileSync(
      info,
      readFileSync(info, 'utf8')
        .split(/\r?\n/)
        .filter(line => !isTaken(line))
        .join('\n'),
    );
    const { coverage } = await register(location);
    const [gone, kept] = [probes(3000), probes(3000)].map((some, at) =>
      some.filter(({ ra, dec }) => [3, 7].includes(pixelOf(0, ra, dec)) === (at === 0)),
    );
    assert.equal([outside(coverage, gone!), outside(coverage, kept!)], [gone!.length, 0]);
    const everywhere = (await register(location, { footprint: { kind: 'all-sky' } })).coverage;
    assert.equal([outside(everywhere, gone!), outside(everywhere, kept!)], [gone!.length, 0]);
  }));

test('a map of yes and no is a footprint as it is', () =>
  withDirectory(async directory => {
    const values = Array.from({ length: 768 }, (_, ipix) => Number(ipix % 5 === 0));
    writeFileSync(join(directory, 'skymap.fits'), healpixMap({ order: 3, values }));
    const partitions = Array.from({ length: 12 }, (_, ipix) => ({ order: 0, ipix, files: [] }));
    const coverage = async (rows: number) =>
      coverageFromMap(
        { files: await catalogFiles(directory), partitions, properties: new Map([['hats_nrows', `${rows}`]]) },
        'skymap.fits',
        { order: 8 },
      );
    assert.equal([(await coverage(90_000)).order, skyFraction(await coverage(90_000))], [3, 154 / 768]);
    assert.is((await coverage(154)).sparse?.order, 3);
  }));

test('--footprint: a MOC as mocpy degrades it, all of the sky, an order; list and check show it, and what covers how much [Catalogs]', () =>
  withDirectory(async directory => {
    const data = join(directory, 'data');
    const nearsky = async (...args: string[]) => {
      const { code, stdout, stderr } = await start(['catalog', ...args, '--data', data]).finished;
      return { code, stdout, stderr };
    };
    const add = (...more: string[]) => nearsky('add', 'sparse', double, '--id', 'id', ...more);
    const byRows = await add();
    assert.match(
      byRows.stdout,
      /footprint +order 2, from skymap\.fits \(order 8 would have had 0\.0025 rows per pixel\): 100% of the sky/,
    );
    assert.match(byRows.stderr, /the rows of sparse are sparse, so its footprint is known only to 15 degrees/);
    const byMoc = await add('--footprint', patch);
    assert.is(byMoc.stderr, '');
    const text = /footprint +order 10, from patch\.fits: 0\.07\d+% of the sky/;
    for (const shown of [byMoc, await nearsky('list'), await nearsky('check', 'sparse')])
      assert.match(shown.stdout, text);
    const listed = JSON.parse((await nearsky('list', '--json')).stdout)[0].coverage;
    assert.equal([listed.order, listed.from], [10, 'patch.fits']);
    assert.ok(Math.abs(listed.sky_fraction - 0.0007) < 0.0001);
    const fraction = async (...more: string[]) =>
      JSON.parse((await add(...more, '--json')).stdout).coverage.sky_fraction;
    assert.is(await fraction('--footprint', 'all-sky'), 1);
    assert.is(await fraction('--footprint', '0'), 1);
    assert.ok((await fraction('--footprint', '8')) < 0.003);
    assert.match(
      (await add('--footprint', '11')).stderr,
      /--footprint must be a file, all-sky or an order from 0 to 10 \(11 was given\)/,
    );
    assert.match(
      (await add('--footprint', '9')).stderr,
      /Cannot make a footprint of order 9 from .*skymap\.fits because its order is 8/,
    );
    assert.is((await add('--footprint', join(directory, 'none.fits'))).code, 1);
  }));

test('the pixels of a MOC are those of mocpy', async () => {
  const { coverage } = await register(double, {
    footprint: { kind: 'area', area: areaIn(patch), source: 'patch.fits' },
  });
  const expected = JSON.parse(readFileSync(join(sparse, 'patch_order_10.json'), 'utf8')) as Record<string, number[]>;
  const cells = mocCells(openCoverage(coverage)).flatMap((list, order) =>
    list.length > 0 ? [[`${order}`, list] as const] : [],
  );
  assert.equal(
    Object.fromEntries(cells),
    Object.fromEntries(Object.entries(expected).filter(([, list]) => list.length > 0)),
  );
});

test('float32 positions are taken exactly, as hats-import takes them, and add says how far they step', () =>
  withDirectory(async directory => {
    const location = join(sparse, 'single');
    const { columns, partitions, coverage } = await register(location);
    assert.is(columns.hasSinglePositions, true);
    assert.is(outside(coverage, probes(20_000)), 0);
    const files = await catalogFiles(location);
    let rows = 0;
    for (const { files: names } of partitions) {
      const file = await openParquet(await files.open(names[0]!));
      const [ra, dec] = [await file.readNumbers('ra', 0), await file.readNumbers('dec', 0)];
      const all = Array.from(ra, (_, row) => row);
      const pixels = await file.readValues('_healpix_29', all);
      file.close();
      for (const row of all) {
        assert.equal([ra[row], dec[row]], [Math.fround(ra[row]!), Math.fround(dec[row]!)]);
        assert.is(pixel29(ra[row]!, dec[row]!), pixels[row]);
        rows++;
      }
    }
    assert.is(rows, 200);
    const added = await start(['catalog', 'add', 'single', location, '--id', 'id', '--data', join(directory, 'data')])
      .finished;
    assert.match(
      added.stderr,
      /positions of single are float32: right ascensions and separations are only exact to 0\.11 arcsec/,
    );
  }));

test.run();
