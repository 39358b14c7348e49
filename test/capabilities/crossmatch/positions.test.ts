/** Searches with stored positions give the same answers, to the last bit, as searches that read the positions from the catalog. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openPositions } from '@nearsky/hats/positions';
import { PositionsWriter } from '@nearsky/hats/write_positions';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { part } from '../../../src/capabilities/catalogs/main.ts';
import { CatalogPositionsWriter, removePositions } from '../../../src/capabilities/catalogs/positions_writer.ts';
import { registerCatalog } from '../../../src/capabilities/catalogs/register.ts';
import { positionFilesOf } from '../../../src/capabilities/catalogs/stored_positions.ts';
import { type FileSearchTask, type MatchTask, runMatch } from '../../../src/capabilities/crossmatch/match_file.ts';
import { motionOf } from '../../../src/capabilities/crossmatch/motion.ts';
import { openCatalog, planCatalog } from '../../../src/capabilities/crossmatch/plan.ts';
import { reservedBytesAt } from '../../../src/core/base/disk.ts';
import { catalogDefinition } from '../../../src/core/contract/catalogs.ts';
import type { MainHost } from '../../../src/core/host.ts';
import { Exposition } from '../../../src/core/metrics/exposition.ts';
import { Pool } from '../../../src/core/pool/pool.ts';
import type { CatalogRegistration } from '../../../src/core/store/catalog_registration.ts';
import { openStore } from '../../../src/core/store/store.ts';
import { Writer } from '../../../src/core/store/writer.ts';
import { openLocalParquet } from '../../core/catalogs/support.ts';
import type { HatsOptions } from '../../core/catalogs/write_hats.ts';
import { eventually } from '../../directory.ts';
import { needs } from '../../needs.ts';
import { HARD_PLACES, offset, type Place, seededRandom } from '../../oracle/skies.ts';
import { fillDisk, mountSmallDisk } from '../../small_disk.ts';
import { inWorld, type World } from './world.ts';

const test = suite('crossmatch/positions');

const gaia = catalogDefinition('gaia_dr3')!;
const RADIUS_ARCSEC = 20;
/** The number of rows around each hard place. */
const CROWD = Number(process.env.TEST_CROWD ?? 4);

interface Made {
  readonly registration: CatalogRegistration;
  readonly kept: CatalogPositionsWriter;
  readonly dataDir: string;
  readonly objects: readonly Place[];
}

/** A catalog in crowds around the hard places, with ties, copies and rows without a position, and objects among them. */
async function made(world: World, seed: number, options: Partial<HatsOptions> = {}, isRounded = false): Promise<Made> {
  const random = seededRandom(seed);
  const around = (count: number) =>
    HARD_PLACES.flatMap(place =>
      Array.from({ length: count }, () => offset(place, 90 * random() ** 2, 2 * Math.PI * random())),
    );
  const exact = around(CROWD);
  const moved = exact.map(({ ra, dec }) => (isRounded ? { ra: Math.fround(ra), dec: Math.fround(dec) } : { ra, dec }));
  const rows: { ra: number | null; dec: number | null }[] = moved.map(({ ra, dec }, row) =>
    row % 41 === 0 ? { ra: null, dec } : row % 43 === 0 ? { ra, dec: 95 } : { ra: row % 3 ? ra : ra - 360, dec },
  );
  for (let row = 0; row + 7 < rows.length; row += 97) {
    rows[row + 7] = { ...rows[row]! };
    exact[row + 7] = exact[row]!;
  }
  const written = world.writeCatalog('gaia_dr3', rows, {
    rowGroupSize: 9,
    maxRows: 1.5 * CROWD,
    ...(isRounded && { pixelsOf: exact }),
    ...options,
  });
  const dataDir = join(world.directory, 'data');
  const kept = new CatalogPositionsWriter(dataDir);
  const registration = await registerCatalog(gaia, written.location, { addedAtUs: 1, positions: kept });
  const objects = [...around(2), ...exact.filter((_, row) => row % 5 === 0), ...HARD_PLACES];
  return { registration, kept, dataDir, objects };
}

const KINDS: Readonly<Record<string, Partial<FileSearchTask> & { readonly years?: number }>> = {
  nearest: { find: 'nearest' },
  all: { find: 'all' },
  'nearest at another epoch': { find: 'nearest', years: 9.5 },
  'all at another epoch': { find: 'all', years: -16 },
  'around the positions': { find: 'all', around: { magnitude: 'phot_g_mean_mag', withinArcsec: 1, brighterThan: 10 } },
};

