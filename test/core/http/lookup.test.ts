/** POST /api/lookup: the request, the results, the limits (docs/contract.md, Lookup). */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  crossmatched,
  delivery,
  type Json,
  loadRegistry,
  match,
  NOW_US,
  type Running,
  searched,
  startApp,
  type World,
  withApp,
} from './support.ts';

const MAX_ID = 2n ** 63n - 1n;
const HERE = { ra: 150, dec: 2 };
const AWAY = { ra: 10, dec: -45 };

async function fill(world: World): Promise<void> {
  const { writer } = world;
  await writer.ingest([delivery(3n), delivery(MAX_ID)], NOW_US);
  await writer.ingest([delivery(1n), delivery(2n)], NOW_US + 1);
  await crossmatched(world, 1n, searched('gaia_dr3'), [match('gaia_dr3', '1')]);
  await loadRegistry(world, Date.now() * 1000, [{ name: '2026abc', ...HERE }]);
}

const test = suite<{ running: Running }>('http/lookup');

test.before(async context => {
  context.running = await startApp(fill);
});

test.after(({ running }) => running.close());

const ID = { kind: 'id', diaObjectId: 1 };
const POSITION = { kind: 'position', ...HERE, radius_arcsec: 1 };
const TNS = { kind: 'tns', name: 'SN 2026abc' };

test('one result an input, in order, duplicates answered twice: keys and their order [Lookup]', async ({
  running: { app },
}) => {
  const body = await app.lookup([POSITION, ID, { kind: 'nothing' }, TNS, ID], { detail: 'ids' });
  assert.equal(Object.keys(body), ['provenance', 'detail', 'count', 'provenance_sets', 'truncated', 'results']);
  assert.equal([body.detail, body.count, body.truncated], ['ids', 5, false]);
  assert.equal(Object.keys(body.provenance_sets).length, 1, 'one set for all results');
  const [position, id, invalid, tns, again] = body.results;
  assert.equal(
    body.results.map((result: Json) => [result.index, result.kind, result.status]),
    [
      [0, 'position', 'objects_found'],
      [1, 'id', 'coincident_sources'],
      [2, 'nothing', 'invalid_input'],
      [3, 'tns', 'objects_found'],
      [4, 'id', 'coincident_sources'],
    ],
  );
  const common = ['index', 'kind', 'input', 'normalized', 'status', 'objects'];
  assert.equal(Object.keys(id), common);
  assert.equal(Object.keys(invalid), [...common, 'error']);
  assert.equal(Object.keys(position), [...common, 'total', 'truncated', 'truncation']);
  assert.equal(Object.keys(tns), [...common, 'total', 'truncated', 'truncation', 'tns', 'tns_snapshot_epoch']);
  assert.equal({ ...again, index: 1 }, id);
  assert.equal(id.normalized, { kind: 'id', diaObjectId: 1, diaObjectId_str: '1' });
  assert.equal(position.normalized, { kind: 'position', ...HERE, radius_arcsec: 1 });
  assert.equal(tns.normalized, { kind: 'tns', name: '2026abc', radius_arcsec: 1 });
  assert.equal([invalid.normalized, invalid.objects], [null, []]);
  assert.equal(
    position.objects.map((object: Json) => object.diaObjectId_str),
    ['3', `${MAX_ID}`, '1', '2'],
    'by ingest time, then id',
  );
  assert.equal(position.objects[0].separation_arcsec, 0);
  assert.not.ok('separation_arcsec' in id.objects[0]);
});

test('detail is as asked, null is the default, and each level as on an object [Lookup]', async ({
  running: { app },
}) => {
  for (const detail of ['ids', 'position', 'matches', 'full']) {
    const { results } = await app.lookup([ID], { detail });
    assert.equal(results[0].objects, (await app.result(`/api/objects/1?detail=${detail}`)).objects);
  }
  const nulls = { detail: null, radius_arcsec: null, filters: null, response: null };
  const body = await app.lookup([ID], nulls);
  assert.is(body.detail, 'matches');
  assert.not.ok('filters' in body);
  assert.not.ok('filters' in (await app.lookup([ID], { filters: {} })));
});

