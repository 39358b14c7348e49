/** Crossmatched objects are crossmatched again if their recorded settings differ from the current ones. */
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { ByteSink } from '@nearsky/astrotables/bytes';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { readArea } from '../../../src/capabilities/catalogs/read_area.ts';
import { type AgainSelection, differsFrom } from '../../../src/capabilities/crossmatch/again.ts';
import { ObjectWriter } from '../../../src/core/answers/object_writer.ts';
import { SharedFragments } from '../../../src/core/answers/shared_fragments.ts';
import { PROJECT_CATALOGS } from '../../../src/core/contract/catalogs.ts';
import { readCounts } from '../../../src/core/store/counts.ts';
import { encodeObject, ObjectView } from '../../../src/core/store/object_record.ts';
import { encodeKey } from '../../../src/core/store/records.ts';
import { inWorld, PROVENANCE, type World } from './world.ts';

const test = suite('crossmatch/again');

const PLACES = [
  { ra: 10, dec: 5 },
  { ra: 10.1, dec: 5 },
];
const RELEASES = Object.fromEntries(PROVENANCE.catalogs.map(({ name, release }) => [name, release]));
const again: AgainSelection = {};

/** The outcomes of each version of an object. */
const outcomes = ({ store }: World, id: bigint) =>
  store.getObject(id)!.records.map(({ catalogOutcomes }) => Object.fromEntries(catalogOutcomes));

/** The number of objects that differ from these catalogs, each with its release here. */
function differing({ store }: World, radius: number, names: readonly string[], selection?: AgainSelection): number {
  const catalogs = names.map(name => ({ name, release: RELEASES[name] ?? name }));
  return store.countWhere(differsFrom(store, { crossmatch_radius_arcsec: radius, catalogs }, selection));
}

test('a new catalog: a second version, once; the first one stays', () =>
  inWorld(async world => {
    await world.addCatalog('gaia_dr3', PLACES);
    const ids = await world.ingest([...PLACES, null]);
    await world.crossmatch();
    assert.is((await world.crossmatch({ again })).objects, 0);
    await world.addCatalog('des_y6_gold', PLACES);
    assert.is(differing(world, 1, ['gaia_dr3', 'des_y6_gold']), 3);
    const { recorded } = await world.crossmatch({ again, batchSize: 2 });
    assert.is(recorded, 3);
    assert.equal(outcomes(world, ids[0]!), [
      { gaia_dr3: 'searched' },
      { gaia_dr3: 'searched', des_y6_gold: 'searched' },
    ]);
    assert.equal(outcomes(world, ids[2]!)[1], {
      gaia_dr3: 'not_searched_invalid_position',
      des_y6_gold: 'not_searched_invalid_position',
    });
    const { matches, state } = world.store.getObject(ids[0]!)!;
    assert.is(state, 'crossmatched');
    assert.equal(
      matches.map(({ matchVersion, catalogName }) => [matchVersion, catalogName]),
      [
        [1, 'gaia_dr3'],
        [2, 'des_y6_gold'],
        [2, 'gaia_dr3'],
      ],
    );
    assert.is((await world.crossmatch({ again })).objects, 0);
    assert.is(differing(world, 1, ['gaia_dr3', 'des_y6_gold']), 0);
  }));

test('another radius, another release; a selection by catalog and by time', () =>
  inWorld(async world => {
    await world.addCatalog('gaia_dr3', PLACES);
    await world.addCatalog('des_y6_gold', PLACES);
    const ids = await world.ingest(PLACES);
    await world.crossmatch();
    const both = ['gaia_dr3', 'des_y6_gold'];
    assert.is(differing(world, 1, both), 0);
    assert.is(differing(world, 2, both), 2);
    assert.is(differing(world, 1, [...both, 'skymapper_dr4']), 2);
    assert.is(differing(world, 1, [...both, 'skymapper_dr4'], { catalog: 'gaia_dr3' }), 0);
    assert.is(differing(world, 1, [...both, 'skymapper_dr4'], { catalog: 'skymapper_dr4' }), 2);
    // A catalog that is no longer configured makes no difference.
    assert.is(differing(world, 1, ['gaia_dr3']), 0);
    const madeUs = world.store.getObject(ids[0]!)!.records[0]!.crossmatchedAtUs;
    assert.is(differing(world, 2, both, { beforeUs: madeUs }), 0);
    assert.is(differing(world, 2, both, { beforeUs: madeUs + 1 }), 2);
    const settings = { ...PROVENANCE, crossmatch_radius_arcsec: 2 };
    assert.is((await world.crossmatch({ again: { beforeUs: madeUs }, provenance: () => settings })).objects, 0);
    assert.is((await world.crossmatch({ again, provenance: () => settings })).recorded, 2);
    const [, second] = world.store.getObject(ids[0]!)!.records;
    assert.is(world.store.provenanceSet(second!.provenanceSet).set.crossmatch_radius_arcsec, 2);
  }));

