import { cpSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CatalogError } from '@nearsky/hats';
import { pixelOf } from '@nearsky/sky-index';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { columnNames } from '../../../src/core/contract/catalog.ts';
import { CATALOGS } from '../../../src/core/contract/catalogs.ts';
import { readCatalog } from '../../../src/core/store/catalog_registration.ts';
import { readCounts } from '../../../src/core/store/counts.ts';
import { statusOf } from '../../../src/core/store/status.ts';
import type { SkyPosition, StoredObject } from '../../../src/core/store/types.ts';
import { Writer } from '../../../src/core/store/writer.ts';
import { rejection } from '../../core/catalogs/support.ts';
import { type ExpectedMatch, expectedOutcome, nearestRow, separationsWithin } from '../../oracle/crossmatch.ts';
import { HARD_PLACES, offset, type Place, seededRandom } from '../../oracle/skies.ts';
import { onAnEdge } from './edges.ts';
import { inWorld, PROVENANCE, type World, type WrittenCatalog } from './world.ts';

const test = suite('crossmatcher');
const SKIES = Number(process.env.TEST_SKIES ?? 1);

/** Compares an object's record, matches and sources with a scan of all rows of each catalog. */
function checkObject(
  world: World,
  id: bigint,
  position: SkyPosition | null,
  catalogs: readonly WrittenCatalog[],
  radiusArcsec = 1,
): void {
  const object = world.store.getObject(id)!;
  assert.is(object.state, 'crossmatched');
  assert.is(object.records.length, 1);
  assert.equal(
    object.records[0]!.catalogOutcomes,
    catalogs.map(catalog => [catalog.name, expectedOutcome(catalog, position, radiusArcsec)]),
    `${id} at ${position?.ra} ${position?.dec}`,
  );
  // The store decides the order of the matches; the sources are parallel to them.
  const sources = world.store.getSources(id);
  assert.equal(
    new Map(
      object.matches.map(({ statistics: _, ...match }, at) => [match.catalogName, { match, source: sources[at] }]),
    ),
    new Map(
      catalogs.flatMap(catalog => {
        const nearest = position && nearestRow(catalog, position, radiusArcsec);
        return nearest ? [[catalog.name, expectedMatch(catalog, nearest)] as const] : [];
      }),
    ),
  );
  assert.is(sources.length, object.matches.length);
  for (const { catalogName, statistics } of object.matches) {
    const catalog = catalogs.find(({ name }) => name === catalogName)!;
    const within = separationsWithin(catalog, position!, radiusArcsec);
    const { sourcesWithinRadius, secondSeparationArcsec } = statistics!;
    assert.is(sourcesWithinRadius, within.length);
    assert.is(secondSeparationArcsec, within.length > 1 ? Number(within[1]!.toFixed(3)) : null);
  }
}

function expectedMatch(catalog: WrittenCatalog, { row, id, separationArcsec }: ExpectedMatch) {
  const source = { ra: catalog.ra[row], dec: catalog.dec[row], payload: payloadOf(catalog, row) };
  const match = { matchVersion: 1, catalogName: catalog.name, catalogSourceId: String(id), separationArcsec };
  return { match, source };
}

function payloadOf({ name, columns }: WrittenCatalog, row: number): Record<string, unknown> {
  const names = columnNames(CATALOGS.find(catalog => catalog.name === name)!);
  return Object.fromEntries(
    names.map(key => [key.toLowerCase(), columns.find(column => column.name === key)!.data[row] ?? null]),
  );
}

function stateOf(world: World, id: bigint): StoredObject['state'] {
  return world.store.getObject(id)!.state;
}

function outcomesOf(world: World, id: bigint): Record<string, string> {
  return Object.fromEntries(world.store.getObject(id)!.records.at(-1)!.catalogOutcomes);
}

function scatter(random: () => number, centres: readonly Place[], size: number, reachArcsec: number): Place[] {
  return Array.from({ length: size }, () =>
    offset(centres[Math.floor(random() * centres.length)]!, reachArcsec * random() ** 2, random() * 2 * Math.PI),
  );
}

