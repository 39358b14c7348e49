import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { open } from 'lmdb';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { readCatalog, readCatalogs } from '../../../src/core/store/catalog_registration.ts';
import { readCounts } from '../../../src/core/store/counts.ts';
import { FORMAT_VERSION } from '../../../src/core/store/environment.ts';
import { encodePlain } from '../../../src/core/store/records.ts';
import { openStore } from '../../../src/core/store/store.ts';
import { StoreError } from '../../../src/core/store/store_error.ts';
import { Writer } from '../../../src/core/store/writer.ts';
import { withDirectory } from '../../directory.ts';
import { delivery, failure, provenance, putObject, recounted, result, withStore } from './support.ts';

const test = suite('store');
const ID = 170055002004914266n;
const MAX_ID = 2n ** 63n - 1n;

test('the first delivery fixes everything; a later one adds only its broker; the same again nothing [Ingest and states]', () =>
  withStore(async (store, writer) => {
    assert.equal(await writer.ingest([delivery(ID)], 5_000), { stored: 1, delivered: 0, duplicate: 0 });
    const later = { position: null, reliability: null, eventTimeUs: 1 };
    const second = await writer.ingest([delivery(ID, { ...later, broker: 'antares' })], 6_000);
    assert.equal(second, { stored: 0, delivered: 1, duplicate: 0 });
    const third = await writer.ingest([delivery(ID, later), delivery(ID, { ...later, broker: 'antares' })], 7_000);
    assert.equal(third, { stored: 0, delivered: 0, duplicate: 2 });
    assert.equal(store.getObject(ID), {
      diaObjectId: ID,
      position: { ra: 186.66952249928116, dec: -6.714927120071068 },
      reliability: 0.97,
      ingestTimeUs: 5_000,
      eventTimeUs: 1_772_010_265_123_456,
      state: 'pending',
      brokers: ['antares', 'lasair'],
      records: [],
      matches: [],
      tns: null,
    });
    assert.equal(store.journalAfter(0), [
      { sequence: 1, stored: [ID], delivered: [], crossmatched: [], removed: [] },
      { sequence: 2, stored: [], delivered: [ID], crossmatched: [], removed: [] },
    ]);
    assert.is(store.lastSequence(), 2, 'nothing changed in the third commit');
  }));

test('an object that comes twice in one commit is as if it came in two', () =>
  withStore(async (store, writer) => {
    const counts = await writer.ingest(
      [delivery(ID, { reliability: null }), delivery(ID, { broker: 'pittgoogle' }), delivery(ID), delivery(7n)],
      5_000,
    );
    assert.equal(counts, { stored: 2, delivered: 1, duplicate: 1 });
    assert.is(store.getObject(ID)?.reliability, null);
    assert.equal(store.getObject(ID)?.brokers, ['lasair', 'pittgoogle']);
    assert.equal(store.journalAfter(0), [
      { sequence: 1, stored: [7n, ID], delivered: [ID], crossmatched: [], removed: [] },
    ]);
  }));

test('ids are exact and ordered as numbers over all of 0 to 2^63 - 1', () =>
  withStore(async (store, writer) => {
    const ids = [
      0n,
      1n,
      255n,
      256n,
      2n ** 32n - 1n,
      2n ** 32n,
      2n ** 53n,
      2n ** 53n + 1n,
      ID,
      ID + 1n,
      MAX_ID - 1n,
      MAX_ID,
    ];
    await writer.ingest(
      [...ids].reverse().map(id => delivery(id)),
      5_000,
    );
    assert.equal(
      [...store.objects()].map(object => object.diaObjectId),
      ids,
    );
    assert.equal(store.pendingIds(100), ids);
    assert.equal(store.pendingIds(3, 2n ** 53n), [2n ** 53n + 1n, ID, ID + 1n]);
    assert.equal(store.pendingIds(3, MAX_ID), []);
    assert.is(store.getObject(ID - 1n), undefined);
    for (const id of ids) assert.is(store.getObject(id)?.diaObjectId, id);
  }));