/** The answers of all files to all kinds of search, without the bytes that were read. */
async function answers({ registration, objects }: Made, run: typeof runMatch, radiusArcsec = RADIUS_ARCSEC) {
  const [ra, dec] = [Float64Array.from(objects, each => each.ra), Float64Array.from(objects, each => each.dec)];
  const { location, columns } = registration;
  const all: Promise<string>[] = [];
  for (const [kind, { years, ...asked }] of Object.entries(KINDS)) {
    const motion = years === undefined ? undefined : motionOf(gaia, columns);
    const ofObjects = motion && ra.map(() => years!);
    const { searches } = planCatalog(openCatalog(registration, motion), ra, dec, radiusArcsec, ofObjects);
    for (const { file, hasAllRows, objects: own } of searches) {
      const pick = (values: Float64Array) => Float64Array.from(own, object => values[object]!);
      const task = {
        module: 'src/capabilities/crossmatch/match_file',
        kind: 'match',
        location,
        columns,
        file,
        hasAllRows,
        radiusArcsec,
        find: 'nearest',
        ra: pick(ra),
        dec: pick(dec),
        ...(motion && { motion: { ...motion, years: pick(ofObjects!) } }),
        ...asked,
      } as MatchTask;
      const one = async () => {
        const { reads, ...answer } = await run(task);
        assert.is(answer.outcome, 'searched');
        return JSON.stringify([kind, file, answer], bytesOf);
      };
      all.push(one());
    }
  }
  return Promise.all(all);
}

/** The arrays of an answer without loss, as JSON. */
function bytesOf(this: Record<string, unknown>, key: string): unknown {
  const value = this[key];
  if (!ArrayBuffer.isView(value)) return value;
  // Which bits a NaN has is not defined.
  if (value instanceof Float64Array) return Array.from(value, each => (Object.is(each, -0) ? '-0' : `${each}`));
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64');
}

/** Compares answers one member at a time. */
function assertSame(found: readonly string[], expected: readonly string[], what: string): void {
  assert.is(found.length, expected.length);
  for (const [i, text] of found.entries()) {
    if (text === expected[i]) continue;
    const [kind, file, { matches }] = JSON.parse(text);
    const other = JSON.parse(expected[i]!)[2].matches;
    for (const key of Object.keys(other))
      assert.equal(matches[key], other[key], `${what}: ${key} of ${kind} in ${file}`);
    assert.is(text, expected[i]);
  }
}

async function withStored<T>({ dataDir }: Made, use: (run: typeof runMatch) => Promise<T>): Promise<T> {
  const threads = new Pool({ threads: 1, threadData: { dataDir, catalogs: { memoryBytes: 1 << 20 } } });
  try {
    return await use(task => threads.run(task as MatchTask));
  } finally {
    await threads.close();
  }
}

/** What can be done with the stored positions of each file. */
async function usable({ registration, dataDir }: Made): Promise<(string | undefined)[]> {
  const { location, columns, partitions } = registration;
  const files = positionFilesOf(dataDir, location, columns)!;
  return Promise.all(
    partitions
      .flatMap(partition => partition.files)
      .map(async name => {
        const parquet = await openLocalParquet(join(location, name));
        const positions = openPositions(files.pathOf(name), parquet);
        parquet.close();
        if (typeof positions === 'string') return positions;
        positions[Symbol.dispose]();
        return undefined;
      }),
  );
}

const VARIANTS: Readonly<Record<string, readonly [options: Partial<HatsOptions>, isRounded?: boolean]>> = {
  sorted: [{}],
  'not sorted, without pixels': [{ healpixColumn: 'none', sorted: false }],
  'not sorted within their pixels, as positions were rounded': [{}, true],
  'several files of a partition': [{ suffix: '/' }],
  'one row group, without statistics': [{ rowGroupSize: 100_000, statistics: false }],
  'small row groups, not nullable, compressed': [{ rowGroupSize: 37, codec: 'UNCOMPRESSED' }],
};

