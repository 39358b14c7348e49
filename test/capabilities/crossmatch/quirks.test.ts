/** Catalogs with the quirks of real ones, in a directory and over HTTP, each against a scan of all its rows. */

import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import { openHats, REMOTE_DEFAULTS } from '@nearsky/hats';
import { wrapRa } from '@nearsky/sky-index';
import { parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { registerCatalog } from '../../../src/capabilities/catalogs/register.ts';
import { CatalogSearch } from '../../../src/capabilities/crossmatch/catalog_search.ts';
import { openCatalog } from '../../../src/capabilities/crossmatch/plan.ts';
import type { CatalogDefinition } from '../../../src/core/contract/catalogs.ts';
import { catalogDefinition } from '../../../src/core/contract/catalogs.ts';
import type { CatalogRegistration } from '../../../src/core/store/catalog_registration.ts';
import { everyNth, type RangeServer, serveFiles } from '../../core/catalogs/range_server.ts';
import { columnsNamed } from '../../core/catalogs/small_catalog.ts';
import { fixtures, published, rejection } from '../../core/catalogs/support.ts';
import { type HatsOptions, writeHats } from '../../core/catalogs/write_hats.ts';
import { withDirectory } from '../../directory.ts';
import { type CatalogRows, nearestRow, separationsWithin } from '../../oracle/crossmatch.ts';
import { HARD_PLACES, offset, type Place, seededRandom } from '../../oracle/skies.ts';
import { onAnEdge } from './edges.ts';
import { unpacked } from './unpacked.ts';
import { pool } from './world.ts';

const test = suite('catalogs of all kinds');

type Rows = CatalogRows & {
  readonly payload: readonly unknown[];
  /** Rows without a position, in a partition that objects need. */
  readonly without?: number;
};

const remote = { ...REMOTE_DEFAULTS, pauseMs: 2 };

/** Searches the catalog at a location for every object, and compares with a scan of all rows. Returns how many match. */
async function check(
  definition: CatalogDefinition,
  location: string,
  rows: Rows,
  objects: readonly Place[],
  registered?: CatalogRegistration,
): Promise<number> {
  const registration = registered ?? (await registerCatalog(definition, location, { addedAtUs: 0, remote }));
  const ra = Float64Array.from(objects, object => object.ra);
  const dec = Float64Array.from(objects, object => object.dec);
  const search = new CatalogSearch(
    openCatalog(registration),
    { ra, dec, timeUs: new Float64Array(ra.length), errorMas: ra.map(() => Number.NaN) },
    1,
  );
  await Promise.all(search.searches.map(async file => search.take(file, await pool.run(search.task(file)))));
  assert.equal(search.problems, []);
  assert.ok(!rows.without || search.rowsPassedOver > 0, 'rows without a position are counted');
  let matched = 0;
  objects.forEach((object, at) => {
    const nearest = nearestRow(rows, object, 1);
    if (nearest) matched++;
    const expected = nearest && {
      catalogName: definition.name,
      catalogSourceId: String(nearest.id),
      separationArcsec: nearest.separationArcsec,
      source: {
        ra: rows.ra[nearest.row]!,
        dec: rows.dec[nearest.row]!,
        payload: { [definition.columns[0]!.name.toLowerCase()]: rows.payload[nearest.row] },
      },
    };
    const match = search.match(at);
    const { statistics, ...rest } = match ?? {};
    const found = match && { ...rest, source: unpacked(match.source) };
    assert.equal(found, expected, `${object.ra} ${object.dec} of ${location}`);
    assert.is(statistics?.sourcesWithinRadius ?? 0, separationsWithin(rows, object, 1).length);
    if (nearest) assert.is(search.outcome(at), 'searched');
  });
  return matched;
}

const FAULTS = ['drop', 'truncate', 'short', 'error', 'missing', 'whole', 'other range', 'encoded'] as const;

/** The same in the directory, over HTTP, and over HTTP while one request in ten fails. */
async function checkEverywhere(
  definition: CatalogDefinition,
  directory: string,
  rows: Rows,
  objects: readonly Place[],
): Promise<number> {
  const matched = await check(definition, directory, rows, objects);
  await overHttp(directory, async server => {
    await check(definition, server.url, rows, objects);
    server.fault = everyNth(10, FAULTS);
    await check(definition, server.url, rows, objects);
  });
  return matched;
}

async function overHttp<T>(directory: string, use: (server: RangeServer) => Promise<T>): Promise<T> {
  const server = await serveFiles(directory);
  try {
    return await use(server);
  } finally {
    await server.close();
  }
}

const made: CatalogDefinition = {
  ...catalogDefinition('gaia_dr3')!,
  idColumn: 'id',
  raColumn: 'ra',
  decColumn: 'dec',
  columns: columnsNamed('Mag'),
};

/** Sources and objects in crowds at the poles, at RA 0, and on the edges and corners of partitions. */
function hardSky(seed: number): { rows: Rows; objects: Place[] } {
  const random = seededRandom(seed);
  const edges = [0, 1, 2, 3, 4, 5].flatMap(order => Array.from({ length: 5 }, () => onAnEdge(order, random)));
  const places = [...HARD_PLACES, ...edges];
  const around = (reach: number) =>
    offset(places[Math.floor(random() * places.length)]!, reach * random() ** 2, random() * 2 * Math.PI);
  const sources = Array.from({ length: 300 }, () => around(6));
  for (let copy = 0; copy < 20; copy++) sources.push(sources[Math.floor(random() * 300)]!);
  const rows: Rows = {
    ra: [...sources.map(({ ra }) => ra), null, Number.NaN, 12],
    dec: [...sources.map(({ dec }) => dec), 1, 2, 99],
    id: Array.from({ length: sources.length + 3 }, (_, row) => 9_000_000_000_000_000_000n - BigInt(row)),
    payload: Array.from({ length: sources.length + 3 }, (_, row) => (row % 5 ? row / 7 : null)),
    coverageOrder: 8,
    without: 3,
  };
  return { rows, objects: [...Array.from({ length: 250 }, () => around(8)), ...places] };
}

function writeCatalog(directory: string, rows: Rows, options: Partial<HatsOptions>): void {
  writeHats(directory, {
    name: 'quirk',
    columns: [
      { name: 'Mag', type: 'DOUBLE', data: rows.payload },
      { name: 'dec', type: 'DOUBLE', data: rows.dec },
      { name: 'id', type: 'INT64', data: rows.id },
      { name: 'ra', type: 'DOUBLE', data: rows.ra },
    ],
    ra: 'ra',
    dec: 'dec',
    maxRows: 40,
    ...options,
  });
}

const zstd = { ZSTD: (input: Uint8Array) => new Uint8Array(zstdCompressSync(input)) };

const LAYOUTS: readonly (readonly [what: string, options: Partial<HatsOptions>])[] = [
  ['_healpix_29 first, SNAPPY', {}],
  ['_healpix_29 last, ZSTD, .parq', { healpixColumn: 'last', codec: 'ZSTD', compressors: zstd, suffix: '.parq' }],
  ['no _healpix_29, rows in any order, small row groups', { healpixColumn: 'none', rowGroupSize: 7 }],
  ['rows not sorted by their _healpix_29, small row groups', { sorted: false, rowGroupSize: 7 }],
  ['sorted rows in row groups of five', { rowGroupSize: 5, maxRows: 200 }],
  ['no statistics, no compression', { statistics: false, rowGroupSize: 20, codec: 'UNCOMPRESSED' }],
  ['no coverage map, one partition a face', { skymapOrder: null, maxOrder: 0 }],
];

for (const [at, [what, options]] of LAYOUTS.entries()) {
  test(`across partition borders, at the poles and at RA 0: ${what}`, () =>
    withDirectory(async directory => {
      const { rows, objects } = hardSky(at + 1);
      writeCatalog(directory, rows, options);
      const matched = await checkEverywhere(made, directory, rows, objects);
      assert.ok(matched > 75 && matched < objects.length - 50, String(matched));
    }));
}

test('rows whose positions were rounded after their pixels were made, and lie up to an arcsecond outside', () =>
  withDirectory(async directory => {
    const { rows, objects } = hardSky(40);
    const random = seededRandom(41);
    const pixelsOf = Array.from(rows.ra, (ra, row) => {
      const place = { ra: ra ?? Number.NaN, dec: rows.dec[row] ?? Number.NaN };
      return offset(place, 0.98, 2 * Math.PI * random());
    });
    writeCatalog(directory, rows, { pixelsOf, rowGroupSize: 3, maxOrder: 13 });
    const beyond = pixelsOf.slice(0, 150).map(({ ra, dec }, row) => {
      const [ownRa, ownDec] = [rows.ra[row]!, rows.dec[row]!];
      return { ra: wrapRa(2 * ownRa - ra), dec: Math.max(-90, Math.min(90, 2 * ownDec - dec)) };
    });
    const matched = await checkEverywhere(made, directory, rows, [...objects, ...beyond]);
    assert.ok(matched > 150, String(matched));
  }));

test('one object alone reaches the row groups on all sides of it, by their statistics', () =>
  withDirectory(async directory => {
    const random = seededRandom(30);
    const centres = [...HARD_PLACES, ...Array.from({ length: 40 }, () => onAnEdge(Math.floor(13 * random()), random))];
    const sources = centres.map(centre => offset(centre, 0.9, 2 * Math.PI * random()));
    const rows: Rows = {
      ra: sources.map(({ ra }) => ra),
      dec: sources.map(({ dec }) => dec),
      id: sources.map((_, row) => BigInt(row)),
      payload: sources.map((_, row) => row),
      coverageOrder: 8,
    };
    writeCatalog(directory, rows, { maxOrder: 0, rowGroupSize: 1, maxRows: 1000 });
    const registration = await registerCatalog(made, directory, { addedAtUs: 0 });
    for (const centre of centres) assert.is(await check(made, directory, rows, [centre], registration), 1);
  }));

test('partitions as folders of parts are listed in a directory; over HTTP they need _metadata', () =>
  withDirectory(async directory => {
    const { rows, objects } = hardSky(20);
    writeCatalog(directory, rows, { suffix: '/' });
    assert.ok((await check(made, directory, rows, objects)) > 75);
    await overHttp(directory, async ({ url }) => {
      const error = await rejection(openHats(url, { remote }));
      assert.match(error.message, /folders cannot be listed over HTTP: the catalog needs its .* dataset\/_metadata/);
    });
  }));

test('properties under the older name, a collection above the catalog, and one that names it by an address', () =>
  withDirectory(async directory => {
    const { rows, objects } = hardSky(21);
    const primary = join(directory, 'collection/primary');
    writeCatalog(primary, rows, {});
    rmSync(join(primary, 'hats.properties'));
    const collection = join(directory, 'collection');
    writeFileSync(join(collection, 'collection.properties'), 'hats_primary_table_url=primary\n');
    assert.ok((await checkEverywhere(made, collection, rows, objects)) > 75);
    await overHttp(directory, async ({ url }) => {
      mkdirSync(join(directory, 'other'));
      const name = (primaryUrl: string) =>
        writeFileSync(join(directory, 'other/collection.properties'), `hats_primary_table_url=${primaryUrl}\n`);
      for (const text of [`${url}/collection/primary`, '/collection/primary', '../collection/primary']) {
        name(text.replaceAll(':', '\\:'));
        assert.is((await openHats(`${url}/other/`, { remote })).files.location, `${url}/collection/primary`);
      }
      name(`${url}/collection/primary`);
      assert.is((await openHats(join(directory, 'other'), { remote })).files.location, `${url}/collection/primary`);
    });
  }));

test('without a partition list the partitions come from _metadata, over HTTP too', () =>
  withDirectory(async directory => {
    cpSync(join(fixtures, 'small_sky_source'), directory, { recursive: true });
    rmSync(join(directory, 'partition_info.csv'));
    await overHttp(directory, async ({ url }) => {
      const local = await openHats(directory);
      assert.is(local.partitions.length, 14);
      assert.equal((await openHats(url, { remote })).partitions, local.partitions);
      rmSync(join(directory, 'dataset/_metadata'));
      assert.match((await rejection(openHats(url, { remote }))).message, /needs its partition_info\.csv/);
    });
  }));

/** The rows of every partition of a catalog, by hyparquet's own reader of whole files. */
async function rowsOf(directory: string, { idColumn, raColumn, decColumn, columns }: CatalogDefinition) {
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter(name => /Npix=.*\.par/.test(name));
  const rows: Record<string, unknown>[] = [];
  for (const name of files) {
    const file = new Uint8Array(readFileSync(join(directory, name))).buffer;
    rows.push(...(await parquetReadObjects({ file, compressors, geoparquet: false })));
  }
  return {
    ra: rows.map(row => row[raColumn] as number),
    dec: rows.map(row => row[decColumn] as number),
    id: rows.map(row => row[idColumn] as bigint),
    payload: rows.map(row => row[columns[0]!.name] ?? null),
    coverageOrder: 0,
  };
}

const object = (payload: string) => ({ ...made, columns: columnsNamed(payload) });
const source = {
  ...made,
  idColumn: 'source_id',
  raColumn: 'source_ra',
  decColumn: 'source_dec',
  columns: columnsNamed('mag'),
};

/** By directory below the fixtures: that of the rows, and the columns. */
const FOUND: readonly (readonly [place: string, table: string, definition: CatalogDefinition])[] = [
  ['small_sky_o1_collection', 'small_sky_order1', object('ra_error')],
  ['small_sky_npix_alt_suffix', '', object('ra_error')],
  ['small_sky_npix_as_dir', '', object('ra_error')],
  ['small_sky_healpix13', '', object('ra_error')],
];
const FOUND_SHARED: typeof FOUND = [
  ['small_sky_source', '', source],
  ['macauff/gaia_hats_data', 'gaia_cone', { ...made, idColumn: 'source_id', columns: columnsNamed('designation') }],
];

async function checkFound(root: string, [place, table, definition]: (typeof FOUND)[number]): Promise<void> {
  const rows = await rowsOf(join(root, place, table), definition);
  const random = seededRandom(7);
  const objects = Array.from({ length: 300 }, () => {
    const row = Math.floor(random() * rows.id.length);
    return offset({ ra: rows.ra[row]!, dec: rows.dec[row]! }, 1.5 * random(), random() * 2 * Math.PI);
  });
  const matched = await checkEverywhere(definition, join(root, place), rows, objects);
  assert.ok(matched > 150 && matched < 300, `${place} ${matched}`);
}

for (const found of FOUND) test(`a catalog as its tools write it: ${found[0]}`, () => checkFound(fixtures, found));
for (const found of [...FOUND, ...FOUND_SHARED])
  test(`from published data: ${found[0]}`, () => checkFound(join(published, 'hats'), found));

/** The message of the refusal, without the location. */
async function refusalAt(root: string, place: string): Promise<string> {
  const error = await rejection(registerCatalog(made, `${root}/${place}`, { addedAtUs: 0, remote }));
  return error.message.replaceAll(root, '');
}

const REFUSED: readonly (readonly [place: string, reason: RegExp])[] = [
  ['square_map', /must be a table of sources: it is a HATS map table/],
  ['small_sky_source_object_index', /HATS index table: give the directory of its primary table/],
  ['small_sky_o1_collection/small_sky_order1_id_index', /HATS index table/],
  ['small_sky_o1_collection/small_sky_order1_margin', /it is a HATS margin table/],
  ['small_sky_source', /has no column id/],
  ['misc', /contains none of hats\.properties, properties, collection\.properties/],
];

test('what is refused in a directory is refused over HTTP, in the same words', async () => {
  const root = join(published, 'hats');
  await overHttp(root, async ({ url }) => {
    for (const [place, reason] of REFUSED) {
      const refusal = await refusalAt(root, place);
      assert.match(refusal, reason);
      assert.is(await refusalAt(url, place), refusal);
    }
  });
});

test('only what is needed is read: row groups that objects reach, position columns, and the payload of matches', () =>
  withDirectory(async directory => {
    const places = Array.from({ length: 4000 }, (_, row) => ({ ra: 100 + (row % 100) / 1000, dec: row / 100_000 }));
    const rows: Rows = {
      ra: places.map(({ ra }) => ra),
      dec: places.map(({ dec }) => dec),
      id: places.map((_, row) => BigInt(row)),
      payload: places.map((_, row) => row / 3),
      coverageOrder: 8,
    };
    writeCatalog(directory, rows, { maxOrder: 0, rowGroupSize: 500, codec: 'UNCOMPRESSED', nullable: false });
    const [name] = readdirSync(join(directory, 'dataset/Norder=0/Dir=0'));
    // Beyond the bytes read with the footer, so that every column is requested.
    await overHttp(directory, async server => {
      const readFor = async (objects: readonly Place[]) => {
        const registration = await registerCatalog(made, server.url, { addedAtUs: 0, remote });
        const ra = Float64Array.from(objects, object => object.ra);
        const dec = Float64Array.from(objects, object => object.dec);
        const search = new CatalogSearch(
          openCatalog(registration),
          { ra, dec, timeUs: new Float64Array(ra.length), errorMas: ra.map(() => Number.NaN) },
          1,
        );
        server.asked.length = 0;
        for (const file of search.searches) search.take(file, await pool.run(search.task(file)));
        assert.equal(search.problems, []);
        const ranges = server.asked.filter(({ path }) => path.endsWith(name!)).map(({ range }) => range);
        return { ranges, reads: search.reads, match: search.match(0) };
      };
      const near = await readFor([places[40]!]);
      assert.is(near.match?.catalogSourceId, '40');
      // The end, the positions, the ids, the payload; of one row group or two.
      assert.ok(near.ranges.length <= 4, near.ranges.join());
      assert.ok(near.reads.networkBytes < 65_536 + 2 * 4 * 4500, String(near.reads.networkBytes));
      const none = await readFor([{ ra: 100.0005, dec: 0.0005 }]);
      assert.is(none.match, undefined);
      assert.ok(none.ranges.length <= 2, none.ranges.join());
      const far = await readFor([{ ra: 101, dec: 1 }]);
      assert.ok(far.ranges.length <= 1, far.ranges.join());
      assert.is(near.reads.requests, near.ranges.length);
    });
  }));

test.run();
