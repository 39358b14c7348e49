import { copyFileSync, truncateSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { pixelOf, separationArcsec } from '@nearsky/sky-index';
import { parquetWriteFile } from 'hyparquet-writer';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type FileMatches, type FileSearchTask, runMatch } from '../../../src/capabilities/crossmatch/match_file.ts';
import type { CatalogColumns } from '../../../src/core/store/catalog_registration.ts';
import type { MatchSource } from '../../../src/core/store/types.ts';
import { openLocalParquet, published } from '../../core/catalogs/support.ts';
import { withDirectory } from '../../directory.ts';
import { type CatalogRows, nearestRow } from '../../oracle/crossmatch.ts';
import { HARD_PLACES, offset, type Place, seededRandom } from '../../oracle/skies.ts';
import { unpacked } from './unpacked.ts';

const test = suite('match task');

const columns: CatalogColumns = {
  id: 'id',
  ra: 'ra',
  dec: 'dec',
  payload: [
    { key: 'mag', column: 'MAG' },
    { key: 'none', column: null },
  ],
};

type Rows = CatalogRows & { readonly mag: readonly (number | null)[] };

function rowsAt(places: readonly (Place | { ra: number | null; dec: number | null })[], id?: readonly bigint[]): Rows {
  return {
    ra: places.map(place => place.ra),
    dec: places.map(place => place.dec),
    id: id ?? places.map((_, row) => 9_000_000_000_000_000_000n - BigInt(row)),
    mag: places.map((_, row) => (row % 3 ? Math.fround(row / 10) : null)),
    coverageOrder: 0,
  };
}

interface FileOptions {
  readonly rowGroupSize?: number;
  /** By order-13 pixel, as HATS files are. */
  readonly sorted?: boolean;
  readonly nullable?: boolean;
  readonly statistics?: boolean;
}

/** Writes all rows into one file; its path. */
function writeFile(directory: string, rows: Rows, options: FileOptions = {}): string {
  const { rowGroupSize = 100_000, sorted = true, nullable = true, statistics = true } = options;
  const filename = join(directory, 'Npix=0.parquet');
  const order = [...Array(rows.ra.length).keys()];
  if (sorted) order.sort((a, b) => pixelOf(13, rows.ra[a]!, rows.dec[a]!) - pixelOf(13, rows.ra[b]!, rows.dec[b]!));
  const take = <T>(data: ArrayLike<T>) => order.map(row => data[row]!);
  parquetWriteFile({
    filename,
    rowGroupSize,
    statistics,
    columnData: [
      { name: 'dec', type: 'DOUBLE', data: take(rows.dec), nullable },
      { name: 'MAG', type: 'FLOAT', data: take(rows.mag), nullable },
      { name: 'id', type: 'INT64', data: take(rows.id), nullable },
      { name: 'ra', type: 'DOUBLE', data: take(rows.ra), nullable },
    ],
  });
  return filename;
}

function taskFor(path: string, objects: readonly Place[], radiusArcsec = 1): FileSearchTask {
  const [ra, dec] = [Float64Array.from(objects, object => object.ra), Float64Array.from(objects, object => object.dec)];
  return {
    location: dirname(path),
    file: basename(path),
    columns,
    radiusArcsec,
    find: 'nearest',
    ra,
    dec,
  };
}

async function matchesOf(task: FileSearchTask): Promise<FileMatches> {
  const answer = await runMatch(task);
  if (answer.outcome !== 'searched') throw new Error(answer.reason);
  return answer.matches;
}

function sourcesOf({ sources, sourceEnds }: FileMatches, keys = ['mag', 'none']): MatchSource[] {
  return Array.from(sourceEnds, (end, at) => unpacked({ keys, packed: sources.slice(sourceEnds[at - 1] ?? 0, end) }));
}