for (let seed = 1; seed <= SKIES; seed++) {
  test(`four catalogs of mixed orders against a scan of all rows, sky ${seed}`, () =>
    inWorld(async world => {
      const random = seededRandom(seed);
      const edges = [0, 1, 2, 3, 4, 5, 6].flatMap(order => Array.from({ length: 12 }, () => onAnEdge(order, random)));
      const places = [...HARD_PLACES, ...edges];
      const size = 500;
      const sources = () => {
        const all: { ra: number | null; dec: number | null }[] = scatter(random, places, size, 6);
        for (let copy = 0; copy < 50; copy++) all.push(all[Math.floor(random() * size)]!);
        return [...all, { ra: null, dec: 1 }, { ra: Number.NaN, dec: 2 }, { ra: 12, dec: 99 }];
      };
      const catalogs = [
        await world.addCatalog('gaia_dr3', sources(), { maxRows: 25, rowGroupSize: 10 }),
        await world.addCatalog('des_y6_gold', sources(), { maxRows: 35, suffix: '/', healpixColumn: 'last' }),
        await world.addCatalog('delve_dr3_gold', sources(), {
          maxRows: 8,
          minOrder: 2,
          skymapOrder: 4,
          suffix: '.parq',
        }),
        await world.addCatalog('skymapper_dr4', sources(), { maxRows: 30, healpixColumn: 'none', skymapOrder: null }),
      ];
      assert.ok(catalogs.every(({ partitions }) => new Set(partitions.map(({ order }) => order)).size > 1));
      const positions = [...scatter(random, places, 600, 8), ...HARD_PLACES, null, null, { ra: 33.3, dec: 3.3 }];
      const ids = await world.ingest(positions);
      const summary = await world.crossmatch({ batchSize: 300 });
      assert.is(summary.recorded, ids.length);
      ids.forEach((id, at) => {
        checkObject(world, id, positions[at]!, catalogs);
      });
      const counts = readCounts(world.store.databases);
      assert.equal(summary.statuses, { ...summary.statuses, ...pick(counts.statuses, Object.keys(summary.statuses)) });
      assert.equal(summary.outcomes, counts.outcomes);
      assert.ok(summary.statuses.coincident_sources > 200 && summary.statuses.no_coincident_source > 100);
      assert.equal(world.store.pendingIds(10), []);
    }));
}

function pick(counts: Readonly<Record<string, number>>, keys: readonly string[]): Record<string, number> {
  return Object.fromEntries(keys.map(key => [key, counts[key] ?? 0]));
}

test('every outcome, status and count of a small sky [Ingest and states; Provenance]', () =>
  inWorld(async world => {
    const gaia = await world.addCatalog('gaia_dr3', [{ ra: 10, dec: -30 }]);
    const delve = await world.addCatalog('delve_dr3_gold', [
      { ra: 10, dec: -30 },
      { ra: 50, dec: -30 },
      { ra: null, dec: -30 },
    ]);
    const positions = [
      { ra: 10, dec: -30.0001 },
      { ra: 10.05, dec: -30 },
      { ra: 50, dec: -30 },
      { ra: 100, dec: 30 },
      null,
    ];
    const ids = await world.ingest(positions);
    const summary = await world.crossmatch();
    ids.forEach((id, at) => {
      checkObject(world, id, positions[at]!, [gaia, delve]);
    });
    assert.equal(summary, {
      objects: 5,
      recorded: 5,
      skipped: 0,
      unreadable: 0,
      unsearched: 0,
      statuses: { coincident_sources: 2, no_coincident_source: 1, not_searched: 2 },
      outcomes: {
        gaia_dr3: { searched: 2, outside_footprint: 2, not_searched_invalid_position: 1 },
        delve_dr3_gold: { searched: 3, outside_footprint: 1, not_searched_invalid_position: 1 },
      },
      problems: [],
      reads: { ...summary.reads, requests: 0, retries: 0, networkBytes: 0 },
      rowsPassedOver: { delve_dr3_gold: 1 },
    });
    assert.ok(summary.reads.diskBytes > 1000);
    const record = world.store.getObject(ids[0]!)!.records[0]!;
    const inService = PROVENANCE.catalogs.filter(({ name }) => ['gaia_dr3', 'delve_dr3_gold'].includes(name));
    assert.is(inService.length, 2);
    assert.equal(world.store.provenanceSet(record.provenanceSet).set, { ...PROVENANCE, catalogs: inService });
    assert.equal(record.brokersAtCrossmatch, ['lasair']);
    assert.ok(Math.abs(record.crossmatchedAtUs - Date.now() * 1000) < 60e6);
  }));