test('an id: integer literal or digits; unknown ones are answered [Lookup]', async ({ running: { app } }) => {
  const inputs = [1, '1', '007', 0, '0', MAX_ID, `${MAX_ID}`, 12345].map(diaObjectId => ({ kind: 'id', diaObjectId }));
  const { results } = await app.lookup(inputs);
  assert.equal(
    results.map(({ status }: Json) => status),
    [
      ...['coincident_sources', 'coincident_sources', 'not_in_service', 'not_in_service', 'not_in_service'],
      ...['crossmatch_pending', 'crossmatch_pending', 'not_in_service'],
    ],
  );
  assert.equal(results[2].normalized, { kind: 'id', diaObjectId: 7, diaObjectId_str: '7' });
  const { text } = await app.post('/api/lookup', { inputs: [{ kind: 'id', diaObjectId: MAX_ID }] });
  assert.match(text, `"input": {"kind": "id", "diaObjectId": ${MAX_ID}}`);
  assert.match(text, `"normalized": {"kind": "id", "diaObjectId": ${MAX_ID}, "diaObjectId_str": "${MAX_ID}"}`);
  assert.equal(Object.keys((await app.lookup([{ kind: 'id', diaObjectId: 99 }])).results[0].objects[0]), [
    'diaObjectId',
    'diaObjectId_str',
    'status',
  ]);
});

test('a radius: its own, else the shared one, else for a name the default [Lookup]', async ({ running: { app } }) => {
  const { radius_arcsec: _, ...bare } = POSITION;
  const inputs = [POSITION, bare, TNS, { ...TNS, radius_arcsec: 2 }, { ...TNS, radius_arcsec: null }];
  const radii = async (request: object) =>
    (await app.lookup(inputs, request as Record<string, unknown>)).results.map(
      (result: Json) => result.normalized?.radius_arcsec ?? result.error.param,
    );
  assert.equal(await radii({}), [1, 'inputs[1].radius_arcsec', 1, 2, 1]);
  assert.equal(await radii({ radius_arcsec: 30.5 }), [1, 30.5, 30.5, 2, 30.5]);
});

test('a position: the radius is inclusive, 0 objects are a result', async ({ running: { app } }) => {
  const { results } = await app.lookup([{ kind: 'position', ...AWAY, radius_arcsec: 60 }]);
  const { status, objects, total, truncated, truncation } = results[0];
  assert.equal([status, objects, total, truncated, truncation], ['no_rubin_object', [], 0, false, null]);
});

test('malformed entries: each names its field, in the order of the checks', async ({ running: { app } }) => {
  const cases: [unknown, string][] = [
    [null, ''],
    [5, ''],
    ['id', ''],
    [[ID], ''],
    [{}, '.kind'],
    [{ kind: 1 }, '.kind'],
    [{ kind: null }, '.kind'],
    [{ kind: 'ID' }, '.kind'],
    [{ kind: 'name', zzz: 1 }, '.kind'],
    [{ kind: 'id', diaObjectId: 'zzz', zzz: 1 }, '.zzz'],
    [{ kind: 'id', diaObjectId: 1, ra: 1 }, '.ra'],
    [{ ...POSITION, name: 'x' }, '.name'],
    [{ ...TNS, ra: 1 }, '.ra'],
    [{ kind: 'id' }, '.diaObjectId'],
    ...[null, true, -1, '-1', '+1', ' 1', '1 ', '1.0', '', '1e3', [1], '9'.repeat(5000), MAX_ID + 1n, '٣'].map(
      (diaObjectId): [unknown, string] => [{ kind: 'id', diaObjectId }, '.diaObjectId'],
    ),
    [{ kind: 'position', dec: 'x' }, '.ra'],
    ...[null, true, '150', -0.001, 360.001, [1]].map((ra): [unknown, string] => [
      { ...POSITION, ra, dec: 'x', radius_arcsec: 0 },
      '.ra',
    ]),
    [{ kind: 'position', ra: 1, radius_arcsec: 0 }, '.dec'],
    ...[null, '2', 90.001, -90.001].map((dec): [unknown, string] => [{ ...POSITION, dec, radius_arcsec: 0 }, '.dec']),
    ...[null, '1', true, 0, -1, 60.001].map((radius_arcsec): [unknown, string] => [
      { ...POSITION, radius_arcsec },
      '.radius_arcsec',
    ]),
    [{ kind: 'tns', radius_arcsec: 0 }, '.name'],
    ...[null, 2026, '', ' ', 'SN', '2026', '2026abc/x', `2026${'a'.repeat(61)}`, 'XX 2026abc'].map(
      (name): [unknown, string] => [{ kind: 'tns', name, radius_arcsec: 0 }, '.name'],
    ),
    ...['1', true, 0, -1, 60.001].map((radius_arcsec): [unknown, string] => [
      { ...TNS, radius_arcsec },
      '.radius_arcsec',
    ]),
  ];
  const { results, count } = await app.lookup(
    cases.map(([entry]) => entry),
    { radius_arcsec: 5 },
  );
  assert.is(count, cases.length);
  for (const [i, [entry, path]] of cases.entries()) {
    const { index, kind, status, objects, normalized, error } = results[i];
    const sentKind = (entry as Json)?.kind;
    assert.equal(
      [index, kind, status, objects, normalized],
      [i, typeof sentKind === 'string' ? sentKind : null, 'invalid_input', [], null],
    );
    assert.equal(Object.keys(error), ['message', 'param']);
    assert.is(error.param, `inputs[${i}]${path}`, String(error.message));
    assert.ok(error.message.length < 300);
  }
});

