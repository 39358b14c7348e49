/** Background crossmatching: when it begins, and when it retries. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { usesOtherRelease } from '../../../src/capabilities/crossmatch/again.ts';
import { BackgroundCrossmatch } from '../../../src/capabilities/crossmatch/background_crossmatch.ts';
import { loadConfig } from '../../../src/core/config/config.ts';
import { readCatalog } from '../../../src/core/store/catalog_registration.ts';
import { countPending } from '../../../src/core/store/object_tables.ts';
import { Writer } from '../../../src/core/store/writer.ts';
import { eventually } from '../../directory.ts';
import { inWorld, type World, type WrittenCatalog } from './world.ts';

const test = suite('crossmatch/background');

/** Several times as long as an interval between checks. */
const A_WHILE_MS = 1200;
const place = { ra: 10, dec: -30 };
const elsewhere = { ra: 200, dec: 40 };

interface Logged {
  readonly event: string;
  readonly [key: string]: unknown;
}

/** Runs with a background crossmatch of the world, whose clock the test advances. */
async function beside(
  world: World,
  settings: Readonly<Record<string, string>>,
  use: (logged: Logged[], advance: (ms: number) => void) => Promise<void>,
): Promise<void> {
  const config = loadConfig({ environment: { ...settings, NEARSKY_DATA: join(world.directory, 'data') } });
  const logged: Logged[] = [];
  let nowMs = 1000;
  const log = (event: string, fields = {}) => logged.push({ event, ...fields });
  const background = new BackgroundCrossmatch(world.store, new Writer(world.store), config, log, () => nowMs);
  try {
    await use(logged, ms => {
      nowMs += ms;
    });
  } finally {
    await background.close();
  }
}

const pendingCountOf = (world: World, count: number) =>
  eventually(`${count} objects are pending`, async () =>
    countPending(world.store.databases) === count ? true : undefined,
  );

function remove(catalog: WrittenCatalog): () => void {
  const files = catalog.partitions.map(({ files }) => join(catalog.location, files[0]!));
  const contents = files.map(file => readFileSync(file));
  for (const file of files) rmSync(file);
  return () => {
    for (const [i, file] of files.entries()) writeFileSync(file, contents[i]!);
  };
}

test('it waits for a full batch, or for the age of what waits', () =>
  inWorld(async world => {
    await world.addCatalog('gaia_dr3', [place]);
    const settings = { CROSSMATCH_BATCH_MAX_SIZE: '10', CROSSMATCH_BATCH_MAX_WAIT_SECONDS: '3600' };
    await beside(world, settings, async (logged, advance) => {
      await world.ingest(Array(9).fill(place));
      await sleep(A_WHILE_MS);
      assert.is(countPending(world.store.databases), 9);
      await world.ingest([place], 5n);
      await pendingCountOf(world, 0);
      await world.ingest([place], 6n);
      await sleep(A_WHILE_MS);
      assert.is(countPending(world.store.databases), 1);
      advance(3_600_000);
      await pendingCountOf(world, 0);
      await eventually('both are logged', async () => logged.length >= 2 || undefined);
      assert.equal(
        logged.map(({ event, recorded }) => [event, recorded]),
        [
          ['crossmatched', 10],
          ['crossmatched', 1],
        ],
      );
    });
  }));

test('what cannot be read is left alone while others go on, and tried again when it is due', () =>
  inWorld(async world => {
    const gaia = await world.addCatalog('gaia_dr3', [place]);
    await world.addCatalog('delve_dr3_gold', [elsewhere]);
    const restore = remove(gaia);
    await beside(world, { CROSSMATCH_BATCH_MAX_WAIT_SECONDS: '0' }, async (logged, advance) => {
      const attempts = () => logged.filter(({ unreadable }) => unreadable === 2).length;
      await world.ingest([place, place]);
      await eventually('it has tried', async () => attempts() || undefined);
      for (const id of [5n, 6n]) {
        await world.ingest([elsewhere], id);
        await pendingCountOf(world, 2);
      }
      assert.is(attempts(), 1);
      advance(10_000);
      await eventually('it has tried again', async () => (attempts() === 2 ? true : undefined));
      restore();
      advance(19_999);
      await sleep(A_WHILE_MS);
      assert.equal([attempts(), countPending(world.store.databases)], [2, 2]);
      advance(1);
      await pendingCountOf(world, 0);
    });
  }));

test('what cannot be read for ten minutes is recorded so, and crossmatched again when it can be read', () =>
  inWorld(async world => {
    const gaia = await world.addCatalog('gaia_dr3', [place]);
    const restore = remove(gaia);
    await beside(world, { CROSSMATCH_BATCH_MAX_WAIT_SECONDS: '0' }, async (logged, advance) => {
      const [id] = await world.ingest([place]);
      await eventually('it has tried', async () => (logged.length > 0 ? true : undefined));
      advance(10_000);
      await eventually('it has tried again', async () => (logged.length > 1 ? true : undefined));
      assert.is(countPending(world.store.databases), 1);
      advance(600_000);
      await pendingCountOf(world, 0);
      assert.equal(world.store.getObject(id!)!.records[0]!.catalogOutcomes, [['gaia_dr3', 'skipped_read_failure']]);
      restore();
      await eventually('it is crossmatched again', async () => {
        // A try that began before the file was back delays the next one.
        advance(600_000);
        return world.store.getObject(id!)!.records[1];
      });
      const { records, matches } = world.store.getObject(id!)!;
      assert.equal(records[1]!.catalogOutcomes, [['gaia_dr3', 'searched']]);
      assert.equal(
        matches.map(({ matchVersion }) => matchVersion),
        [2],
      );
      assert.equal(world.store.unreadIds(1), []);
    });
  }));

