/** `ingest --table`: objects of Parquet files and of HATS catalogs, ours among them. */
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { separationArcsec } from '@nearsky/sky-index';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openStore } from '../../src/core/store/store.ts';
import type { StoredObject } from '../../src/core/store/types.ts';
import { writeHats } from '../core/catalogs/write_hats.ts';
import { withDirectory } from '../directory.ts';
import { nearsky, start } from './in_process.ts';
import { COLUMNS, type Column, tableOf, writeParquet } from './survey_files.ts';

const test = suite('commands/survey_table');

/** Positions in several frames, converted by astropy: see `test/astrotables/positions.py`. */
const POSITIONS = fileURLToPath(new URL('../astrotables/positions.json', import.meta.url));
/** Files of astropy, and their positions in ICRS. */
const DECLARED = fileURLToPath(new URL('../fixtures/survey_table', import.meta.url));

async function stored(data: string): Promise<StoredObject[]> {
  const store = openStore(data, 'read');
  const objects = [...store.objects()];
  await store.close();
  return objects;
}

const places = (objects: readonly StoredObject[]) =>
  objects.map(({ diaObjectId, position }) => [diaObjectId, position]);

test('positions in another frame are stored in ICRS, as --frame or the names of the columns state it', () =>
  withDirectory(async directory => {
    const given = JSON.parse(readFileSync(POSITIONS, 'utf8'));
    const { lon, lat, frames } = given as Record<'lon' | 'lat', number[]> & {
      frames: Record<string, Record<'ra' | 'dec', number[]>>;
    };
    const ids = lon.map((_, i) => BigInt(i + 1));
    const names = { 'FK4 B1950': ['RAB1950', 'DEB1950'], GALACTIC: ['l', 'b'], 'FK5 J1975': ['raj1975', 'dej1975'] };
    const run = async (frame: string, [ra, dec]: readonly string[], more: readonly string[]) => {
      const name = `${frame.replace(' ', '')}${more.length}`;
      const [file, data] = [join(directory, `${name}.parquet`), join(directory, name)];
      const [id, lons, lats] = tableOf(ids, lon, lat) as [Column, Column, Column];
      writeParquet(file, [id, { ...lons, name: ra! }, { ...lats, name: dec! }]);
      const columns = ['--id', 'objectId', '--ra', ra!, '--dec', dec!];
      await nearsky('ingest', '--data', data, '--table', file, ...columns, ...more);
      const objects = await stored(data);
      assert.is(objects.length, lon.length);
      for (const { diaObjectId, position } of objects) {
        const i = Number(diaObjectId) - 1;
        const expected = frames[frame]!;
        const apart = separationArcsec(position!.ra, position!.dec, expected.ra[i]!, expected.dec[i]!);
        assert.ok(apart < 1e-6, `${name} ${i}: ${apart}`);
      }
    };
    for (const frame of ['FK4 B1875', 'FK5 J2000', 'FK5 J1975', 'GALACTIC'])
      await run(frame, ['coord_ra', 'coord_dec'], ['--frame', frame]);
    for (const [frame, columns] of Object.entries(names)) await run(frame, columns, []);
    // The option goes before the names.
    await run('FK5 J1950', ['RAB1950', 'DEB1950'], ['--frame', 'FK5 J1950']);
    const args = ['ingest', '--data', directory, '--table', directory, ...COLUMNS, '--frame', 'ecl_FK5'];
    const { code, stderr } = await start(args).finished;
    assert.is(code, 2);
    assert.match(stderr, /--frame ecl_FK5: the frame ecl_FK5 is not converted/);
  }));

test('a file that astropy wrote declares the frame and the unit of its positions; --frame goes before it', () =>
  withDirectory(async directory => {
    const names = { fk4: ['sky.ra', 'sky.dec'], galactic: ['sky.l', 'sky.b'], hours: ['ra', 'dec'] };
    const expected = JSON.parse(readFileSync(join(DECLARED, 'positions.json'), 'utf8'));
    const run = async (file: string, [ra, dec]: readonly string[], more: readonly string[] = []) => {
      const data = join(directory, `${file}${more.length}`);
      const columns = ['--id', 'id', '--ra', ra!, '--dec', dec!, ...more];
      await nearsky('ingest', '--data', data, '--table', join(DECLARED, `${file}.parquet`), ...columns);
      return await stored(data);
    };
    for (const [file, columns] of Object.entries(names)) {
      const objects = await run(file, columns);
      assert.is(objects.length, 5, file);
      for (const [i, { position }] of objects.entries()) {
        const [ra, dec] = [expected[file][0][i], expected[file][1][i]];
        assert.ok(separationArcsec(position!.ra, position!.dec, ra, dec) < 1e-3, `${file}, row ${i}`);
      }
    }
    const [first] = await run('fk4', names.fk4, ['--frame', 'ICRS']);
    assert.equal([first!.position!.ra, first!.position!.dec], [0.5, -5]);
  }));

