/** GET /api/objects/{diaObjectId}: statuses, detail levels, crossmatch block, matches, provenance (docs/contract.md, Objects; One object). */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { provenanceHash } from '../../../src/core/store/records.ts';
import { version } from '../../directory.ts';
import { NO_TNS } from '../store/support.ts';
import {
  type Answer,
  crossmatched,
  delivery,
  type Json,
  match,
  NOW_US,
  PROVENANCE,
  type Running,
  reshape,
  searched,
  startApp,
  type World,
} from './support.ts';

const MAX_ID = 2n ** 63n - 1n;
const CATALOGS = ['gaia_dr3', 'des_y6_gold', 'delve_dr3_gold', 'skymapper_dr4'];
const HASH = provenanceHash(PROVENANCE);
const IDS = {
  pending: 1n,
  invalidPosition: 2n,
  sources: 170_055_002_004_914_267n,
  nothing: 4n,
  outside: 5n,
  notRecorded: 6n,
  notRecordedWithSource: 7n,
  leftover: 8n,
  twice: 9n,
  unbuildable: 10n,
  gone: 15n,
  unreadNow: 16n,
  tnsMatched: 11n,
  tnsNone: 12n,
  tnsNotChecked: 13n,
  oldCatalog: 14n,
  max: MAX_ID,
  zero: 0n,
};

async function fill(world: World): Promise<void> {
  const { writer, store } = world;
  const deliveries = Object.values(IDS).map(id =>
    delivery(id, { position: id === IDS.invalidPosition ? null : { ra: 150, dec: 2 } }),
  );
  await writer.ingest(deliveries, NOW_US);
  await crossmatched(world, IDS.sources, searched(...CATALOGS), [
    match('skymapper_dr4', '9'),
    match('gaia_dr3', '9', { payload: { source_id: 2n ** 62n + 1n, ruwe: Number.NaN, parallax: null } }),
    { ...match('gaia_dr3', '10'), separationArcsec: 0.5 },
    match('delve_dr3_gold', '5'),
  ]);
  await writer.ingest([delivery(IDS.sources, { broker: 'antares' })], NOW_US + 1);
  await crossmatched(world, IDS.nothing, [
    ['gaia_dr3', 'searched'],
    ['des_y6_gold', 'outside_footprint'],
    ['delve_dr3_gold', 'skipped_read_failure'],
  ]);
  await crossmatched(world, IDS.outside, [
    ['gaia_dr3', 'outside_footprint'],
    ['des_y6_gold', 'skipped_read_failure'],
  ]);
  await crossmatched(
    world,
    IDS.invalidPosition,
    CATALOGS.map(name => [name, 'not_searched_invalid_position'] as const),
  );
  await crossmatched(world, IDS.notRecorded, searched('gaia_dr3'));
  reshape(world, IDS.notRecorded, { records: [] });
  await crossmatched(world, IDS.notRecordedWithSource, searched('gaia_dr3'), [match('gaia_dr3', '77')]);
  reshape(world, IDS.notRecordedWithSource, { records: [] });
  await crossmatched(world, IDS.leftover, searched('gaia_dr3'), [match('gaia_dr3', '78')]);
  reshape(world, IDS.leftover, { state: 'pending' });
  await crossmatched(world, IDS.twice, searched('gaia_dr3'), [match('gaia_dr3', '1'), match('gaia_dr3', '2')]);
  reshape(world, IDS.twice, { state: 'pending' });
  await crossmatched(world, IDS.twice, searched('gaia_dr3'), [{ ...match('gaia_dr3', '2'), separationArcsec: 0.5 }], {
    ...PROVENANCE,
    crossmatch_radius_arcsec: 2,
  });
  for (const id of [IDS.gone, IDS.unreadNow]) {
    await crossmatched(world, id, searched('gaia_dr3'), [match('gaia_dr3', '4004')]);
    reshape(world, id, { state: 'pending' });
  }
  await crossmatched(world, IDS.gone, searched('gaia_dr3'));
  await crossmatched(world, IDS.unreadNow, [['gaia_dr3', 'skipped_read_failure']]);
  await crossmatched(world, IDS.unbuildable, searched('gaia_dr3'), [match('gaia_dr3', '1', { ra: null })]);
  const epoch = { checked: true, snapshotEpochUs: NOW_US };
  await crossmatched(world, IDS.tnsMatched, searched('gaia_dr3'), [match('gaia_dr3', '1')]);
  const found = {
    objid: 12345,
    name: '2026abc',
    namePrefix: 'SN',
    classification: 'SN Ia',
    redshift: 0.01,
    separationArcsec: 0.5,
  };
  reshape(world, IDS.tnsMatched, { tns: { ...epoch, ...found } });
  await crossmatched(world, IDS.tnsNone, searched('gaia_dr3'), [match('gaia_dr3', '1')]);
  reshape(world, IDS.tnsNone, { tns: { ...epoch, ...NO_TNS } });
  await crossmatched(world, IDS.tnsNotChecked, searched('gaia_dr3'), [match('gaia_dr3', '1')]);
  reshape(world, IDS.tnsNotChecked, { tns: { checked: false, snapshotEpochUs: null, ...NO_TNS } });
  await crossmatched(world, IDS.oldCatalog, [
    ['old_catalog', 'searched'],
    ['gaia_dr3', 'outside_footprint'],
  ]);
  assert.is(store.getObject(IDS.oldCatalog)?.state, 'crossmatched');
}