test('the radius is the one of the settings', () =>
  inWorld(async world => {
    const gaia = await world.addCatalog('gaia_dr3', [{ ra: 10, dec: -30 }]);
    const position = { ra: 10, dec: -30 + 3 / 3600 };
    const [id] = await world.ingest([position]);
    await world.crossmatch({ provenance: () => ({ ...PROVENANCE, crossmatch_radius_arcsec: 5 }) });
    checkObject(world, id!, position, [gaia], 5);
    assert.is(world.store.getObject(id!)!.matches.length, 1);
  }));

test('a footprint pixel away by less than the radius is searched, and a match there makes the outcome searched', () =>
  inWorld(async world => {
    const random = seededRandom(8);
    const found = { searched: 0, outside_footprint: 0 };
    const edges = Array.from({ length: 40 }, () => onAnEdge(8, random));
    // At order 8 the map has only the pixels of the sources, which lie half an arcsec to one side of the edges.
    const gaia = await world.addCatalog(
      'gaia_dr3',
      edges.map(edge => offset(edge, 0.4, 1)),
      { maxRows: 4 },
    );
    const positions = edges.flatMap(edge => [offset(edge, 0.4, 1 + Math.PI), offset(edge, 0.9, 1 + Math.PI)]);
    const ids = await world.ingest(positions);
    await world.crossmatch();
    for (const [at, id] of ids.entries()) {
      checkObject(world, id, positions[at]!, [gaia]);
      found[outcomesOf(world, id).gaia_dr3 as keyof typeof found]++;
    }
    assert.ok(found.searched > 30 && found.outside_footprint > 10, JSON.stringify(found));
  }));

test('without a catalog it is refused', () =>
  inWorld(async world => {
    const [id] = await world.ingest([{ ra: 1, dec: 1 }]);
    const error = await rejection(world.crossmatch());
    assert.instance(error, CatalogError);
    assert.match(error.message, /no catalog is registered: add one with nearsky catalog add/);
    assert.is(stateOf(world, id!), 'pending');
  }));