test('the rows of a file: ids exact, any right ascension; without an id rejected, without a position stored', () =>
  withDirectory(async directory => {
    const [file, data] = [join(directory, 'table.parquet'), join(directory, 'data')];
    const ids = [2n ** 62n + 1n, 5n, null, -1n, 7n, 2n ** 63n - 1n, 5n, 0n, -(2n ** 63n)];
    const table = tableOf(ids, [10.5, -90, 1, 1, null, 370, 8, 2, 2], [-30, 89.5, 0, 0, 3, 95, 8, 2, 2]);
    writeParquet(file, table);
    const args = ['ingest', '--data', data, '--table', file, ...COLUMNS];
    const counts = await nearsky(...args);
    assert.equal(
      [counts.read, counts.stored, counts.duplicate, counts.rejected, counts.without_position],
      [9, 4, 1, 4, 2],
    );
    const objects = await stored(data);
    assert.equal(places(objects), [
      [5n, { ra: 270, dec: 89.5 }],
      [7n, null],
      [2n ** 62n + 1n, { ra: 10.5, dec: -30 }],
      [2n ** 63n - 1n, null],
    ]);
    for (const { brokers, state, reliability } of objects)
      assert.equal([brokers, state, reliability], [['table'], 'pending', null]);
    // Storing it again, and under another name, duplicates nothing.
    assert.is((await nearsky(...args)).duplicate, 5);
    const { finished } = start(args, { TABLE_ORIGIN: 'rubin_dp1' });
    assert.is((await finished).code, 0);
    for (const { brokers } of await stored(data)) assert.equal(brokers, ['rubin_dp1', 'table']);
  }));

test('a directory of files, and a HATS catalog', () =>
  withDirectory(async directory => {
    const count = 200;
    const ids = Array.from({ length: count }, (_, i) => 2n ** 60n + BigInt(i));
    const ra = ids.map((_, i) => (i * 360) / count);
    const dec = ids.map((_, i) => 80 - (i * 150) / count);
    const expected = ids.map((id, i) => [id, { ra: ra[i], dec: dec[i] }]);
    const folder = join(directory, 'parts');
    mkdirSync(join(folder, 'deeper'), { recursive: true });
    mkdirSync(join(folder, '_temporary'));
    const part = (from: number, to: number) => tableOf(ids.slice(from, to), ra.slice(from, to), dec.slice(from, to));
    writeParquet(join(folder, 'a.PARQUET'), part(0, 90));
    writeParquet(join(folder, 'deeper/b.parq'), part(90, 150));
    writeParquet(join(folder, 'deeper/c.pq'), part(150, count));
    for (const hidden of ['.d.parquet', '_temporary/e.parquet'])
      writeParquet(join(folder, hidden), tableOf([1n], [1], [1]));
    const survey = { name: 'survey', ra: 'coord_ra', dec: 'coord_dec', columns: part(0, count) };
    writeHats(join(directory, 'hats'), { ...survey, maxRows: 20 });
    for (const name of ['parts', 'hats']) {
      const data = join(directory, `data-${name}`);
      const counts = await nearsky('ingest', '--data', data, '--table', join(directory, name), ...COLUMNS);
      assert.is(counts.stored, count);
      assert.equal(places(await stored(data)), expected);
    }
    const parts = writeHats(join(directory, 'folders'), { ...survey, suffix: '/', minOrder: 1 });
    const lost = dirname(parts[0]!.files[0]!);
    rmSync(join(directory, 'folders', lost), { recursive: true });
    const args = ['ingest', '--data', join(directory, 'data'), '--table', join(directory, 'folders'), ...COLUMNS];
    const { code, stderr } = await start(args).finished;
    assert.equal([code, stderr.includes(`because its partition ${lost}/ has no files`)], [1, true], stderr);
  }));

test('what cannot be is an error that says how to mend it', () =>
  withDirectory(async directory => {
    const [file, data] = [join(directory, 'table.parquet'), join(directory, 'data')];
    writeParquet(file, tableOf([1n], [1], [1]));
    const refused: [string[], number, RegExp][] = [
      [[join(directory, 'none'), ...COLUMNS], 1, /there is no such file or directory/],
      [[file, '--id', 'objectId', '--ra', 'coord_ra'], 2, /--table needs --dec COLUMN/],
      [
        [file, '--id', 'objectId', '--ra', 'ra', '--dec', 'coord_dec'],
        1,
        /has no column ra: it has objectId, coord_ra/,
      ],
      [
        [file, '--id', 'objectId', '--ra', 'refExtendedness', '--dec', 'coord_dec'],
        1,
        /type is float: it must be double/,
      ],
      [[file, ...COLUMNS, '--broker', 'lasair'], 2, /takes no --broker/],
      [[directory, ...COLUMNS], 0, /^$/],
    ];
    for (const [args, code, message] of refused) {
      const ended = await start(['ingest', '--data', data, '--table', ...args]).finished;
      assert.is(ended.code, code, ended.stderr);
      assert.match(ended.stderr, message);
    }
  }));

test.run();