interface Context {
  running: Running;
  get(path: string): Promise<Answer>;
  object(id: bigint, detail?: string): Promise<Json>;
}

const test = suite<Context>('http/object');

test.before(async context => {
  const running = await startApp(fill);
  context.running = running;
  context.get = path => running.app.get(path);
  context.object = async (id, detail = 'matches') =>
    (await running.app.result(`/api/objects/${id}?detail=${detail}`)).objects[0];
});

test.after(context => context.running.close());

test('the envelope: keys, their order, and the block of the service', async ({ get }) => {
  const { body, status, text } = await get('/api/objects/1');
  assert.is(status, 200);
  assert.equal(Object.keys(body), ['provenance', 'detail', 'count', 'provenance_sets', 'truncated', 'results']);
  assert.equal([body.detail, body.count, body.truncated], ['matches', 1, false]);
  assert.equal(Object.keys(body.provenance), [
    'service_version',
    'contract_version',
    'crossmatch_radius_arcsec',
    'catalogs',
    'reliability_cuts',
  ]);
  assert.equal([body.provenance.service_version, body.provenance.contract_version], [version, '1.0.0']);
  assert.equal(
    body.provenance.catalogs.map((catalog: { name: string }) => catalog.name),
    CATALOGS,
  );
  assert.equal(
    body.provenance.reliability_cuts.map((cut: { broker: string }) => cut.broker),
    ['antares', 'lasair', 'pittgoogle'],
  );
  assert.equal(Object.keys(body.results[0]), ['index', 'kind', 'input', 'normalized', 'status', 'objects']);
  assert.not.match(text, /":\S|,"/, 'a space follows each colon and comma');
});

test('the id: exact, echoed as sent, normalised', async ({ get }) => {
  const { text, body } = await get(`/api/objects/000${IDS.sources}`);
  assert.match(text, `"diaObjectId": ${IDS.sources}, "diaObjectId_str": "${IDS.sources}"`);
  const [result] = body.results;
  assert.equal(
    [result.index, result.kind, result.input, result.status],
    [0, 'id', `000${IDS.sources}`, 'coincident_sources'],
  );
  assert.equal(result.normalized, { kind: 'id', diaObjectId: IDS.sources, diaObjectId_str: `${IDS.sources}` });
  assert.match((await get(`/api/objects/${MAX_ID}`)).text, `"diaObjectId": ${MAX_ID},`);
  assert.is((await get('/api/objects/0')).body.results[0].objects[0].diaObjectId_str, '0');
  assert.is((await get('/api/objects/%31')).body.results[0].input, '1', 'percent-decoded');
});