/** Compares every object with a scan of all rows. */
async function check(path: string, rows: Rows, objects: readonly Place[], radiusArcsec = 1): Promise<number> {
  const found = await matchesOf(taskFor(path, objects, radiusArcsec));
  const expected = objects.flatMap((object, at) => {
    const nearest = nearestRow(rows, object, radiusArcsec);
    return nearest ? [{ at, ...nearest }] : [];
  });
  assert.equal(
    [...found.object],
    expected.map(({ at }) => at),
  );
  assert.equal(
    [...found.id],
    expected.map(({ id }) => id),
  );
  assert.equal(
    [...found.separationArcsec],
    expected.map(match => match.separationArcsec),
  );
  assert.equal(
    sourcesOf(found),
    expected.map(({ row }) => ({ ra: rows.ra[row], dec: rows.dec[row], payload: { mag: rows.mag[row], none: null } })),
  );
  return expected.length;
}

function crowd(random: () => number, centres: readonly Place[], size: number, reachArcsec: number): Place[] {
  return Array.from({ length: size }, () =>
    offset(centres[Math.floor(random() * centres.length)]!, reachArcsec * Math.sqrt(random()), random() * 2 * Math.PI),
  );
}

for (const layout of [
  { name: 'one row group', options: {} },
  { name: 'sorted small row groups', options: { rowGroupSize: 17 } },
  { name: 'unsorted rows without statistics', options: { rowGroupSize: 29, sorted: false, statistics: false } },
  { name: 'unsorted small row groups, no nulls allowed', options: { rowGroupSize: 5, sorted: false, nullable: false } },
] as const) {
  test(`a scan of all rows around the hard places: ${layout.name}`, () =>
    withDirectory(async directory => {
      const random = seededRandom(layout.name.length);
      const sources = crowd(random, HARD_PLACES, 600, 8);
      for (let copy = 0; copy < 40; copy++) sources.push(sources[Math.floor(random() * sources.length)]!);
      const magnitudes = rowsAt(sources);
      const rows =
        'nullable' in layout.options ? { ...magnitudes, mag: magnitudes.mag.map(mag => mag ?? 0) } : magnitudes;
      const path = writeFile(directory, rows, layout.options);
      const objects = [...crowd(random, HARD_PLACES, 1500, 9), ...sources.slice(0, 50), ...HARD_PLACES];
      const matched = await check(path, rows, objects);
      assert.ok(matched > 300 && matched < objects.length - 300, `${matched} of ${objects.length}`);
    }));
}

test('a disc over a pole reaches every right ascension, one beside RA 0 reaches both sides', () =>
  withDirectory(async directory => {
    const dec = 90 - 0.3 / 3600;
    const rows = rowsAt([
      { ra: 190, dec },
      { ra: 359.9999, dec: -20 },
      { ra: 0.0001, dec: 20 },
      { ra: 77, dec: -dec },
    ]);
    const path = writeFile(directory, rows, { rowGroupSize: 1 });
    const objects = [
      { ra: 10, dec },
      { ra: 10, dec: 90 - 0.6 / 3600 },
      { ra: 0, dec: 90 },
      { ra: 300, dec: -dec },
      { ra: 0.0001, dec: -20 },
      { ra: 360, dec: -20 },
      { ra: 359.9999, dec: 20 },
    ];
    for (const object of objects) assert.is(await check(path, rows, [object]), 1);
  }));

test('the radius is inclusive to the last bit [Purpose]', () =>
  withDirectory(async directory => {
    const random = seededRandom(9);
    const sources = crowd(random, HARD_PLACES, 100, 1000);
    const rows = rowsAt(sources);
    const path = writeFile(directory, rows);
    let checked = 0;
    for (const source of sources.slice(0, 20)) {
      const object = offset(source, 0.3 + random(), random() * 2 * Math.PI);
      const separation = separationArcsec(object.ra, object.dec, source.ra, source.dec);
      if (nearestRow(rows, object, 2)!.separationArcsec !== separation) continue;
      assert.is((await matchesOf(taskFor(path, [object], separation))).object.length, 1);
      assert.is((await matchesOf(taskFor(path, [object], separation * (1 - 2 ** -52)))).object.length, 0);
      checked++;
    }
    assert.ok(checked > 10);
  }));