test('a crossmatch records outcomes, matches, sources and provenance, and takes the object out of the pending', () =>
  withStore(async (store, writer) => {
    await writer.ingest([delivery(ID), delivery(8n), delivery(9n)], 5_000);
    const gaia = { ra: 1.5, dec: -2.5, payload: { phot_g_mean_mag: 17.25, ruwe: null, solution_id: 2n ** 62n + 1n } };
    const bare = { ra: null, dec: null, payload: null };
    const results = [result(ID, [gaia, bare]), result(9n), result(10n)];
    assert.equal(await writer.recordCrossmatches(results, provenance, 6_000), { recorded: 2, skipped: 1 });
    assert.equal(await writer.recordCrossmatches(results, provenance, 7_000), { recorded: 0, skipped: 3 });
    const object = store.getObject(ID)!;
    assert.is(object.state, 'crossmatched');
    assert.equal(object.records, [
      {
        matchVersion: 1,
        crossmatchedAtUs: 6_000,
        provenanceSet: 1,
        brokersAtCrossmatch: ['lasair'],
        catalogOutcomes: result(ID).catalogOutcomes,
      },
    ]);
    assert.equal(object.matches, [
      { matchVersion: 1, catalogName: 'gaia_dr3', catalogSourceId: '4611686018427387904', separationArcsec: 0.25 },
      { matchVersion: 1, catalogName: 'gaia_dr3', catalogSourceId: '4611686018427387905', separationArcsec: 1.25 },
    ]);
    assert.equal(store.getSources(ID), [gaia, bare]);
    assert.equal(store.getSources(9n), []);
    assert.equal(store.provenanceSet(1).set, provenance);
    assert.equal(store.pendingIds(10), [8n]);
    assert.equal(store.journalAfter(1), [
      { sequence: 2, stored: [], delivered: [], crossmatched: [ID, 9n], removed: [] },
    ]);
    await writer.ingest([delivery(ID, { broker: 'antares' })], 8_000);
    assert.equal(store.getObject(ID), { ...object, brokers: ['antares', 'lasair'] }, 'brokersAtCrossmatch is frozen');
    assert.throws(() => store.provenanceSet(2), /entry 2/);
  }));

test('a further crossmatch of an object has the next version, and the older ones are kept', () =>
  withStore(async (store, writer) => {
    const [first, second] = [1, 2].map(ra => ({ ra, dec: 0, payload: { ruwe: ra } }));
    await writer.ingest([delivery(ID)], 5_000);
    await writer.recordCrossmatches([result(ID, [first!])], provenance, 6_000);
    putObject(store, { ...store.getObject(ID)!, state: 'pending' });
    await writer.recordCrossmatches([result(ID, [second!])], provenance, 7_000);
    const object = store.getObject(ID)!;
    assert.equal(
      object.records.map(record => [record.matchVersion, record.crossmatchedAtUs]),
      [
        [1, 6_000],
        [2, 7_000],
      ],
    );
    assert.equal(
      object.matches.map(match => match.matchVersion),
      [1, 2],
    );
    assert.equal(store.getSources(ID), [first, second]);
    assert.is(readCounts(store.databases).matches.gaia_dr3, 1, 'only those of the current crossmatch count');
  }));

test('equal provenance is stored once, whatever the order of its keys; its hash is that of its canonical JSON', () =>
  withStore(async (store, writer) => {
    await writer.ingest([delivery(1n), delivery(2n), delivery(3n)], 5_000);
    await writer.recordCrossmatches([result(1n)], provenance, 6_000);
    await writer.recordCrossmatches([result(2n)], { ...provenance, crossmatch_radius_arcsec: 2 }, 6_000);
    const { reliability_cuts, catalogs, crossmatch_radius_arcsec } = provenance;
    const reordered = {
      reliability_cuts: reliability_cuts.map(cut => ({ ...cut })).map(reverseKeys),
      catalogs,
      crossmatch_radius_arcsec,
    };
    await writer.recordCrossmatches([result(3n)], reordered, 6_000);
    assert.equal(
      [1n, 2n, 3n].map(id => store.getObject(id)?.records[0]?.provenanceSet),
      [1, 2, 1],
    );
    // Python: sha256(json.dumps(provenance, sort_keys=True, separators=(',', ':')).encode()).hexdigest()
    assert.is(store.provenanceSet(1).hash, 'bf35f3d4383fb996c30e4a5b8261ea6b954a9f431e0a2126c95ee463b211ecff');
    assert.is.not(store.provenanceSet(2).hash, store.provenanceSet(1).hash);
  }));

function reverseKeys<T extends object>(object: T): T {
  return Object.fromEntries(Object.entries(object).reverse()) as T;
}

test('what is stored is there after reopening', () =>
  withDirectory(async directory => {
    const data = join(directory, 'new', 'data');
    const first = openStore(data, 'write');
    await new Writer(first).ingest([delivery(ID)], 5_000);
    const object = first.getObject(ID);
    await first.close();
    assert.is(statSync(data).mode & 0o777, 0o700);
    for (const mode of ['read', 'write'] as const) {
      const again = openStore(data, mode);
      assert.equal(again.getObject(ID), object);
      assert.is(again.lastSequence(), 1);
      await again.close();
    }
  }));