test('a catalog that cannot be read is skipped, where nothing else was searched too, and tried again as a new version [Ingest and states]', () =>
  inWorld(async world => {
    const places = [
      { ra: 10, dec: -30 },
      { ra: 200, dec: 40 },
    ];
    const gaia = await world.addCatalog('gaia_dr3', places, { minOrder: 2 });
    const delve = await world.addCatalog('delve_dr3_gold', [places[0]!]);
    for (const { files } of gaia.partitions) rmSync(join(gaia.location, files[0]!));
    const positions = [...places, { ra: 100, dec: 0 }, null];
    const [both, gaiaOnly, neither, invalid] = await world.ingest(positions);
    const summary = await world.crossmatch();
    assert.equal(outcomesOf(world, both!), { gaia_dr3: 'skipped_read_failure', delve_dr3_gold: 'searched' });
    assert.equal(
      world.store.getObject(both!)!.matches.map(match => match.catalogName),
      ['delve_dr3_gold'],
    );
    assert.equal(outcomesOf(world, gaiaOnly!), {
      gaia_dr3: 'skipped_read_failure',
      delve_dr3_gold: 'outside_footprint',
    });
    assert.is(statusOf(world.store.getObject(gaiaOnly!)!), 'not_searched');
    checkObject(world, neither!, positions[2]!, [gaia, delve]);
    checkObject(world, invalid!, null, [gaia, delve]);
    assert.equal([summary.objects, summary.recorded, summary.unreadable, summary.unsearched], [4, 4, 0, 1]);
    assert.equal(
      summary.problems.map(({ catalogName, objects }) => [catalogName, objects]),
      [
        ['gaia_dr3', 1],
        ['gaia_dr3', 1],
      ],
    );
    assert.match(summary.problems[0]!.reason, /ENOENT/);
    // If nothing has changed, there is no new version.
    const again = await world.crossmatch();
    assert.equal([again.recorded, again.unreadable], [0, 2]);
    assert.equal(world.store.unreadIds(9), [both, gaiaOnly]);
    // After the repair, the next run crossmatches again the objects that lacked a catalog.
    await world.register(world.writeCatalog('gaia_dr3', places, { minOrder: 2 }));
    assert.is((await world.crossmatch()).recorded, 2);
    assert.equal(world.store.unreadIds(9), []);
    for (const id of [both!, gaiaOnly!]) {
      const { records, matches } = world.store.getObject(id)!;
      assert.equal(
        records.map(({ matchVersion }) => matchVersion),
        [1, 2],
      );
      assert.ok(matches.some(({ catalogName, matchVersion }) => catalogName === 'gaia_dr3' && matchVersion === 2));
      assert.is(statusOf(world.store.getObject(id)!), 'coincident_sources');
    }
    assert.equal(outcomesOf(world, gaiaOnly!), { gaia_dr3: 'searched', delve_dr3_gold: 'outside_footprint' });
  }));

test('a retry that would lose what was searched before is no new version', () =>
  inWorld(async world => {
    const place = { ra: 10, dec: -30 };
    const gaia = await world.addCatalog('gaia_dr3', [place]);
    const delve = await world.addCatalog('delve_dr3_gold', [place]);
    const [gaiaFile, delveFile] = [gaia, delve].map(({ location, partitions }) =>
      join(location, partitions[0]!.files[0]!),
    );
    const gaiaBytes = readFileSync(gaiaFile!);
    rmSync(gaiaFile!);
    const [id] = await world.ingest([place]);
    await world.crossmatch();
    writeFileSync(gaiaFile!, gaiaBytes);
    rmSync(delveFile!);
    assert.equal((await world.crossmatch()).recorded, 0);
    assert.equal(outcomesOf(world, id!), { gaia_dr3: 'skipped_read_failure', delve_dr3_gold: 'searched' });
    assert.equal(world.store.unreadIds(9), [id]);
  }));

test('of two catalogs that could not be read, the one that can be read again is used at once', () =>
  inWorld(async world => {
    const place = { ra: 10, dec: -30 };
    const catalogs = [
      await world.addCatalog('gaia_dr3', [place]),
      await world.addCatalog('des_y6_gold', [place]),
      await world.addCatalog('delve_dr3_gold', [place]),
    ];
    const files = catalogs.map(({ location, partitions }) => join(location, partitions[0]!.files[0]!));
    const gaiaBytes = readFileSync(files[0]!);
    for (const file of files.slice(0, 2)) rmSync(file);
    const [id] = await world.ingest([place]);
    await world.crossmatch();
    writeFileSync(files[0]!, gaiaBytes);
    assert.is((await world.crossmatch()).recorded, 1);
    assert.equal(outcomesOf(world, id!), {
      gaia_dr3: 'searched',
      des_y6_gold: 'skipped_read_failure',
      delve_dr3_gold: 'searched',
    });
    assert.equal(world.store.unreadIds(9), [id]);
  }));