test('an unknown id is an answer with three keys, at every level [Objects; One object]', async ({ get }) => {
  for (const detail of ['ids', 'position', 'matches', 'full']) {
    const { status, body } = await get(`/api/objects/123456789?detail=${detail}`);
    assert.is(status, 200);
    assert.is(body.detail, detail);
    assert.equal(body.provenance_sets, {});
    const object = { diaObjectId: 123456789, diaObjectId_str: '123456789', status: 'not_in_service' };
    assert.equal([body.results[0].status, body.results[0].objects], ['not_in_service', [object]]);
  }
});

test('the keys of each level, in order [Objects]', async ({ object }) => {
  const ids = ['diaObjectId', 'diaObjectId_str', 'status', 'crossmatch'];
  const position = [
    ...ids.slice(0, 3),
    'ra',
    'dec',
    'reliability',
    'ingest_time',
    'event_time',
    'brokers',
    'crossmatch',
  ];
  const matches = [...position, 'matches', 'tns'];
  for (const [detail, keys] of Object.entries({ ids, position, matches, full: matches })) {
    assert.equal(Object.keys(await object(IDS.sources, detail)), keys, detail);
  }
});

test('values of the position level', async ({ object }) => {
  const { ra, dec, reliability, ingest_time, event_time, brokers } = await object(IDS.sources, 'position');
  assert.equal([ra, dec, reliability], [150, 2, 0.75]);
  assert.equal([ingest_time, event_time], ['2026-09-21T14:13:20.123456+00:00', '2026-09-21T14:13:15.123456+00:00']);
  assert.equal(brokers, ['antares', 'lasair'], 'every broker by now, sorted');
  const invalid = await object(IDS.invalidPosition, 'position');
  assert.equal([invalid.ra, invalid.dec], [null, null]);
});

test('statuses [Objects]', async ({ object }) => {
  const statuses: Record<string, keyof typeof IDS> = {};
  const expected = {
    pending: 'crossmatch_pending',
    sources: 'coincident_sources',
    nothing: 'no_coincident_source',
    outside: 'not_searched',
    invalidPosition: 'not_searched',
    notRecorded: 'no_coincident_source',
    notRecordedWithSource: 'coincident_sources',
    leftover: 'crossmatch_pending',
    unbuildable: 'coincident_sources',
  } as const;
  for (const name of Object.keys(expected) as (keyof typeof expected)[])
    statuses[name] = (await object(IDS[name])).status;
  assert.equal(statuses, expected);
});

test('a pending object has no crossmatch and no matches, whatever was left over [Objects]', async ({ object, get }) => {
  for (const id of [IDS.pending, IDS.leftover]) {
    const { crossmatch, matches, tns } = await object(id);
    assert.equal([crossmatch, matches, tns], [null, [], null]);
    assert.equal((await get(`/api/objects/${id}?detail=full`)).body.provenance_sets, {});
  }
});

test('the crossmatch block of a recorded crossmatch [Objects]', async ({ object, get }) => {
  const { crossmatch } = await object(IDS.nothing, 'ids');
  assert.equal(Object.entries(crossmatch), [
    ['provenance', 'recorded'],
    ['match_version', 1],
    ['crossmatched_at', '2026-09-21T14:13:20.123456+00:00'],
    ['provenance_set', HASH],
    ['brokers_at_crossmatch', ['lasair']],
    ['catalog_outcomes', crossmatch.catalog_outcomes],
  ]);
  assert.equal(Object.entries(crossmatch.catalog_outcomes), [
    ['gaia_dr3', 'searched'],
    ['des_y6_gold', 'outside_footprint'],
    ['delve_dr3_gold', 'skipped_read_failure'],
    ['skymapper_dr4', 'not_in_service_at_crossmatch'],
  ]);
  const { body } = await get(`/api/objects/${IDS.nothing}?detail=ids`);
  assert.equal(body.provenance_sets, { [HASH]: { basis: 'recorded', ...PROVENANCE } }, 'as recorded, not as now');
});

test('brokers at the crossmatch are those of then; a catalog no longer in service comes last [Objects]', async ({
  object,
}) => {
  const { brokers, crossmatch } = await object(IDS.sources);
  assert.equal([brokers, crossmatch.brokers_at_crossmatch], [['antares', 'lasair'], ['lasair']]);
  const old = (await object(IDS.oldCatalog)).crossmatch.catalog_outcomes;
  assert.equal(Object.keys(old), [...CATALOGS, 'old_catalog']);
  assert.equal(
    [old.old_catalog, old.gaia_dr3, old.des_y6_gold],
    ['searched', 'outside_footprint', 'not_in_service_at_crossmatch'],
  );
});