test('nesting without sense makes one input invalid, not the request', async ({ running: { app } }) => {
  const nested = (levels: number, inside = '') => `${'['.repeat(levels)}${inside}${']'.repeat(levels)}`;
  const cases: [entry: string, param: string][] = [
    [nested(1000), 'inputs[1]'],
    [nested(1000, '7'), 'inputs[1]'],
    [`{"kind": "id", "diaObjectId": ${nested(1000, '7')}}`, 'inputs[1].diaObjectId'],
    [`{"kind": "id", "diaObjectId": ${'{"a": '.repeat(1000)}7${'}'.repeat(1000)}}`, 'inputs[1].diaObjectId'],
  ];
  for (const [entry, param] of cases) {
    for (const headers of [{}, { Accept: 'application/msgpack' }] as Record<string, string>[]) {
      const body = `{"inputs": [{"kind": "id", "diaObjectId": 1}, ${entry}]}`;
      const answer = await app.app.fetch(
        new Request('http://nearsky.test/api/lookup', {
          method: 'POST',
          headers: { 'Content-Type': 'application/json', ...headers },
          body,
        }),
      );
      assert.is(answer.status, 200, entry.slice(0, 40));
      if (headers.Accept) continue;
      const { results } = (await answer.json()) as Json;
      assert.is.not(results[0].status, 'invalid_input');
      assert.equal([results[1].status, results[1].error.param], ['invalid_input', param]);
      assert.equal(results[1].input, JSON.parse(entry));
    }
  }
  for (const entry of [nested(1002), nested(100_000)]) {
    const { status, body } = await app.post('/api/lookup', `{"inputs": [${entry}]}`);
    assert.equal([status, body.param], [400, 'body']);
  }
});

test('the bounds themselves are valid [Lookup]', async ({ running: { app } }) => {
  const edges = [
    { ra: 0, dec: -90, radius_arcsec: 60 },
    { ra: 360, dec: 90, radius_arcsec: 1e-9 },
  ];
  const { results } = await app.lookup(edges.map(edge => ({ kind: 'position', ...edge })));
  assert.equal(
    results.map(({ status }: Json) => status),
    ['no_rubin_object', 'no_rubin_object'],
  );
});

/** In the order of the checks: each request is wrong in one more field than the next. */
test('the request: the first fault in order is a 400 that names it [Lookup]', async ({ running: { app } }) => {
  const good = {
    inputs: [ID],
    detail: 'ids',
    radius_arcsec: 5,
    filters: { reliability_min: 0.5 },
    response: 'objects',
  };
  const fault = async (request: unknown) => {
    const { status, body } = await app.post('/api/lookup', request);
    assert.equal([status, body.retryable], [400, false], JSON.stringify(request));
    return [body.code, body.param ?? body.params];
  };
  const bad: Record<string, unknown[]> = {
    detail: ['', 'all', 'IDS', 5, true, ['ids'], {}],
    radius_arcsec: ['5', true, 0, -1, 60.1, {}],
    filters: [[], 'x', 5, true],
    response: ['', 'Count', 5, false],
    inputs: [null, {}, 'x', 5, []],
  };
  const order = Object.keys(bad);
  for (const [i, name] of order.entries()) {
    for (const value of bad[name]!) {
      const later = Object.fromEntries(order.slice(i).map(field => [field, field === 'inputs' ? 5 : false]));
      assert.equal(await fault({ ...good, ...later, [name]: value }), ['invalid_parameter', name]);
    }
  }
  const { inputs: _, ...withoutInputs } = good;
  assert.equal(await fault({ ...withoutInputs, detail: 'zzz' }), ['invalid_parameter', 'inputs']);
  assert.equal(await fault({ zzz: 1, yyy: 2, detail: 'x' }), ['invalid_parameter', 'zzz']);
  assert.equal(await fault('{"zzz": 1, "1": 2, "detail": "x"}'), ['invalid_parameter', 'zzz'], 'in body order');
  for (const body of ['[]', 'null', '5', '"x"']) assert.equal(await fault(body), ['invalid_parameter', 'body']);
});