for (const [name, [options, isRounded]] of Object.entries(VARIANTS))
  test(`rows that are ${name} [Sources]`, () =>
    inWorld(async world => {
      const catalog = await made(world, 3, options, isRounded);
      assert.is(catalog.kept.problem, undefined);
      assert.ok((await usable(catalog)).every(each => each === undefined));
      await withStored(catalog, async run => {
        for (const radius of [1, 60])
          assertSame(await answers(catalog, run, radius), await answers(catalog, runMatch, radius), `${radius} arcsec`);
      });
    }));

test('positions that are missing, damaged, cut short or of another file are not used', () =>
  inWorld(async world => {
    const catalog = await made(world, 5);
    const files = positionFilesOf(catalog.dataDir, catalog.registration.location, catalog.registration.columns)!;
    const paths = readdirSync(files.directory).map(name => join(files.directory, name));
    assert.is(paths.length, catalog.kept.files);
    const whole = join(world.directory, 'whole');
    cpSync(files.directory, whole, { recursive: true });
    const expected = await answers(catalog, runMatch);
    const random = seededRandom(1);
    const damages: Readonly<Record<string, (path: string, bytes: Buffer) => void>> = {
      missing: path => rmSync(path),
      'cut short': (path, { length }) => truncateSync(path, Math.floor(length * random())),
      empty: path => truncateSync(path, 0),
      'a byte of a page': (path, bytes) => {
        bytes[Math.floor(random() * 0.8 * bytes.length)]! ^= 1 << Math.floor(8 * random());
        writeFileSync(path, bytes);
      },
      'any byte': (path, bytes) => {
        bytes[Math.floor(random() * bytes.length)]! ^= 1 << Math.floor(8 * random());
        writeFileSync(path, bytes);
      },
      zeros: (path, { length }) => writeFileSync(path, Buffer.alloc(length)),
      'of another file': path => cpSync(paths[0] === path ? paths[1]! : paths[0]!, path),
    };
    await withStored(catalog, async run => {
      for (const [damage, apply] of Object.entries(damages)) {
        cpSync(whole, files.directory, { recursive: true });
        for (const path of paths) apply(path, readFileSync(path));
        assertSame(await answers(catalog, run), expected, damage);
      }
    });
  }));

test('positions of a former version of a file are not used', () =>
  inWorld(async world => {
    const catalog = await made(world, 6);
    const { location, partitions } = catalog.registration;
    const path = join(location, partitions[0]!.files[0]!);
    utimesSync(path, new Date(), new Date(0));
    assert.equal((await usable(catalog)).filter(Boolean), ['stale']);
    await withStored(catalog, async run =>
      assertSame(await answers(catalog, run), await answers(catalog, runMatch), 'stale'),
    );
    // The same size and time of modification.
    await made(world, 6);
    const time = new Date(2_000_000);
    utimesSync(path, time, time);
    const kept = new CatalogPositionsWriter(catalog.dataDir);
    await registerCatalog(gaia, location, { addedAtUs: 1, positions: kept });
    assert.is(kept.unusable, 1);
    assert.equal((await usable(catalog)).filter(Boolean), []);
    const bytes = readFileSync(path);
    // A digit of the writer's name in the footer.
    bytes[bytes.lastIndexOf('hyparquet')]! ^= 1;
    writeFileSync(path, bytes);
    utimesSync(path, time, time);
    assert.equal((await usable(catalog)).filter(Boolean), ['stale']);
  }));

test('a failure to store positions is named and fails nothing; removal removes them', () =>
  inWorld(async world => {
    const catalog = await made(world, 7);
    const files = positionFilesOf(catalog.dataDir, catalog.registration.location, catalog.registration.columns)!;
    removePositions(catalog.dataDir, catalog.registration, [catalog.registration]);
    assert.ok(readdirSync(files.directory).length > 0);
    removePositions(catalog.dataDir, catalog.registration, []);
    assert.not.ok(readdirSync(join(catalog.dataDir, 'catalog-positions')).length);
    writeFileSync(files.directory, 'a file where the directory has to be');
    const kept = new CatalogPositionsWriter(catalog.dataDir);
    const again = await registerCatalog(gaia, catalog.registration.location, { addedAtUs: 1, positions: kept });
    assert.equal(again, catalog.registration);
    assert.is(kept.files, 0);
    assert.match(kept.problem!, /EEXIST|ENOTDIR/);
  }));