test('a catalog is registered under its name, bytes and all, and replaced', () =>
  withStore(async (store, writer) => {
    const registration = (location: string) => ({
      name: 'gaia_dr3' as const,
      location,
      addedAtUs: 1_772_010_265_123_456,
      partitions: [{ order: 1, ipix: 47, files: ['dataset/Norder=1/Dir=0/Npix=47.parquet'] }],
      columns: { id: 'source_id', ra: 'ra', dec: 'dec', payload: [{ key: 'ruwe', column: null }] },
      coverage: { order: 8, ranges: new Uint8Array([1, 2, 254, 255]), source: 'rows', pixelsLeftOut: 0 },
      counted: null,
      hats: { rows: 13, builder: null, releaseDate: null },
    });
    await writer.commit({ kind: 'register_catalog', registration: registration('/a') });
    await writer.commit({ kind: 'register_catalog', registration: { ...registration('/d'), name: 'des_y6_gold' } });
    await writer.commit({ kind: 'register_catalog', registration: registration('/b') });
    assert.equal(
      readCatalogs(store.databases).map(({ name, location }) => [name, location]),
      [
        ['des_y6_gold', '/d'],
        ['gaia_dr3', '/b'],
      ],
    );
    const stored = readCatalog(store.databases, 'gaia_dr3')!;
    assert.equal(
      { ...stored, coverage: { ...stored.coverage, ranges: [...stored.coverage.ranges] } },
      {
        ...registration('/b'),
        coverage: { ...registration('/b').coverage, ranges: [1, 2, 254, 255] },
      },
    );
    assert.is(readCatalog(store.databases, 'skymapper_dr4'), undefined);
    assert.is(store.lastSequence(), 0);
  }));

test('an error inside a commit leaves nothing of it', () =>
  withStore(async (store, writer) => {
    await writer.ingest([delivery(1n)], 5_000);
    const bad = Object.defineProperty({ ...delivery(3n) }, 'position', {
      get: () => {
        throw new TypeError('no position today');
      },
    });
    const error = await failure(() => writer.ingest([delivery(2n), delivery(1n, { broker: 'antares' }), bad], 6_000));
    assert.is(error.message, 'no position today');
    assert.equal(
      [...store.objects()].map(object => [object.diaObjectId, object.brokers]),
      [[1n, ['lasair']]],
    );
    assert.equal(store.pendingIds(10), [1n]);
    assert.is(store.lastSequence(), 1);
    await writer.ingest([delivery(2n)], 7_000);
    assert.is(store.lastSequence(), 2);
  }));

test('what a rolled back commit would have interned is interned again by the next', () =>
  withStore(async (store, writer) => {
    await writer.ingest([delivery(1n), delivery(2n)], 5_000);
    const source = { ra: 1, dec: 2, payload: { ruwe: 1.5 } };
    const bad = Object.defineProperty({ ...result(2n) }, 'matches', {
      get: () => {
        throw new TypeError('no matches today');
      },
    });
    await failure(() => writer.recordCrossmatches([result(1n, [source]), bad], provenance, 6_000));
    assert.equal(store.pendingIds(10), [1n, 2n]);
    const other = { ra: 1, dec: 2, payload: { parallax: 2.5, pmra: -1 } };
    await writer.recordCrossmatches([result(2n, [other])], { ...provenance, catalogs: [] }, 6_000);
    await writer.recordCrossmatches([result(1n, [source])], provenance, 6_000);
    assert.equal(store.getSources(1n), [source]);
    assert.equal(store.getSources(2n), [other]);
    assert.equal(store.provenanceSet(store.getObject(1n)!.records[0]!.provenanceSet).set, provenance);
    assert.equal(store.provenanceSet(store.getObject(2n)!.records[0]!.provenanceSet).set.catalogs, []);
  }));

test('the iteration over the objects is one snapshot', () =>
  withStore(async (store, writer) => {
    await writer.ingest(
      [1n, 2n, 3n].map(id => delivery(id)),
      5_000,
    );
    const seen: bigint[] = [];
    for (const object of store.objects()) {
      if (seen.length === 0) await writer.ingest([delivery(4n)], 6_000);
      seen.push(object.diaObjectId);
    }
    assert.equal(seen, [1n, 2n, 3n]);
    assert.is([...store.objects()].length, 4);
  }));