test('an object that needs two partitions has no match when one of them cannot be read', () =>
  inWorld(async world => {
    const random = seededRandom(5);
    const edge = onAnEdge(3, random);
    const places = Array.from({ length: 24 }, (_, at) => offset(edge, 0.5, (at * Math.PI) / 12));
    const gaia = await world.addCatalog('gaia_dr3', places, { minOrder: 3 });
    const delve = await world.addCatalog('delve_dr3_gold', [edge]);
    assert.ok(gaia.partitions.length > 1);
    const path = join(gaia.location, gaia.partitions[0]!.files[0]!);
    const whole = readFileSync(path);
    truncateSync(path, whole.length - 50);
    const [first, second] = await world.ingest([edge, offset(edge, 0.1, 2)]);
    await world.crossmatch();
    for (const id of [first!, second!]) {
      assert.equal(outcomesOf(world, id), { gaia_dr3: 'skipped_read_failure', delve_dr3_gold: 'searched' });
      assert.equal(
        world.store.getObject(id)!.matches.map(match => match.catalogName),
        ['delve_dr3_gold'],
      );
    }
    writeFileSync(path, whole);
    const [third] = await world.ingest([edge], 7n);
    await world.crossmatch();
    checkObject(world, third!, edge, [gaia, delve]);
  }));

test('of equal separations in two partitions the lowest id wins [What a match is worth]', () =>
  inWorld(async world => {
    // In the polar caps a meridian of 90 degrees is an edge between pixels of order 0.
    const step = 2 ** -13;
    const objects = [90, 180, 270].map(ra => ({ ra, dec: 60 }));
    const sources = objects.flatMap(({ ra, dec }) => [
      { ra: ra + step, dec },
      { ra: ra - step, dec },
    ]);
    const ids = [1n, 2n, 4n, 3n, 5n, 6n];
    const gaia = await world.addCatalog('gaia_dr3', sources, {}, ids);
    assert.is(gaia.partitions.length, 4);
    const found = await world.ingest(objects);
    await world.crossmatch();
    assert.equal(
      found.map(id => world.store.getObject(id)!.matches[0]!.catalogSourceId),
      ['1', '3', '5'],
    );
    found.forEach((id, at) => {
      checkObject(world, id, objects[at]!, [gaia]);
    });
  }));

test('a file of another schema holds nothing back: its catalog counts as skipped, with the reason, until it is mended', () =>
  inWorld(async world => {
    const places = [
      { ra: 10, dec: -30 },
      { ra: 200, dec: 40 },
    ];
    const gaia = await world.addCatalog('gaia_dr3', places, { minOrder: 2 });
    const delve = await world.addCatalog('delve_dr3_gold', places, { minOrder: 2 });
    const ofSecond = ({ ipix }: { ipix: number }) => ipix === pixelOf(2, 200, 40);
    const [from, to] = [delve.partitions.find(ofSecond)!, gaia.partitions.find(ofSecond)!];
    const path = join(gaia.location, to.files[0]!);
    const whole = readFileSync(path);
    cpSync(join(delve.location, from.files[0]!), path);
    const [first, second] = await world.ingest(places);
    const { recorded, unreadable, outcomes, problems } = await world.crossmatch();
    checkObject(world, first!, places[0]!, [gaia, delve]);
    assert.equal([recorded, stateOf(world, second!), unreadable], [2, 'crossmatched', 0]);
    assert.equal(outcomes.gaia_dr3, { searched: 1, skipped_read_failure: 1 });
    assert.equal(outcomes.delve_dr3_gold, { searched: 2 });
    assert.equal(
      problems.map(({ catalogName, kind, objects }) => [catalogName, kind, objects]),
      [['gaia_dr3', 'unusable', 1]],
    );
    assert.match(problems[0]!.reason, /has no column source_id, which the catalog had when it was added/);
    writeFileSync(path, whole);
    assert.is((await world.crossmatch()).recorded, 1);
    const { records } = world.store.getObject(second!)!;
    assert.equal(
      records.map(({ catalogOutcomes }) => catalogOutcomes.map(([, outcome]) => outcome)),
      [
        ['skipped_read_failure', 'searched'],
        ['searched', 'searched'],
      ],
    );
  }));