test('filters of a body: numbers are JSON numbers, names are those that there are', async ({ running: { app } }) => {
  const fault = async (filters: unknown) => {
    const { status, body } = await app.post('/api/lookup', { inputs: [], filters, response: 'zzz' });
    assert.is(status, 400);
    return body.param ?? body.params;
  };
  assert.is(await fault({ zzz: 1, reliability_min: 'x' }), 'zzz');
  assert.is(await fault({ reliability_min: 'x', zzz: 1 }), 'reliability_min');
  for (const value of ['5', true, null, [], {}]) {
    assert.is(await fault({ 'gaia_dr3.ruwe_max': value }), 'gaia_dr3.ruwe_max');
    assert.is(await fault({ catalog: value }), 'catalog');
  }
  assert.is(await fault({ separation_arcsec_max: -0.1 }), 'separation_arcsec_max');
  assert.equal(await fault({ 'gaia_dr3.ruwe_max': 1, catalog: 'des_y6_gold' }), ['gaia_dr3.ruwe_max', 'catalog']);
  const { body } = await app.post('/api/lookup', '{"inputs": [5], "filters": {"reliability_min": 1e400}}');
  assert.is(body.param, 'reliability_min');
});

test('how many inputs: by the kinds that occur, malformed ones count towards the whole [Lookup]', () =>
  withApp(
    async () => {},
    async app => {
      const many = (count: number, entry: unknown) => Array.from({ length: count }, () => entry);
      const cases: [unknown[], boolean][] = [
        [many(6, ID), true],
        [many(7, ID), false],
        [many(3, POSITION), true],
        [many(4, POSITION), false],
        [[...many(2, POSITION), ...many(2, TNS)], false],
        [[...many(6, ID), ...many(2, POSITION), TNS], true],
        [[...many(7, ID), POSITION], false],
        [[...many(2, ID), ...many(4, TNS)], false],
        [[...many(3, POSITION), 5], false],
        [[...many(3, POSITION), ID, ...many(5, 5)], true],
        [[...many(6, ID), 5], false],
        [many(6, { kind: 'zzz' }), true],
        [many(7, null), false],
        [many(6, { kind: 'id' }), true],
        [many(7, { kind: 'id' }), false],
      ];
      for (const [inputs, isAllowed] of cases) {
        const { status, body } = await app.post('/api/lookup', { inputs });
        assert.equal([status, body.param], isAllowed ? [200, undefined] : [400, 'inputs'], JSON.stringify(inputs));
        if (isAllowed) assert.is(body.count, inputs.length);
        const counted = await app.post('/api/lookup', { inputs, response: 'count' });
        assert.is(counted.status, status, 'the same for counts');
      }
    },
    { API_MAX_IDS: '6', API_MAX_POSITIONS: '3' },
  ));