test('the crossmatch block where nothing was recorded, and its best guess [Objects]', async ({ object, get }) => {
  const { crossmatch, matches } = await object(IDS.notRecordedWithSource);
  assert.equal(Object.entries(crossmatch), [
    ['provenance', 'not_recorded'],
    ['match_version', null],
    ['crossmatched_at', null],
    ['provenance_set', null],
    ['brokers_at_crossmatch', null],
    ['catalog_outcomes', Object.fromEntries(CATALOGS.map(name => [name, 'not_recorded']))],
    ['recording_release', '0.15.0'],
    ['best_guess_provenance_set', 'best_guess_current_settings'],
  ]);
  assert.is(matches[0].provenance_set, null);
  const { provenance, provenance_sets } = (await get(`/api/objects/${IDS.notRecordedWithSource}`)).body;
  const { basis, description, ...set } = provenance_sets.best_guess_current_settings;
  assert.equal(Object.keys(provenance_sets), ['best_guess_current_settings']);
  assert.is(basis, 'best_guess_current_settings');
  assert.match(description, /best guess/i);
  const { crossmatch_radius_arcsec, catalogs, reliability_cuts } = provenance;
  assert.equal(set, { crossmatch_radius_arcsec, catalogs, reliability_cuts });
});

test('matches: their keys, ordered by catalog, then by source id as text [Objects]', async ({ object }) => {
  const { matches } = await object(IDS.sources);
  const order = matches.map((entry: Record<string, string>) => [entry.catalog_name, entry.catalog_source_id]);
  assert.equal(order, [
    ['delve_dr3_gold', '5'],
    ['gaia_dr3', '9'],
    ['skymapper_dr4', '9'],
  ]);
  assert.equal(Object.entries(matches[1]), [
    ['catalog_name', 'gaia_dr3'],
    ['catalog_source_id', '9'],
    ['separation_arcsec', 0.25],
    ['provenance_set', HASH],
  ]);
});

test('matches: those of the newest crossmatch alone, with its provenance [Objects]', async ({ object, get }) => {
  const { crossmatch, matches } = await object(IDS.twice);
  assert.is(crossmatch.match_version, 2);
  const second = provenanceHash({ ...PROVENANCE, crossmatch_radius_arcsec: 2 });
  assert.equal(
    matches.map((entry: Record<string, unknown>) => [
      entry.catalog_source_id,
      entry.separation_arcsec,
      entry.provenance_set,
    ]),
    [['2', 0.5, second]],
  );
  for (const detail of ['ids', 'matches'])
    assert.equal(
      Object.keys((await get(`/api/objects/${IDS.twice}?detail=${detail}`)).body.provenance_sets),
      [second],
      'only what is referred to',
    );
});

test('a newest crossmatch that found nothing, or could not look, leaves no source [Objects]', async ({
  object,
  get,
}) => {
  const gone = await object(IDS.gone, 'full');
  assert.equal([gone.status, gone.matches], ['no_coincident_source', []]);
  const unread = await object(IDS.unreadNow, 'full');
  assert.equal([unread.status, unread.matches], ['not_searched', []]);
  assert.is(unread.crossmatch.catalog_outcomes.gaia_dr3, 'skipped_read_failure');
  const filtered = (await get(`/api/objects/${IDS.gone}?separation_arcsec_max=1`)).body.results[0];
  assert.equal([filtered.qualifies, filtered.qualifies_reason], [false, 'no_coincident_source']);
  const { counts } = (await get(`/api/objects/${IDS.gone}?response=count`)).body;
  assert.is(counts.objects.by_status.no_coincident_source, 1);
  const window = 'time_field=event_time&start=1990-01-01T00:00:00Z&end=1990-01-02T00:00:00Z';
  assert.equal((await get(`/api/recent-crossmatches?${window}`)).body.objects, []);
});