test('a source that the newest crossmatch does not find is history [Proper motion]', () =>
  inWorld(async world => {
    await world.addCatalog('gaia_dr3', [{ ra: 10, dec: 5 + 0.5 / 3600 }]);
    const [id] = await world.ingest([{ ra: 10, dec: 5 }]);
    await world.crossmatch();
    const smaller = { ...PROVENANCE, crossmatch_radius_arcsec: 0.4 };
    assert.is((await world.crossmatch({ again, provenance: () => smaller })).recorded, 1);
    const fragments = new SharedFragments({
      catalogs: PROJECT_CATALOGS,
      provenance: { ...smaller, service_version: '', contract_version: '' },
      recordingRelease: '',
      tnsUrlTemplate: '',
      tnsSnapshotMaxAgeSeconds: 0,
    });
    const [out, view] = [new ByteSink(), new ObjectView()];
    world.store.readObject(id!, view);
    new ObjectWriter(out, fragments, world.store, 'matches', world.store).entry(view);
    const { status, crossmatch, matches } = JSON.parse(`${Buffer.from(out.bytes).toString('latin1', 0, out.length)}}`);
    assert.equal([status, matches], ['no_coincident_source', []]);
    assert.is(crossmatch.match_version, 2);
    assert.is(crossmatch.provenance_set, world.store.provenanceSet(2).hash);
    assert.is(world.store.getObject(id!)!.matches.length, 1, 'it stays stored');
    assert.equal(readCounts(world.store.databases).matches, {});
  }));

test('a selection by area, in which an object without a position never is', () =>
  inWorld(async world => {
    await world.addCatalog('gaia_dr3', PLACES);
    const ids = await world.ingest([...PLACES, null]);
    await world.crossmatch();
    await world.addCatalog('des_y6_gold', PLACES);
    const reading = readArea(new TextEncoder().encode('CIRCLE 10.1 5 0.01'), undefined);
    let part = reading.next();
    while (!part.done) part = reading.next();
    assert.is((await world.crossmatch({ again: { area: part.value.area } })).recorded, 1);
    assert.equal(
      ids.map(id => outcomes(world, id).length),
      [1, 2, 1],
    );
  }));

test('an object keeps its last crossmatch while a catalog of that cannot be read; pending objects are left alone', () =>
  inWorld(async world => {
    const { location } = await world.addCatalog('gaia_dr3', PLACES);
    const ids = await world.ingest(PLACES);
    await world.crossmatch();
    const [pending] = await world.ingest([{ ra: 10, dec: 5 }], 9_000_000_000_000_000_000n);
    await world.addCatalog('des_y6_gold', PLACES);
    renameSync(join(location, 'dataset'), join(location, 'away'));
    const failed = await world.crossmatch({ again });
    assert.equal([failed.recorded, failed.unreadable], [0, 2]);
    assert.equal(outcomes(world, ids[0]!), [{ gaia_dr3: 'searched' }]);
    renameSync(join(location, 'away'), join(location, 'dataset'));
    assert.is((await world.crossmatch({ again })).recorded, 2);
    assert.is(outcomes(world, ids[0]!).length, 2);
    assert.equal(world.store.pendingIds(10), [pending]);
  }));