test('counts what is stored', () =>
  withStore(async (store, writer) => {
    await writer.ingest(
      [1n, 2n, 3n, 4n].map(id => delivery(id)),
      5_000,
    );
    const none = { ...result(3n), catalogOutcomes: [['gaia_dr3', 'outside_footprint']] as const };
    const source = { ra: 1, dec: 2, payload: null };
    await writer.recordCrossmatches([result(1n, [source, source]), result(2n), none], provenance, 6_000);
    const counts = readCounts(store.databases);
    assert.equal(counts.statuses, {
      crossmatch_pending: 1,
      coincident_sources: 1,
      no_coincident_source: 1,
      not_searched: 1,
    });
    assert.equal(counts.outcomes.gaia_dr3, { searched: 2, outside_footprint: 1 });
    assert.equal(counts.outcomes.des_y6_gold, { outside_footprint: 2 });
    assert.equal([counts.objects, counts.matches, counts.journalEntries], [4, { gaia_dr3: 1 }, 2]);
    assert.equal(counts, recounted(store));
  }));

test('a newer format is refused, and both versions are named', () =>
  withDirectory(async directory => {
    await openStore(directory, 'write').close();
    const root = open<Uint8Array, Uint8Array>({ path: join(directory, 'nearsky.mdb'), overlappingSync: false });
    const meta = root.openDB<Uint8Array, Uint8Array>('meta', { keyEncoding: 'binary', encoding: 'binary' });
    await meta.put(new TextEncoder().encode('data_format'), encodePlain(FORMAT_VERSION + 1));
    await root.close();
    for (const mode of ['read', 'write'] as const) {
      const error = await failure(() => openStore(directory, mode));
      assert.instance(error, StoreError);
      assert.match(
        error.message,
        `its format is ${FORMAT_VERSION + 1} and this nearsky supports formats up to ${FORMAT_VERSION}`,
      );
    }
  }));

test('where the database was removed and what lies beside it was not, a new one is begun', () =>
  withDirectory(async directory => {
    for (const name of ['index', 'rejected', 'catalog-cache']) mkdirSync(join(directory, name));
    writeFileSync(join(directory, 'index', 'generation'), 'of the former database');
    assert.match((await failure(() => openStore(directory, 'read'))).message, /nothing is stored there yet/);
    const store = openStore(directory, 'write');
    assert.is(readCounts(store.databases).objects, 0);
    await store.close();
  }));

test('what is no data directory is refused and left as it is', () =>
  withDirectory(async directory => {
    const missing = join(directory, 'missing');
    assert.match((await failure(() => openStore(missing, 'read'))).message, /nothing is stored there yet/);
    const file = join(directory, 'file');
    writeFileSync(file, 'text');
    assert.match((await failure(() => openStore(file, 'write'))).message, /it is a file/);
    assert.match((await failure(() => openStore(directory, 'write'))).message, /contains other files \(file\)/);
    const other = join(directory, 'other');
    mkdirSync(other);
    writeFileSync(join(other, 'nearsky.mdb'), 'x'.repeat(100_000));
    for (const mode of ['read', 'write'] as const) {
      const error = await failure(() => openStore(other, mode));
      assert.instance(error, StoreError);
    }
    const foreign = join(directory, 'foreign');
    mkdirSync(foreign);
    const root = open({ path: join(foreign, 'nearsky.mdb') });
    await root.openDB({ name: 'recipes' }).put('a', 'b');
    await root.close();
    assert.match((await failure(() => openStore(foreign, 'write'))).message, /not a nearsky database/);
  }));

test('an empty directory becomes a data directory', () =>
  withDirectory(async directory => {
    const store = openStore(directory, 'write');
    assert.is(store.lastSequence(), 0);
    assert.equal(store.journalAfter(0), []);
    assert.equal([...store.objects()], []);
    assert.equal(readCatalogs(store.databases), []);
    await store.close();
  }));

test('a creation of which a power cut left a part is begun anew', () =>
  withDirectory(async directory => {
    const whole = join(directory, 'whole');
    await openStore(whole, 'write').close();
    const metas = readFileSync(join(whole, 'nearsky.mdb')).subarray(0, 8192);
    const parts = [
      metas.subarray(0, 4096),
      Buffer.alloc(8192),
      Buffer.concat([Buffer.alloc(4096), metas.subarray(4096)]),
    ];
    for (const [i, bytes] of parts.entries()) {
      const data = join(directory, `data${i}`);
      mkdirSync(data);
      writeFileSync(join(data, 'nearsky.mdb'), bytes);
      assert.throws(() => openStore(data, 'read'), /its creation was interrupted/);
      const store = openStore(data, 'write');
      await new Writer(store).ingest([delivery(1n)], 5_000);
      assert.is(store.lastSequence(), 1);
      await store.close();
    }
  }));

test.run();
