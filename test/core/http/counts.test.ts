/** `response=count` (docs/contract.md, Filters and counts). */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { crossmatched, delivery, loadRegistry, match, NOW_US, type Running, searched, startApp } from './support.ts';

const FUTURE_US = 4_000_000_000_000_000;

const test = suite<{ running: Running }>('http/counts');

/** Five objects at one place, the last of them of the future. */
test.before(async context => {
  context.running = await startApp(
    async world => {
      await world.writer.ingest(
        [1n, 2n, 3n, 4n].map(id => delivery(id)),
        NOW_US,
      );
      await world.writer.ingest([delivery(5n)], FUTURE_US);
      await crossmatched(world, 1n, searched('gaia_dr3'), [match('gaia_dr3', '1')]);
      await crossmatched(world, 2n, searched('gaia_dr3'));
      await crossmatched(world, 3n, [['gaia_dr3', 'outside_footprint']]);
      await loadRegistry(world, Date.now() * 1000, [{ name: '2026abc' }]);
    },
    { API_MAX_OBJECTS_PER_POSITION: '2', API_MAX_OBJECTS_PER_REQUEST: '3' },
  );
});

test.after(({ running }) => running.close());

const INPUT_STATUSES = {
  not_in_service: 0,
  crossmatch_pending: 0,
  coincident_sources: 0,
  no_coincident_source: 0,
  not_searched: 0,
  no_rubin_object: 0,
  objects_found: 0,
  tns_name_not_found: 0,
  resolver_unavailable: 0,
  invalid_input: 0,
};
const OBJECT_STATUSES = {
  not_in_service: 0,
  crossmatch_pending: 2,
  coincident_sources: 1,
  no_coincident_source: 1,
  not_searched: 1,
};
const REASONS = {
  meets_filters: 0,
  object_filters_not_met: 0,
  no_source_meets_filters: 0,
  not_in_service: 0,
  crossmatch_pending: 0,
  no_coincident_source: 0,
  not_searched: 0,
};
const CONE = '/api/cone?ra=150&dec=2&radius_arcsec=5';

test('a position: every object, whenever ingested, whatever the limits; keys and their order [Filters and counts]', async ({
  running: { app },
}) => {
  const { status, body } = await app.get(`${CONE}&response=count`);
  assert.is(status, 200);
  assert.equal(Object.keys(body), ['provenance', 'response', 'filters', 'counts']);
  assert.equal([body.response, body.filters], ['count', null]);
  assert.equal(Object.keys(body.provenance).length, 5);
  assert.equal(Object.entries(body.counts.inputs), [
    ['total', 1],
    ['by_status', { ...INPUT_STATUSES, objects_found: 1 }],
    ['qualifying', null],
  ]);
  assert.equal(Object.keys(body.counts.inputs.by_status), Object.keys(INPUT_STATUSES));
  assert.equal(Object.entries(body.counts.objects), [
    ['total', 5],
    ['by_status', OBJECT_STATUSES],
    ['qualifying', null],
    ['by_qualifies_reason', null],
  ]);
  assert.equal(Object.keys(body.counts.objects.by_status), Object.keys(OBJECT_STATUSES));
});

test('with filters: what qualifies, and why not', async ({ running: { app } }) => {
  const { body } = await app.get(`${CONE}&response=count&catalog=gaia_dr3&reliability_min=0.5`);
  assert.equal(Object.entries(body.filters), [
    ['catalog', 'gaia_dr3'],
    ['reliability_min', 0.5],
  ]);
  const { inputs, objects } = body.counts;
  assert.equal([inputs.qualifying, objects.qualifying], [1, 1]);
  const reasons = { ...REASONS, meets_filters: 1, crossmatch_pending: 2, no_coincident_source: 1, not_searched: 1 };
  assert.equal(Object.entries(objects.by_qualifies_reason), Object.entries(reasons));
  const none = (await app.get(`${CONE}&response=count&reliability_min=0.9`)).body.counts;
  assert.equal([none.inputs.qualifying, none.objects.qualifying], [0, 0]);
  assert.equal(none.objects.by_qualifies_reason, { ...REASONS, object_filters_not_met: 5 });
});