test('beside another crossmatch and an ingest every object is crossmatched once', () =>
  inWorld(async world => {
    const random = seededRandom(6);
    const places = scatter(random, HARD_PLACES, 300, 5);
    const gaia = await world.addCatalog('gaia_dr3', places, { maxRows: 30 });
    const positions = scatter(random, HARD_PLACES, 400, 5);
    const ids = await world.ingest(positions);
    const runs = [world.crossmatch({ batchSize: 23 }), world.crossmatch({ batchSize: 37 })];
    const later = await world.ingest(positions, 9_000_000_000_000_000_000n);
    const summaries = [...(await Promise.all(runs)), await world.crossmatch()];
    assert.is(
      summaries.reduce((sum, { recorded }) => sum + recorded, 0),
      800,
    );
    assert.ok(summaries.some(({ skipped }) => skipped > 0));
    [...ids, ...later].forEach((id, at) => {
      checkObject(world, id, positions[at % 400]!, [gaia]);
    });
    const crossmatched = world.store.journalAfter(0, 10_000).flatMap(entry => entry.crossmatched);
    assert.is(crossmatched.length, 800);
    assert.is(new Set(crossmatched).size, 800);
  }));

/** Records the results that are submitted. */
class WatchedWriter extends Writer {
  readonly handedIn: bigint[] = [];

  override recordCrossmatches(...args: Parameters<Writer['recordCrossmatches']>) {
    this.handedIn.push(...args[0].map(({ diaObjectId }) => diaObjectId));
    return super.recordCrossmatches(...args);
  }
}

test('of several crossmatches at once each does objects of its own', () =>
  inWorld(async world => {
    const random = seededRandom(7);
    const places = scatter(random, HARD_PLACES, 300, 5);
    await world.addCatalog('gaia_dr3', places, { maxRows: 30 });
    const ids = await world.ingest(scatter(random, HARD_PLACES, 500, 5));
    const writers = [20, 33, 70].map(batchSize => ({ batchSize, writer: new WatchedWriter(world.store) }));
    const summaries = await Promise.all(writers.map(options => world.crossmatch(options)));
    const handedIn = writers.flatMap(({ writer }) => writer.handedIn);
    assert.equal([handedIn.length, new Set(handedIn)], [500, new Set(ids)]);
    assert.ok(writers.every(({ writer }) => writer.handedIn.length > 0));
    for (const { objects, recorded, skipped } of summaries) assert.is(objects, recorded + skipped);
    assert.is(world.store.databases.claims.getKeysCount(), 0);
  }));

test('what another has claimed is awaited: crossmatched by it, or here once it has given up', () =>
  inWorld(async world => {
    const place = { ra: 10, dec: -30 };
    await world.addCatalog('gaia_dr3', [place]);
    const ids = await world.ingest(Array.from({ length: 6 }, () => place));
    const claim = await world.writer.claim(ids.slice(0, 4));
    const without = await world.crossmatch({ awaitOthers: false });
    assert.equal([without.objects, without.recorded], [2, 2]);
    let awaited: number[] = [];
    const onProgress = (progress: { awaited: number }) => {
      if (awaited.length === 1) void world.writer.dropClaim(claim);
      awaited = [...awaited, progress.awaited];
    };
    const result = { catalogOutcomes: [['gaia_dr3', 'searched']] as const, matches: [] };
    await world.writer.recordCrossmatches([{ diaObjectId: ids[0]!, ...result }], PROVENANCE, 1_767_225_600_000_000);
    const summary = await world.crossmatch({ onProgress });
    assert.equal([summary.objects, summary.recorded, summary.skipped], [3, 3, 0]);
    assert.equal(awaited.slice(0, 2), [3, 3]);
    const other = await world.ingest([place, place], 7n);
    const theirs = await world.writer.claim(other);
    const finish = () => {
      const results = other.map(diaObjectId => ({ diaObjectId, ...result }));
      void world.writer.recordCrossmatches(results, PROVENANCE, 1_767_225_600_000_000);
      void world.writer.dropClaim(theirs);
    };
    const second = await world.crossmatch({ onProgress: finish });
    assert.equal([second.objects, second.recorded, second.skipped], [2, 0, 2]);
  }));