test('a source at exactly 1 arcsec is a match, one beyond by the least step is not', () =>
  withDirectory(async directory => {
    // Along a meridian the separation passes through 1 in steps; take a declination at which it is exactly 1.
    const separationOf = (dec: number) => separationArcsec(120, 0, 120, dec);
    let dec = 1 / 3600;
    while (separationOf(dec) > 1) dec -= 2 ** -64;
    while (separationOf(dec) < 1) dec += 2 ** -64;
    assert.is(separationOf(dec), 1);
    let beyond = dec;
    while (separationOf(beyond) === 1) beyond += 2 ** -63;
    const rows = rowsAt([
      { ra: 120, dec },
      { ra: 240, dec: beyond },
    ]);
    const path = writeFile(directory, rows);
    const found = await matchesOf(
      taskFor(path, [
        { ra: 120, dec: 0 },
        { ra: 240, dec: 0 },
      ]),
    );
    assert.equal([...found.object], [0]);
    assert.equal([...found.separationArcsec], [1]);
  }));

test('of equal separations the lowest id wins, as a number [Purpose]', () =>
  withDirectory(async directory => {
    const id = [10n, 9n, -3n, 4_611_686_018_427_387_905n, 4_611_686_018_427_387_904n];
    const [east, west] = [
      { ra: 50.0001, dec: 0 },
      { ra: 49.9999, dec: 0 },
    ];
    const rows = rowsAt([{ ra: 100, dec: 20 }, { ra: 100, dec: 20 }, { ra: 200, dec: 20 }, east, west], id);
    const objects = [
      { ra: 100, dec: 20 },
      { ra: 200, dec: 20 },
      { ra: 50, dec: 0 },
    ];
    assert.is(separationArcsec(50, 0, east.ra, 0), separationArcsec(50, 0, west.ra, 0));
    const path = writeFile(directory, rows, { sorted: false, rowGroupSize: 2 });
    const found = await matchesOf(taskFor(path, objects));
    assert.equal([...found.id], [9n, -3n, 4_611_686_018_427_387_904n]);
  }));

test('rows without a valid position or an id are no sources', () =>
  withDirectory(async directory => {
    const filename = join(directory, 'x.parquet');
    const bad = [null, Number.NaN, -1, 361, Number.POSITIVE_INFINITY];
    const ra = [...bad, 10, 10, 10];
    const dec = [0, 0, 0, 0, 0, null, 91, 10];
    const id = ra.map((_, row) => (row === 7 ? null : BigInt(row)));
    parquetWriteFile({
      filename,
      columnData: [
        { name: 'ra', type: 'DOUBLE', data: ra, nullable: true },
        { name: 'dec', type: 'DOUBLE', data: dec, nullable: true },
        { name: 'id', type: 'INT64', data: id, nullable: true },
        { name: 'MAG', type: 'FLOAT', data: ra.map(() => 1) },
      ],
    });
    const objects = [
      { ra: 0, dec: 0 },
      { ra: 360, dec: 0 },
      { ra: 10, dec: 0 },
      { ra: 10, dec: 90 },
      { ra: 10, dec: 10 },
    ];
    assert.is((await matchesOf(taskFor(filename, objects))).object.length, 0);
  }));