test('an object and a name', async ({ running: { app } }) => {
  const object = (await app.get('/api/objects/2?response=count&catalog=gaia_dr3')).body.counts;
  assert.equal(object.inputs, { total: 1, by_status: { ...INPUT_STATUSES, no_coincident_source: 1 }, qualifying: 0 });
  assert.equal(object.objects.by_qualifies_reason, { ...REASONS, no_coincident_source: 1 });
  const unknown = (await app.get('/api/objects/77?response=count')).body.counts;
  assert.equal(unknown.objects, {
    total: 1,
    by_status: { ...OBJECT_STATUSES, ...zero(OBJECT_STATUSES), not_in_service: 1 },
    qualifying: null,
    by_qualifies_reason: null,
  });
  const name = (await app.get('/api/tns/2026abc?response=count')).body.counts;
  assert.equal([name.inputs.by_status.objects_found, name.objects.total], [1, 5]);
  const noName = (await app.get('/api/tns/2026zzz?response=count&reliability_min=0')).body.counts;
  assert.equal(noName.inputs, { total: 1, by_status: { ...INPUT_STATUSES, tns_name_not_found: 1 }, qualifying: 0 });
  assert.equal(noName.objects, {
    total: 0,
    by_status: zero(OBJECT_STATUSES),
    qualifying: 0,
    by_qualifies_reason: REASONS,
  });
});

const zero = (counts: object) => Object.fromEntries(Object.keys(counts).map(name => [name, 0]));

test('a lookup: inputs with their duplicates, objects once, however they are reached [Filters and counts]', async ({
  running: { app },
}) => {
  const position = { kind: 'position', ra: 150, dec: 2, radius_arcsec: 5 };
  const id = (diaObjectId: number) => ({ kind: 'id', diaObjectId });
  const inputs = [
    id(1),
    id(1),
    id(77),
    id(77),
    position,
    position,
    { ...position, ra: 10 },
    { kind: 'tns', name: '2026abc' },
  ];
  const body = await app.lookup([...inputs, { kind: 'tns', name: '2026zz' }, 5, id(-1)], {
    response: 'count',
    filters: { reliability_max: 1 },
    detail: 'full',
  });
  assert.equal(Object.keys(body), ['provenance', 'response', 'filters', 'counts']);
  assert.equal(body.counts.inputs, {
    total: 11,
    by_status: {
      ...INPUT_STATUSES,
      coincident_sources: 2,
      not_in_service: 2,
      objects_found: 3,
      no_rubin_object: 1,
      tns_name_not_found: 1,
      invalid_input: 2,
    },
    qualifying: 5,
  });
  assert.equal(body.counts.objects, {
    total: 6,
    by_status: { ...OBJECT_STATUSES, not_in_service: 1 },
    qualifying: 5,
    by_qualifies_reason: { ...REASONS, meets_filters: 5, not_in_service: 1 },
  });
});

test('a cone: no cursor; the rest is validated in order [Cone]', async ({ running: { app } }) => {
  const { next_cursor } = (await app.get(`${CONE}&page_size=1`)).body;
  const param = async (query: string) => (await app.get(`/api/cone?response=count&${query}`)).body.param;
  assert.is(await param(`cursor=${next_cursor}`), 'cursor');
  assert.is(await param('cursor=&ra=x'), 'cursor');
  assert.is(await param('zzz_min=1&cursor=x'), 'zzz_min');
  assert.is(await param('ra=x&dec=x'), 'ra');
  assert.is(await param('ra=1&dec=x'), 'dec');
  assert.is(await param('ra=1&dec=1'), 'radius_arcsec');
  assert.is(await param('ra=1&dec=1&radius_arcsec=1&detail=x'), 'detail');
  for (const size of ['0', '-1', '', 'zzz', '1.5'])
    assert.is(await param(`ra=1&dec=1&radius_arcsec=1&page_size=${size}`), 'page_size');
  assert.is((await app.get(`${CONE}&response=count&page_size=5&detail=full`)).status, 200);
});

test('a response mode is exactly one of two', async ({ running: { app } }) => {
  for (const path of ['/api/objects/1?', CONE, '/api/tns/2026abc?']) {
    for (const mode of ['', 'Count', 'counts', '%20count'])
      assert.is((await app.get(`${path}&response=${mode}`)).body.param, 'response', mode);
    assert.ok('results' in (await app.get(`${path}&response=objects`)).body);
    assert.ok('counts' in (await app.get(`${path}&response=objects&response=count`)).body);
  }
});

test.run();