test('objects that are put off are left alone, and those that cannot be read are named', () =>
  inWorld(async world => {
    const place = { ra: 10, dec: -30 };
    const gaia = await world.addCatalog('gaia_dr3', [place]);
    const ids = await world.ingest([place, place, place]);
    for (const { files } of gaia.partitions) rmSync(join(gaia.location, files[0]!));
    const unreadable: bigint[] = [];
    const summary = await world.crossmatch({
      staysPending: () => true,
      isDeferred: id => id === ids[1],
      onUnreadable: named => unreadable.push(...named),
    });
    assert.equal([summary.objects, summary.unreadable, unreadable], [2, 2, [ids[0], ids[2]]]);
    assert.is(world.store.databases.claims.getKeysCount(), 0);
  }));

test('a large batch is recorded in several commits, as its parts of the sky become complete', () =>
  inWorld(async world => {
    const places = Array.from({ length: 5000 }, (_, i) => ({ ra: (i * 0.072) % 360, dec: ((i * 7) % 160) - 80 }));
    await world.addCatalog('gaia_dr3', places, { maxRows: 400 });
    await world.ingest(places);
    const sequence = world.store.lastSequence();
    const done: number[] = [];
    const summary = await world.crossmatch({
      commitSize: 2000,
      onProgress: ({ objects }) => done.push(objects),
    });
    assert.equal([summary.recorded, summary.statuses.coincident_sources], [5000, 5000]);
    const sizes = world.store.journalAfter(sequence).map(({ crossmatched }) => crossmatched.length);
    assert.ok(sizes.length > 2 && sizes.every(size => size <= 2000), String(sizes));
    assert.ok(
      done.some(objects => objects > 0 && objects < 5000),
      'some are recorded before the last file is read',
    );
  }));

test('a commit names its objects in the order of their ids, which differ in the last of 18 digits alone', () =>
  inWorld(async world => {
    const places = Array.from({ length: 60 }, (_, i) => ({ ra: (i * 97) % 360, dec: ((i * 53) % 140) - 70 }));
    await world.addCatalog('gaia_dr3', places, { maxRows: 5 });
    const ids = await world.ingest(places, 313_637_935_709_683_700n);
    const sequence = world.store.lastSequence();
    await world.crossmatch();
    const named = world.store.journalAfter(sequence).flatMap(({ crossmatched }) => [...crossmatched]);
    assert.equal(named, ids);
  }));

test('stopped by its signal, it drops the batch in hand and keeps those before', () =>
  inWorld(async world => {
    await world.addCatalog('gaia_dr3', HARD_PLACES, { minOrder: 2 });
    const ids = await world.ingest(HARD_PLACES);
    const stop = new AbortController();
    const reason = new Error('enough');
    const onProgress = ({ objects }: { objects: number }) => {
      if (objects >= 8) stop.abort(reason);
    };
    assert.is(await rejection(world.crossmatch({ batchSize: 4, signal: stop.signal, onProgress })), reason);
    const states = ids.map(id => stateOf(world, id));
    assert.equal(states, [...Array(8).fill('crossmatched'), ...Array(ids.length - 8).fill('pending')]);
  }));

test('a catalog that is registered again is taken from the next batch on', () =>
  inWorld(async world => {
    const place = { ra: 10, dec: -30 };
    await world.addCatalog('gaia_dr3', [place], { minOrder: 4 }, [1n]);
    const before = readCatalog(world.store.databases, 'gaia_dr3')!;
    const ids = await world.ingest([place, place, place]);
    await world.addCatalog('gaia_dr3', [place], { minOrder: 5 }, [2n]);
    const after = { ...readCatalog(world.store.databases, 'gaia_dr3')!, addedAtUs: before.addedAtUs + 1 };
    await world.writer.commit({ kind: 'register_catalog', registration: before });
    const provenance = () => {
      world.writer.commit({ kind: 'register_catalog', registration: after });
      return PROVENANCE;
    };
    await world.crossmatch({ batchSize: 1, provenance });
    assert.equal(
      ids.map(id => world.store.getObject(id)!.matches[0]!.catalogSourceId),
      ['1', '2', '2'],
    );
  }));

test.run();
