/** Rows that the engine reads itself, beside the answers without stored positions, which another process reads. */
import { readdirSync, rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { conePixels, MAX_AREA_ORDER, pixel24 } from '@nearsky/sky-index';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { digestOf, type KnownSources, knownSources } from '../../../src/capabilities/adql/known_sources.ts';
import { RowsAtHand } from '../../../src/capabilities/adql/rows_at_hand.ts';
import { CatalogPositionsWriter } from '../../../src/capabilities/catalogs/positions_writer.ts';
import { registerCatalog } from '../../../src/capabilities/catalogs/register.ts';
import { positionFilesOf } from '../../../src/capabilities/catalogs/stored_positions.ts';
import { catalogDefinition } from '../../../src/core/contract/catalogs.ts';
import { type HatsColumn, writeHats } from '../../core/catalogs/write_hats.ts';
import { TestApp } from '../../core/http/support.ts';
import { duckdbObstacle, needs } from '../../needs.ts';
import { HARD_PLACES, offset, seededRandom } from '../../oracle/skies.ts';
import { inWorld, type World, type WrittenCatalog } from '../crossmatch/world.ts';
import { ask } from './ask.ts';

const test = suite('tap/rows_at_hand');
const check = needs(test, duckdbObstacle());

const gaia = catalogDefinition('gaia_dr3')!;
const random = seededRandom(65);
const STARS = HARD_PLACES.flatMap(place =>
  Array.from({ length: 400 }, () => offset(place, 600 * random() ** 2, 2 * Math.PI * random())),
);
const SHAPE = { maxRows: 600, rowGroupSize: 250 };

/** Stores the positions of the catalog, and returns their directory. */
async function storePositions(world: World, { location }: WrittenCatalog): Promise<string> {
  const dataDir = join(world.directory, 'data');
  const positions = new CatalogPositionsWriter(dataDir);
  const { columns } = await registerCatalog(gaia, location, { addedAtUs: 1, positions });
  assert.ok(positions.files > 1);
  return positionFilesOf(dataDir, location, columns)!.directory;
}

const areaAround = (ra: number, dec: number, radiusArcsec: number, order = 13) => {
  const size = 4 ** (MAX_AREA_ORDER - order);
  return Float64Array.from(
    conePixels(order, ra, dec, radiusArcsec)
      .sort((a, b) => a - b)
      .flatMap(pixel => [pixel * size, (pixel + 1) * size]),
  );
};

const COLUMNS = [
  { name: 'phot_g_mean_mag', type: 'float32' },
  { name: 'source_id', type: 'int64' },
  { name: 'dec', type: 'float64' },
] as const;

test('the rows of an area; none without usable positions, for a catalog described anew, or beyond a limit', () =>
  inWorld(async world => {
    const written = await world.addCatalog('gaia_dr3', STARS, SHAPE);
    const directory = await storePositions(world, written);
    const known = knownSources().of(world.store);
    const types = new Map(known.get('gaia_dr3')!.table.columns.map(({ name, type }) => [name, type]));
    const columns = COLUMNS.map(({ name }) => ({ name, type: types.get(name)! }));
    const read = (more: object = {}, maxBytes = Number.POSITIVE_INFINITY, of: Partial<KnownSources> = {}) => {
      const find = (name: string) => ({ ...known.get(name)!, ...of });
      const part = { part: 0, catalog: 'gaia_dr3', digest: digestOf(gaia), columns, rows: undefined, isFar: false };
      const [{ ra, dec }] = HARD_PLACES as [{ ra: number; dec: number }];
      return new RowsAtHand(join(world.directory, 'data'), maxBytes, find).read({
        ...part,
        bounds: areaAround(ra, dec, 20),
        ...more,
      });
    };
    const magnitude = written.columns.find(({ name }) => name === 'phot_g_mean_mag')!.data as ArrayLike<number | null>;
    for (const { ra, dec } of HARD_PLACES) {
      const bounds = areaAround(ra, dec, 20);
      const isNear = (row: number) => {
        const pixel = Math.floor(pixel24(STARS[row]!.ra, STARS[row]!.dec) / 4 ** (24 - MAX_AREA_ORDER));
        return bounds.some((first, i) => i % 2 === 0 && first <= pixel && pixel < bounds[i + 1]!);
      };
      const expected = [...STARS.keys()]
        .filter(isNear)
        .map(row => [magnitude[row] ?? null, written.id[row], STARS[row]!.dec]);
      const cells = (await read({ bounds }))!;
      const found = expected.map((_, row) => cells.map(column => column[row]));
      const byId = (rows: unknown[][]) => rows.sort((a, b) => (a[1]! < b[1]! ? -1 : 1));
      assert.ok(expected.length > 20);
      assert.equal(byId(found), byId(expected));
      assert.ok(cells.every(({ length }) => length === expected.length));
    }
    assert.ok(await read());
    const without: Readonly<Record<string, object>> = {
      'of another definition': { digest: digestOf({ ...gaia }).replace(/./g, '0') },
      'without an area': { bounds: undefined },
      'any few rows': { rows: 3 },
      'on another host': { isFar: true },
      'with a column of another type': { columns: [{ name: 'dec', type: 'text' }] },
      'all over the sky': { bounds: Float64Array.of(0, 12 * 4 ** MAX_AREA_ORDER) },
    };
    for (const [what, more] of Object.entries(without)) assert.is(await read(more), undefined, what);
    assert.is(await read({}, 100), undefined, 'more than a query may read');
    const { registration } = known.get('gaia_dr3')!;
    assert.is(await read({}, 1e9, { registration: { ...registration, location: '/none' } }), undefined, 'no files');
    const files = readdirSync(directory).map(name => join(directory, name));
    for (const path of files) truncateSync(path, 1000);
    assert.is(await read(), undefined, 'damaged positions');
    for (const path of files) rmSync(path);
    assert.is(await read(), undefined, 'no positions');
  }));

test('no long strings that a file stores in few bytes: a page of them, or one of many rows', () =>
  inWorld(async world => {
    const places = Array.from({ length: 2000 }, (_, i) => ({ ra: 10 + i * 1e-5, dec: 5 }));
    const columns = (notes: readonly string[]): HatsColumn[] => [
      { name: 'id', type: 'INT64', data: places.map((_, i) => BigInt(i)) },
      { name: 'ra', type: 'DOUBLE', data: places.map(({ ra }) => ra) },
      { name: 'dec', type: 'DOUBLE', data: places.map(({ dec }) => dec) },
      { name: 'note', type: 'STRING', data: notes },
    ];
    const dataDir = join(world.directory, 'data');
    const notes = {
      short: places.map((_, i) => `note ${i}`),
      long: places.map((_, i) => `${i}`.padEnd(20_000, 'x')),
      same: places.map(() => 'x'.repeat(100_000)),
    };
    for (const [name, some] of Object.entries(notes)) {
      const location = join(world.directory, name);
      writeHats(location, { name, columns: columns(some), ra: 'ra', dec: 'dec', codec: 'SNAPPY' });
      const positions = new CatalogPositionsWriter(dataDir);
      const catalog = { name, idColumn: 'id', description: {} };
      const registration = await registerCatalog(catalog, location, { addedAtUs: 1, positions });
      await world.writer.commit({ kind: 'register_catalog', registration });
    }
    const known = knownSources().of(world.store);
    const read = (catalog: string, arcsec: number) =>
      new RowsAtHand(dataDir, Number.POSITIVE_INFINITY, name => known.get(name)).read({
        part: 0,
        catalog,
        digest: known.get(catalog)!.digest,
        columns: [{ name: 'note', type: 'text' }],
        bounds: areaAround(10, 5, arcsec),
        rows: undefined,
        isFar: false,
      });
    assert.ok((await read('short', 0.1))![0]!.includes('note 0'));
    assert.is((await read('short', 1000))![0]!.length, places.length);
    assert.ok((await read('long', 0.1)) === undefined);
    assert.ok((await read('same', 1000)) === undefined);
  }));

check('answers are the same, to the last byte, with stored positions and without them', () =>
  inWorld(async world => {
    const written = await world.addCatalog('gaia_dr3', STARS, SHAPE);
    await world.ingest(STARS.filter((_, i) => i % 16 === 0));
    // At RA 0, at both poles, beside RA 360.
    const places = [4, 0, 2, 6].slice(0, Number(process.env.TEST_PLACES ?? 1)).map(i => HARD_PLACES[i]!);
    const cone = (alias: string, { ra, dec }: (typeof places)[number], arcsec: number) =>
      `1 = CONTAINS(POINT(${alias}.ra, ${alias}.dec), CIRCLE(${ra}, ${dec}, ${arcsec}/3600.0))`;
    const queries = places.flatMap(place => [
      `SELECT s.* FROM gaia_dr3.sources AS s WHERE ${cone('s', place, 5)}`,
      `SELECT TOP 3 source_id, phot_g_mean_mag, parallax FROM gaia_dr3.sources AS s WHERE ${cone('s', place, 30)} ORDER BY phot_g_mean_mag DESC`,
      `SELECT COUNT(*), MIN(s.ra), MAX(s.pmra) FROM gaia_dr3.sources AS s WHERE ${cone('s', place, 60)}`,
      `SELECT o.diaObjectId, s.source_id, s.phot_bp_mean_mag FROM nearsky.objects AS o JOIN gaia_dr3.sources AS s ON DISTANCE(o.ra, o.dec, s.ra, s.dec) < 2/3600.0 WHERE ${cone('o', place, 100)} ORDER BY 1, 2`,
      `SELECT a.source_id, b.source_id FROM gaia_dr3.sources AS a JOIN gaia_dr3.sources AS b ON DISTANCE(a.ra, a.dec, b.ra, b.dec) < 3/3600.0 WHERE ${cone('a', place, 10)} AND a.source_id < b.source_id ORDER BY 1, 2`,
      `SELECT s.source_id / (CAST(s.source_id AS BIGINT) - s.source_id) FROM gaia_dr3.sources AS s WHERE ${cone('s', place, 5)}`,
    ]);
    const app = new TestApp(join(world.directory, 'data'), { TAP_QUERY_SECONDS: '120' });
    try {
      const answer = (query: string) => ask({ app }, query, { RESPONSEFORMAT: 'csv' });
      const before = await Array.fromAsync(queries, answer);
      await storePositions(world, written);
      for (const [i, query] of queries.entries()) {
        const { status, text } = await answer(query);
        assert.is(status, 200, text);
        assert.ok(text.split('\n').length > 2, query);
        assert.ok(text === before[i]!.text, query);
      }
    } finally {
      await app.app.close();
    }
  }),
);

test.run();