test('a service counts the files by the state of their positions, and logs those that became unusable', () =>
  inWorld(async world => {
    const { registration, dataDir } = await made(world, 10);
    mkdirSync(dataDir, { recursive: true });
    const store = openStore(dataDir, 'write');
    await new Writer(store).commit({ kind: 'register_catalog', registration });
    await store.close();
    const files = registration.partitions.flatMap(partition => partition.files);
    const { pathOf } = positionFilesOf(dataDir, registration.location, registration.columns)!;
    rmSync(pathOf(files[0]!));
    truncateSync(pathOf(files[1]!), 100);
    utimesSync(join(registration.location, files[2]!), new Date(), new Date(0));
    const logged: unknown[] = [];
    const log = (event: string, fields: object) => void logged.push({ event, ...fields });
    const watch = part({ config: { NEARSKY_DATA: dataDir }, log } as unknown as MainHost);
    watch.start!();
    try {
      const states = { usable: files.length - 3, missing: 1, stale: 1, damaged: 1, unreadable: 0 };
      await eventually('positions are counted', async () => logged[0]);
      assert.equal(logged, [{ event: 'positions_unusable', catalog: 'gaia_dr3', ...states }]);
      const exposition = new Exposition();
      watch.addMetrics!(exposition);
      for (const [state, count] of Object.entries(states))
        assert.match(
          exposition.text(),
          `nearsky_catalog_position_files{catalog="gaia_dr3",state="${state}"} ${count}\n`,
        );
    } finally {
      await watch.close!();
    }
  }));

const small = mountSmallDisk('1m');
test.after(() => small?.unmount());

needs(test, small ? undefined : 'this process may not mount a small disk')(
  'a disk that becomes full: the same answers, the failure is named, and nothing half written stays',
  () =>
    inWorld(async world => {
      const catalog = await made(world, 12);
      const { location, columns } = catalog.registration;
      const dataDir = join(small!.directory, 'data');
      mkdirSync(dataDir);
      fillDisk(small!.directory, reservedBytesAt(dataDir) + 4096 * (catalog.kept.files / 2));
      const kept = new CatalogPositionsWriter(dataDir);
      const registration = await registerCatalog(gaia, location, { addedAtUs: 1, positions: kept });
      assert.equal(registration, catalog.registration);
      assert.ok(kept.files > 0 && kept.files < catalog.kept.files);
      assert.is(kept.problem, 'the disk has no space for them');
      const { directory } = positionFilesOf(dataDir, location, columns)!;
      assert.is(readdirSync(directory).length, kept.files);
      await withStored({ ...catalog, dataDir }, async run =>
        assertSame(await answers(catalog, run), await answers(catalog, runMatch), 'a full disk'),
      );
      // Another process takes the space while positions are written.
      fillDisk(small!.directory, 0);
      const many = new Float64Array(20_000);
      assert.throws(
        () => {
          using writer = new PositionsWriter(join(directory, 'large.positions'));
          writer.addGroup(many, many);
          writer.end({ byteLength: 1, modifiedNs: 1n, footerChecksum: 1 });
        },
        // Deno's messages have no code.
        (error: NodeJS.ErrnoException) => error.code === 'ENOSPC',
      );
      assert.is(readdirSync(directory).length, kept.files);
    }),
);

test('files of killed processes are removed, those of running ones are not', () =>
  inWorld(async world => {
    const { registration, dataDir, kept } = await made(world, 13);
    const { directory } = positionFilesOf(dataDir, registration.location, registration.columns)!;
    const { pid: killed } = spawnSync(process.execPath, ['--version']);
    const left = [killed, process.ppid].map(pid => `dataset,a.positions.${pid}-0.part`);
    for (const name of left) writeFileSync(join(directory, name), 'half');
    const again = new CatalogPositionsWriter(dataDir);
    await registerCatalog(gaia, registration.location, { addedAtUs: 1, positions: again });
    assert.is(again.files, kept.files);
    assert.equal(
      readdirSync(directory).filter(name => name.endsWith('.part')),
      [left[1]],
    );
  }));

test('positions of partitions that the catalog has no longer are removed', () =>
  inWorld(async world => {
    const catalog = await made(world, 8);
    rmSync(catalog.registration.location, { recursive: true });
    const fewer = await made(world, 9, { maxRows: 100_000 });
    const files = positionFilesOf(fewer.dataDir, fewer.registration.location, fewer.registration.columns)!;
    assert.is(readdirSync(files.directory).length, fewer.kept.files);
    assert.ok(fewer.kept.files < catalog.kept.files);
  }));

test.run();