test('after a failure that is none of a single file it pauses, then goes on', () =>
  inWorld(async world => {
    await world.addCatalog('gaia_dr3', [place]);
    const registration = readCatalog(world.store.databases, 'gaia_dr3')!;
    await world.writer.commit({
      kind: 'register_catalog',
      registration: { ...registration, coverage: { ranges: [] } as never },
    });
    await beside(world, { CROSSMATCH_BATCH_MAX_WAIT_SECONDS: '0' }, async (logged, advance) => {
      await world.ingest([place]);
      const failures = () => logged.filter(({ event }) => event === 'crossmatch_failed');
      await eventually('it has failed', async () => failures()[0]);
      await world.ingest([place], 5n);
      await sleep(A_WHILE_MS);
      assert.equal(
        failures().map(({ retry_seconds }) => retry_seconds),
        [10],
      );
      advance(10_000);
      await eventually('it has failed again', async () => failures()[1]);
      assert.is(failures()[1]!.retry_seconds, 20);
      assert.is(world.store.databases.claims.getKeysCount(), 0);
      await world.writer.commit({ kind: 'register_catalog', registration });
      advance(20_000);
      await pendingCountOf(world, 0);
    });
  }));

/** Replaces gaia_dr3 by a release with a source at each place; returns the number of objects of an older release. */
async function replaceGaia(world: World): Promise<() => number> {
  const registration = readCatalog(world.store.databases, 'gaia_dr3')!;
  await world.writer.commit({
    kind: 'register_catalog',
    registration: { ...registration, release: 'Gaia DR4', replaced: 'Gaia DR3' },
  });
  const isOlder = usesOtherRelease(world.store, new Map([['gaia_dr3', 'Gaia DR4']]));
  return () => {
    world.store.resetRead();
    return world.store.countWhere(isOlder);
  };
}

test('after a catalog is replaced, older objects are crossmatched again, not faster than the setting says', () =>
  inWorld(async world => {
    await world.addCatalog('gaia_dr3', [place]);
    const ids = await world.ingest([...Array(29).fill(place), null]);
    await world.crossmatch();
    await world.ingest(Array(2).fill(elsewhere), 5n);
    const settings = { CROSSMATCH_AGAIN_PER_SECOND: '2', CROSSMATCH_BATCH_MAX_WAIT_SECONDS: '0' };
    await beside(world, settings, async (logged, advance) => {
      await pendingCountOf(world, 0);
      await sleep(A_WHILE_MS);
      const again = () => logged.filter(({ event }) => event === 'crossmatched_again');
      assert.equal(again(), [], 'no catalog was replaced');
      const olderCount = await replaceGaia(world);
      const left = (count: number) => eventually(`${count} are left`, async () => olderCount() === count || undefined);
      await left(12);
      await world.ingest([place], 9n);
      await pendingCountOf(world, 0);
      advance(9_999);
      await sleep(A_WHILE_MS);
      assert.is(olderCount(), 12, 'ten seconds have not passed');
      advance(1);
      await left(0);
      // It is logged after the commit.
      await eventually('both are logged', async () => again().length === 2 || undefined);
      assert.equal(
        again().map(({ recorded }) => recorded),
        [20, 12],
      );
      assert.is(
        world.store.getObject(9n)!.records.length,
        1,
        'a new object is crossmatched with the new release at once',
      );
      assert.equal(
        world.store.getObject(ids[0]!)!.records.map(({ provenanceSet }) => {
          const { catalogs } = world.store.provenanceSet(provenanceSet).set;
          return catalogs.map(({ release }) => release);
        }),
        [['Gaia DR3'], ['Gaia DR4']],
      );
    });
  }));

test('while the new release cannot be read, older objects keep their crossmatch; 0 objects per second: nothing happens', () =>
  inWorld(async world => {
    const gaia = await world.addCatalog('gaia_dr3', [place]);
    await world.ingest([place, place]);
    await world.crossmatch();
    const olderCount = await replaceGaia(world);
    await beside(world, { CROSSMATCH_AGAIN_PER_SECOND: '0' }, async () => {
      await sleep(A_WHILE_MS);
      assert.is(olderCount(), 2);
    });
    const restore = remove(gaia);
    await beside(world, {}, async (logged, advance) => {
      await eventually('it has tried', async () => logged[0]);
      advance(9_999);
      await sleep(A_WHILE_MS);
      assert.equal(
        logged.map(({ event, recorded, unreadable }) => [event, recorded, unreadable]),
        [['crossmatched_again', 0, 2]],
      );
      restore();
      advance(1);
      await eventually('they are crossmatched', async () => olderCount() === 0 || undefined);
    });
  }));

test('a file of the new release that cannot be read does not slow down the objects of the others', () =>
  inWorld(async world => {
    const gaia = await world.addCatalog('gaia_dr3', [elsewhere, place]);
    await world.ingest(Array.from({ length: 60 }, (_, i) => (i % 20 === 0 ? elsewhere : place)));
    await world.crossmatch();
    const olderCount = await replaceGaia(world);
    remove({ ...gaia, partitions: gaia.partitions.slice(0, 1) });
    await beside(world, { CROSSMATCH_AGAIN_PER_SECOND: '2' }, async (logged, advance) => {
      for (const left of [41, 22, 3]) {
        await eventually(`${left} are left`, async () => olderCount() === left || undefined);
        advance(10_000);
      }
      await eventually('the others have been tried', async () => logged.find(({ recorded }) => recorded === 0));
      assert.is(olderCount(), 3);
    });
  }));

test.run();