test('an object for which the same catalog cannot be read again is unchanged, and counts as unreadable', () =>
  inWorld(async world => {
    await world.addCatalog('gaia_dr3', PLACES);
    const { location } = await world.addCatalog('des_y6_gold', PLACES);
    const ids = await world.ingest(PLACES);
    renameSync(join(location, 'dataset'), join(location, 'away'));
    await world.crossmatch();
    const { objects, recorded, skipped, unreadable, statuses } = await world.crossmatch({ again });
    assert.equal([objects, recorded, skipped, unreadable, statuses.coincident_sources], [2, 0, 0, 2, 0]);
    assert.is((await world.crossmatch({ again: { lackStatistics: true } })).objects, 0);
    renameSync(join(location, 'away'), join(location, 'dataset'));
    assert.is((await world.crossmatch({ again })).recorded, 2);
    assert.is(outcomes(world, ids[0]!).length, 2);
  }));

test('two at once record each object once; an object without a record gets one', () =>
  inWorld(async world => {
    await world.addCatalog('gaia_dr3', PLACES);
    const [first] = await world.ingest(Array.from({ length: 40 }, (_, i) => ({ ra: 10 + i / 100, dec: 5 })));
    await world.crossmatch();
    await world.addCatalog('des_y6_gold', PLACES);
    const runs = await Promise.all([1, 2].map(() => world.crossmatch({ again, batchSize: 5 })));
    assert.is(
      runs.reduce((sum, { recorded }) => sum + recorded, 0),
      40,
    );
    assert.is(outcomes(world, first!).length, 2);
    await world.writer.import([{ kind: 'object', diaObjectId: 5n, object: world.store.getObject(first!)! }]);
    assert.is(differing(world, 1, ['gaia_dr3', 'des_y6_gold']), 1);
    assert.is((await world.crossmatch({ again })).recorded, 1);
    assert.equal(Object.keys(outcomes(world, 5n)[0]!), ['gaia_dr3', 'des_y6_gold']);
  }));

test('older crossmatches get the statistics that they lack, and nothing else of them changes', () =>
  inWorld(async world => {
    const { store } = world;
    const near = Array.from({ length: 20 }, (_, i) => ({ ra: 10 + i / 7200, dec: 5 }));
    await world.addCatalog('gaia_dr3', near);
    await world.addCatalog('des_y6_gold', PLACES);
    const ids = await world.ingest([...PLACES, { ra: 30, dec: 5 }, null]);
    await world.crossmatch();
    const lackStatistics = { lackStatistics: true };
    assert.is((await world.crossmatch({ again: lackStatistics })).objects, 0);
    const made = ids.map(id => store.getObject(id)!);
    assert.ok(made[0]!.matches.every(({ statistics }) => statistics));
    assert.ok(made[0]!.matches.some(({ statistics }) => statistics!.sourceDensity));
    const { objects } = store.databases;
    objects.transactionSync(() => {
      for (const { diaObjectId, ...object } of made) {
        const matches = object.matches.map(({ statistics, ...match }, i) =>
          // Some matches have statistics of an older version.
          i % 2 ? { ...match, statistics: { ...statistics!, version: 1 } } : match,
        );
        objects.put(encodeKey(diaObjectId), encodeObject({ ...object, matches }));
      }
    });
    assert.is((await world.crossmatch({ again })).objects, 0);
    const smaller = { ...PROVENANCE, crossmatch_radius_arcsec: 0.5 };
    const outdated = await world.crossmatch({ again: lackStatistics, provenance: () => smaller });
    assert.is(outdated.objects, 0, 'an outdated crossmatch is made again as a whole');
    const before = store.lastSequence();
    const runs = await Promise.all([1, 2].map(() => world.crossmatch({ again: lackStatistics, batchSize: 1 })));
    assert.is(
      runs.reduce((sum, { recorded }) => sum + recorded, 0),
      2,
    );
    store.resetRead();
    assert.equal(
      ids.map(id => store.getObject(id)),
      made,
    );
    assert.equal(
      store
        .journalAfter(before, 10)
        .map(({ delivered, crossmatched }) => [...delivered, ...crossmatched.map(() => 'crossmatched')])
        .sort(),
      [[ids[0]], [ids[1]]],
    );
    assert.is((await world.crossmatch({ again: lackStatistics })).objects, 0);
  }));

test.run();