test('ids as decimal text, and text that is none', () =>
  withDirectory(async directory => {
    const filename = join(directory, 'x.parquet');
    const write = (id: string[]) =>
      parquetWriteFile({
        filename,
        columnData: [
          { name: 'ra', type: 'DOUBLE', data: [10, 20, 30] },
          { name: 'dec', type: 'DOUBLE', data: [10, 20, 30] },
          { name: 'id', type: 'STRING', data: id },
          { name: 'MAG', type: 'FLOAT', data: [1, 2, 3] },
        ],
      });
    write(['9223372036854775807', '-7', 'x']);
    const found = await matchesOf(
      taskFor(filename, [
        { ra: 10, dec: 10 },
        { ra: 20, dec: 20 },
      ]),
    );
    assert.equal([...found.id], [9_223_372_036_854_775_807n, -7n]);
    for (const text of ['x', '', '1.0', '9223372036854775808']) {
      write(['1', '2', text]);
      const answer = await runMatch(taskFor(filename, [{ ra: 30, dec: 30 }]));
      assert.is(answer.outcome, 'unusable');
      assert.match(
        'reason' in answer ? answer.reason : '',
        new RegExp(`column id must hold 64-bit integers \\(${text} was found\\)$`),
      );
    }
  }));

test('an empty file, and one without a source near any object', () =>
  withDirectory(async directory => {
    const far = writeFile(directory, rowsAt([{ ra: 10, dec: 10 }]));
    assert.is((await matchesOf(taskFor(far, [{ ra: 11, dec: 10 }]))).object.length, 0);
    const empty = writeFile(directory, rowsAt([]));
    assert.is((await matchesOf(taskFor(empty, [{ ra: 11, dec: 10 }]))).object.length, 0);
  }));

test('a file that cannot be read, and one of another schema, are told apart', () =>
  withDirectory(async directory => {
    const path = writeFile(directory, rowsAt(crowd(seededRandom(1), HARD_PLACES, 300, 5)));
    const outcome = async (file: string, changed: Partial<CatalogColumns> = {}) =>
      (await runMatch({ ...taskFor(file, HARD_PLACES), columns: { ...columns, ...changed } })).outcome;
    assert.is(await outcome(path), 'searched');
    assert.is(await outcome(join(directory, 'missing.parquet')), 'unreadable');
    const broken = join(directory, 'broken.parquet');
    copyFileSync(path, broken);
    truncateSync(broken, 1000);
    assert.is(await outcome(broken), 'unreadable');
    writeFileSync(broken, '');
    assert.is(await outcome(broken), 'unreadable');
    assert.is(await outcome(path, { id: 'absent' }), 'unusable');
    assert.is(await outcome(path, { ra: 'absent' }), 'unusable');
    assert.is(await outcome(path, { payload: [{ key: 'gone', column: 'GONE' }] }), 'searched');
  }));

test('13,128 real Gaia rows against a scan', async () => {
  const path = join(published, 'hats/macauff/gaia_hats_data/gaia_cone/dataset/Norder=3/Dir=0/Npix=512.parquet');
  const file = await openLocalParquet(path);
  const every = [...Array(file.rows).keys()];
  const [ra, dec] = [await file.readNumbers('ra', 0), await file.readNumbers('dec', 0)];
  const id = (await file.readValues('source_id', every)) as bigint[];
  file.close();
  const random = seededRandom(4);
  const stars = every.map(row => ({ ra: ra[row]!, dec: dec[row]! }));
  const objects = crowd(random, stars, 500, 2);
  const gaia = { id: 'source_id', ra: 'ra', dec: 'dec', payload: [{ key: 'designation', column: 'designation' }] };
  const found = await matchesOf({ ...taskFor(path, objects), columns: gaia });
  const expected = objects
    .map(object => nearestRow({ ra, dec, id, coverageOrder: 0 }, object, 1))
    .filter(match => match !== undefined);
  assert.equal(
    [...found.id],
    expected.map(match => match.id),
  );
  assert.equal(
    [...found.separationArcsec],
    expected.map(match => match.separationArcsec),
  );
  assert.equal(
    sourcesOf(found, ['designation']).map(({ payload }) => String(payload!.designation).trimEnd()),
    expected.map(match => `Gaia DR3 ${match.id}`),
  );
  assert.ok(found.id.length > 100);
});

test.run();