test('full: the published match, its payload exact [Objects]', async ({ object, get }) => {
  const { matches } = await object(IDS.sources, 'full');
  assert.equal(Object.entries(matches[1]), [
    ['diaObjectId', IDS.sources],
    ['ra', 150.0001],
    ['dec', 2.0001],
    ['catalog_name', 'gaia_dr3'],
    ['catalog_source_id', '9'],
    ['separation_arcsec', 0.25],
    ['catalog_release', 'Gaia DR3'],
    ['catalog_payload', { source_id: 2n ** 62n + 1n, ruwe: null, parallax: null }],
    ['catalogs_skipped', []],
    ['partial', false],
    ['tns_checked', false],
    ['tns_snapshot_epoch', null],
    ['provenance_set', HASH],
  ]);
  assert.match((await get(`/api/objects/${IDS.sources}?detail=full`)).text, `"source_id": ${2n ** 62n + 1n},`);
});

test('full: a match without a source position is left out, and so is its provenance', async ({ object }) => {
  assert.is((await object(IDS.unbuildable, 'matches')).matches.length, 1);
  const full = await object(IDS.unbuildable, 'full');
  assert.equal([full.matches, full.status], [[], 'coincident_sources']);
});

test('the registry block, and the association on each match at full [Objects]', async ({ object }) => {
  const url = 'https://www.wis-tns.org/object/2026abc';
  const epoch = '2026-09-21T14:13:20.123456+00:00';
  const matched = await object(IDS.tnsMatched, 'full');
  assert.equal(Object.entries(matched.tns), [
    ['checked', true],
    ['snapshot_epoch', epoch],
    ['name', '2026abc'],
    ['name_prefix', 'SN'],
    ['classification', 'SN Ia'],
    ['redshift', 0.01],
    ['separation_arcsec', 0.5],
    ['url', url],
  ]);
  const [entry] = matched.matches;
  assert.equal([entry.tns_checked, entry.tns_snapshot_epoch], [true, epoch]);
  const association = {
    objid: 12345,
    name: '2026abc',
    classification: 'SN Ia',
    redshift: 0.01,
    separation_arcsec: 0.5,
    url,
  };
  assert.equal(Object.entries(entry.tns), Object.entries(association));
  assert.is(Object.keys(entry).at(-2), 'tns');
  const none = await object(IDS.tnsNone, 'full');
  const nothing = {
    name: null,
    name_prefix: null,
    classification: null,
    redshift: null,
    separation_arcsec: null,
    url: null,
  };
  assert.equal(none.tns, { checked: true, snapshot_epoch: epoch, ...nothing });
  assert.equal([none.matches[0].tns_checked, 'tns' in none.matches[0]], [true, false]);
  const notChecked = await object(IDS.tnsNotChecked, 'full');
  assert.equal(notChecked.tns, { checked: false, snapshot_epoch: null, ...nothing });
  assert.equal([notChecked.matches[0].tns_checked, 'tns' in notChecked.matches[0]], [false, false]);
});

test('a bad id is a 400 that names it', async ({ get }) => {
  const bad = [
    '-1',
    '+1',
    '1.0',
    '1e3',
    '0x10',
    'abc',
    '%20',
    '1%20',
    '9223372036854775808',
    '9'.repeat(5000),
    '%D9%A1',
    '%zz',
  ];
  for (const text of bad) {
    const { status, body } = await get(`/api/objects/${text}`);
    assert.equal([status, body.code, body.param], [400, 'invalid_parameter', 'diaObjectId'], text);
    assert.ok(body.message.length < 300);
  }
});

test('detail before filters before response before the id [One object]', async ({ get }) => {
  const param = async (query: string) => (await get(`/api/objects/x?${query}`)).body.param;
  assert.is(await param('response=zzz&zzz.y=1&detail=zzz'), 'detail');
  assert.is(await param('response=zzz&zzz.y=1'), 'zzz.y');
  assert.is(await param('response=zzz'), 'response');
  assert.is(
    await param('response=objects&ra=zzz&page_size=zzz'),
    'diaObjectId',
    'what is not of this operation is ignored',
  );
  assert.is(await param('detail='), 'detail', 'empty is not absent');
  assert.is(await param('detail=ids&detail=Full'), 'detail', 'the last one counts, and case does');
});

test.run();