test('limits on listing: an input first, then the request, in the order of the inputs [Lookup]', () =>
  withApp(
    async ({ writer }) => {
      for (const [group, size] of [5, 3, 2, 4].entries()) {
        await writer.ingest(
          Array.from({ length: size }, (_, i) => delivery(BigInt(10 * group + 10 + i), { position: at(group) })),
          NOW_US,
        );
      }
    },
    async app => {
      const position = (group: number) => ({ kind: 'position', ...at(group), radius_arcsec: 1 });
      const shape = async (inputs: unknown[], request = {}) => {
        const { results, truncated } = await app.lookup(inputs, request);
        const rows = results.map(({ objects, total, truncated, truncation, status }: Json) => [
          objects.map((object: Json) => object.diaObjectId),
          total,
          truncated,
          truncation,
          status,
        ]);
        return [truncated, ...rows];
      };
      const found = 'objects_found';
      assert.equal(await shape([position(0), position(1), position(2)]), [
        true,
        [[10, 11, 12, 13], 5, true, 'per_input_limit', found],
        [[20, 21, 22], 3, false, null, found],
        [[], 2, true, 'per_request_limit', found],
      ]);
      assert.equal(await shape([position(3)]), [false, [[40, 41, 42, 43], 4, false, null, found]], 'just as many');
      assert.equal(await shape([position(1), position(0), position(5)]), [
        false,
        [[20, 21, 22], 3, false, null, found],
        [[10, 11, 12, 13], 5, true, 'per_input_limit', found],
        [[], 0, false, null, 'no_rubin_object'],
      ]);
      assert.equal(await shape([position(2), position(1), position(0)]), [
        true,
        [[30, 31], 2, false, null, found],
        [[20, 21, 22], 3, false, null, found],
        [[10, 11], 5, true, 'per_request_limit', found],
      ]);
      const ids = Array.from({ length: 5 }, (_, i) => ({ kind: 'id', diaObjectId: i }));
      const withIds = await shape([position(0), ...ids, { kind: 'id', diaObjectId: 'bad' }]);
      assert.equal(withIds[1], [[10, 11], 5, true, 'per_request_limit', found], 'ids take of the budget, bad ones not');
      assert.is(withIds[2][0].length, 1, 'an id is never cut');
      const most = Array.from({ length: 9 }, (_, i) => ({ kind: 'id', diaObjectId: i }));
      const noBudget = await shape([...most, position(1), position(5)]);
      assert.is(noBudget[0], true);
      assert.equal(noBudget.slice(-2), [
        [[], 3, true, 'per_request_limit', found],
        [[], 0, false, null, 'no_rubin_object'],
      ]);
      const { results } = await app.lookup([position(0), position(2)], { filters: { reliability_min: 0 } });
      assert.is(results[0].qualifying_total, 5, 'marks are over all objects, listed or not');
    },
    { API_MAX_OBJECTS_PER_POSITION: '4', API_MAX_OBJECTS_PER_REQUEST: '7' },
  ));

function at(group: number) {
  return { ra: 150 + group, dec: 2 };
}

test('marks on every kind of result', async ({ running: { app } }) => {
  const inputs = [ID, { kind: 'id', diaObjectId: 5 }, POSITION, { kind: 'position', ...AWAY, radius_arcsec: 1 }];
  const names = [TNS, { kind: 'tns', name: '2026zzz' }, { kind: 'tns', name: '?' }];
  const body = await app.lookup([...inputs, ...names], { filters: { catalog: 'gaia_dr3' } });
  assert.is(Object.keys(body).at(-1), 'filters');
  assert.equal(body.filters, { catalog: 'gaia_dr3' });
  assert.equal(
    body.results.map((result: Json) => [result.qualifying_total, result.qualifies, result.qualifies_reason]),
    [
      [undefined, true, 'meets_filters'],
      [undefined, false, 'not_in_service'],
      [1, true, 'meets_filters'],
      [0, false, 'no_rubin_object'],
      [1, true, 'meets_filters'],
      [null, false, 'tns_name_not_found'],
      [undefined, false, 'invalid_input'],
    ],
  );
  const marks = ['qualifying_total', 'qualifies', 'qualifies_reason'];
  assert.equal(Object.keys(body.results[2]).slice(-3), marks);
  assert.equal(Object.keys(body.results[4]).slice(-3), marks);
  assert.equal(Object.keys(body.results[0]).slice(-2), marks.slice(1));
  assert.equal(Object.keys(body.results[2].objects[0]).slice(-3), ['separation_arcsec', ...marks.slice(1)]);
  assert.equal(body.results[1].objects, [
    {
      diaObjectId: 5,
      diaObjectId_str: '5',
      status: 'not_in_service',
      qualifies: false,
      qualifies_reason: 'not_in_service',
    },
  ]);
  const without = await app.lookup([...inputs, ...names]);
  for (const result of without.results) for (const mark of marks) assert.not.ok(mark in result);
});

test.run();
